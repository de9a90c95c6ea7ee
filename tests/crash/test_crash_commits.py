"""Commits sent ahead, without waiting for answers, on a node that is killed while it writes."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import pytest

from tests.node.commit_kit import (
    SAFETIES,
    TOPIC,
    commit,
    commit_error,
    committed,
    create,
    fetch_error,
    wait_zero,
)
from tests.node.wire_kit import Wire
from tools.penstock_broker import Penstock

GROUPS = 12
AHEAD = 25
KILLS = 4
VERSION = 8


class Committer(threading.Thread):
    """Rising offsets for one group, many in flight; remembers the last one acknowledged."""

    def __init__(self, address: str, group: str, start: int) -> None:
        super().__init__(daemon=True)
        self.group = group
        self.acknowledged = start
        self._address = address
        self._next = start + 1

    def run(self) -> None:
        try:
            with Wire(self._address) as wire:
                while True:
                    burst = [self._next + number for number in range(AHEAD)]
                    wire.send_together([commit(offset, self.group) for offset in burst], VERSION)
                    for offset in burst:
                        answer = wire.receive()
                        if commit_error(answer) == 0:
                            self.acknowledged = offset
                    self._next += AHEAD
        except OSError:
            return  # killed, as planned


def place_of(wire: Wire, group: str) -> int:
    """Once its coordinator has loaded."""
    wait_zero(lambda: fetch_error(wire, group), timeout_s=20)
    return committed(wire, group)


@pytest.mark.parametrize("safety", SAFETIES)
def test_no_acknowledged_commit_is_lost(tmp_path: Path, safety: str) -> None:
    chance = random.Random(7)
    node = Penstock(tmp_path / "data", SAFETIES[safety])
    node.start()
    try:
        with Wire(node.bootstrap_servers) as wire:
            assert wire.call(create(TOPIC), 7).topics[0].error_code == 0
            for group in range(GROUPS):
                place_of(wire, f"group-{group}")
        places = dict.fromkeys((f"group-{number}" for number in range(GROUPS)), 0)
        for _ in range(KILLS):
            places = _life(node, places, chance)
        assert min(places.values()) > KILLS * AHEAD, "the groups were hardly loaded"
    finally:
        node.stop()


def _life(node: Penstock, places: dict[str, int], chance: random.Random) -> dict[str, int]:
    """From a start to the next one; where the groups are then."""
    committers = [Committer(node.bootstrap_servers, *place) for place in places.items()]
    for committer in committers:
        committer.start()
    time.sleep(chance.uniform(0.3, 0.9))
    node.kill()
    for committer in committers:
        committer.join(20)
        assert not committer.is_alive()
    node.start()
    with Wire(node.bootstrap_servers) as wire:
        found = {one.group: place_of(wire, one.group) for one in committers}
    lost = {
        one.group: (one.acknowledged, found[one.group])
        for one in committers
        if found[one.group] < one.acknowledged
    }
    assert not lost, f"acknowledged and found: {lost}"
    return found
