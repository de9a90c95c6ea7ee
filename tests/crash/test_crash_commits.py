"""Commits sent ahead, without waiting for answers, on a node that is killed while it writes."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import pytest

from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.node.wire_kit import Wire
from tools.penstock_broker import Penstock

TOPIC = "t"
GROUPS = 12
AHEAD = 25
KILLS = 4
VERSION, FETCH_VERSION = 8, 8
SAFETIES = {"synced": {}, "written": {"log.flush.interval.messages": "9223372036854775807"}}


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
                    wire.send_together([self._request(offset) for offset in burst], VERSION)
                    for offset in burst:
                        answer = wire.receive()
                        if answer.topics[0].partitions[0].error_code == 0:
                            self.acknowledged = offset
                    self._next += AHEAD
        except OSError:
            return  # killed, as planned

    def _request(self, offset: int) -> OffsetCommitRequest:
        place = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        return OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=-1,
            topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[place])],
        )


def committed(wire: Wire, group: str) -> int:
    asked = OffsetFetchRequestGroup(
        group_id=group, topics=[OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[0])]
    )
    deadline = time.monotonic() + 20
    while True:
        (found,) = wire.call(OffsetFetchRequest(groups=[asked]), FETCH_VERSION).groups
        if found.error_code == 0:
            offset: int = found.topics[0].partitions[0].committed_offset
            return offset
        assert time.monotonic() < deadline, f"{group} has no coordinator"
        time.sleep(0.02)


@pytest.mark.parametrize("safety", SAFETIES)
def test_no_acknowledged_commit_is_lost(tmp_path: Path, safety: str) -> None:
    chance = random.Random(7)
    node = Penstock(tmp_path / "data", SAFETIES[safety])
    node.start()
    try:
        with Wire(node.bootstrap_servers) as wire:
            made = CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)
            assert wire.call(CreateTopicsRequest(topics=[made]), 7).topics[0].error_code == 0
            for group in range(GROUPS):
                committed(wire, f"group-{group}")
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
        found = {one.group: committed(wire, one.group) for one in committers}
    lost = {
        one.group: (one.acknowledged, found[one.group])
        for one in committers
        if found[one.group] < one.acknowledged
    }
    assert not lost, f"acknowledged and found: {lost}"
    return found
