"""Keyed pipelines that add up numbers: what they wrote, and how they are killed meanwhile.

A total is written as the sum and the process that wrote it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Collection

from penstock.testing.broker import Broker

COMMITTED = {"isolation.level": "read_committed"}
PATIENCE_S = 120.0
KEYS = 5


def totals(broker: Broker, count: int) -> dict[bytes, list[int]]:
    """The totals of each key in their order; all of one key are in one partition."""
    broker.read("totals", count=count, timeout_s=PATIENCE_S, settings=COMMITTED)
    found: dict[bytes, list[int]] = {}
    for each in broker.read("totals", timeout_s=PATIENCE_S, settings=COMMITTED):
        found.setdefault(each.key or b"", []).append(int((each.value or b"").split()[0]))
    return found


def write_and_kill(
    broker: Broker, rounds: int, *, workers_at: Collection[int], broker_at: int
) -> dict[bytes, list[int]]:
    """A one for each key in each round, and the totals to expect of that; in some rounds the
    worker that has written last is killed, in one the broker."""
    for number in range(rounds):
        broker.produce("numbers", [(f"k{key}", "1") for key in range(KEYS)])
        if number in workers_at:
            _kill_worker(broker)
        if number == broker_at:
            broker.kill()
            broker.start()
    return {b"k%d" % key: list(range(1, rounds + 1)) for key in range(KEYS)}


def workers_of(broker: Broker) -> set[bytes]:
    """The processes that have written totals."""
    written = broker.read("totals", settings=COMMITTED)
    return {(each.value or b"").split()[1] for each in written}


def _kill_worker(broker: Broker) -> None:
    broker.read("totals", count=KEYS, timeout_s=PATIENCE_S, settings=COMMITTED)
    last = max(broker.read("totals", settings=COMMITTED), key=lambda each: each.timestamp_ms or 0)
    try:
        os.kill(int((last.value or b"").split()[1]), signal.SIGKILL)
    except ProcessLookupError:
        pass
