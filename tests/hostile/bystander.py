"""A well-behaved client beside a hostile one: what it has to wait for its answers.

A process of its own, so that nothing the test does holds it up: it asks for metadata, writes small
and large records, reads them back, and now and then connects anew, until its input ends. Then it
prints its longest wait of each kind.

A busy machine makes everybody wait. So each wait is also given in the broker's processor time that
passed meanwhile: a wait in which the broker itself did little was not the broker's doing.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    fetch,
    fetched,
    part,
    produce,
    produced,
    recent,
)

TOPIC = "bystander"
PAUSE_S = 0.01
PATIENCE_S = 60.0
LARGE_BYTES = 300_000
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Wait:
    """The longest of one kind of request."""

    seconds: float = 0.0
    broker_seconds: float = 0.0

    @property
    def blamed_seconds(self) -> float:
        """What the broker has to answer for."""
        return min(self.seconds, self.broker_seconds)


@dataclass(slots=True)
class Waits:
    asked: int = 0
    longest: dict[str, Wait] = field(default_factory=dict)
    failure: str | None = None

    def note(self, kind: str, seconds: float, broker_seconds: float) -> None:
        self.asked += 1
        wait = self.longest.setdefault(kind, Wait())
        if min(seconds, broker_seconds) > wait.blamed_seconds or seconds > wait.seconds:
            wait.seconds = max(wait.seconds, seconds)
            wait.broker_seconds = max(wait.broker_seconds, broker_seconds)

    @property
    def worst(self) -> Wait:
        return max(self.longest.values(), key=lambda each: each.blamed_seconds, default=Wait())

    @property
    def seconds(self) -> float:
        return max((each.seconds for each in self.longest.values()), default=0.0)


class Bystander:
    """The test's side of it."""

    def __init__(self, address: str, pid: int, *, connects: bool = True) -> None:
        command = [sys.executable, "-m", "tests.hostile.bystander", address, str(pid)]
        self._process = subprocess.Popen(
            command + ["--stay"] * (not connects),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n", "the bystander was never served"

    def end(self) -> Waits:
        printed, _ = self._process.communicate(timeout=2 * PATIENCE_S)
        found = json.loads(printed)
        longest = {kind: Wait(*wait) for kind, wait in found["longest"].items()}
        return Waits(found["asked"], longest, found["failure"])

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


class _Client:
    def __init__(self, address: str, pid: int, connects: bool) -> None:
        self.waits = Waits()
        self._address = address
        self._stat = Path(f"/proc/{pid}/stat")
        self._connects = connects
        self._wire = Wire(address, PATIENCE_S)
        self._round = 0

    def go_round(self) -> None:
        self._timed("metadata", self._metadata)
        size = LARGE_BYTES if self._round % 5 == 4 else 100
        self._timed("produce", lambda: self._write_and_read(size))
        if self._connects and self._round % 10 == 9:
            self._timed("connect", self._connect)
        self._round += 1

    def _timed(self, kind: str, ask: Callable[[], None]) -> None:
        busy, began = self._broker_seconds(), time.monotonic()
        ask()
        waited = time.monotonic() - began
        self.waits.note(kind, waited, self._broker_seconds() - busy)

    def _broker_seconds(self) -> float:
        fields = self._stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def _metadata(self) -> None:
        asked = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
        assert self._wire.call(asked, 9).topics[0].error_code == 0

    def _write_and_read(self, size: int) -> None:
        request = produce(TOPIC, recent(os.urandom(size)), acks=1)
        written = produced(self._wire.call(request, PRODUCE_VERSION))
        assert written.error_code == 0, f"produce was answered {written.error_code}"
        asked: Any = fetch({TOPIC: [part(offset=written.base_offset)]}, max_wait_ms=30_000)
        found = fetched(self._wire.call(asked, FETCH_VERSION))[TOPIC, 0]
        assert found.error_code == 0 and len(found.records) > size

    def _connect(self) -> None:
        with Wire(self._address, PATIENCE_S) as wire:
            assert wire.call(ApiVersionsRequest(), 0).error_code == 0


def main(address: str, pid: str, *options: str) -> None:
    client = _Client(address, int(pid), "--stay" not in options)
    for _ in range(10):
        client.go_round()
    client.waits = Waits()
    print("ready", flush=True)
    try:
        is_over = False
        while not is_over:
            # Once more at the end: what was done may be at work still.
            is_over = bool(select.select([sys.stdin], [], [], PAUSE_S)[0])
            client.go_round()
    except (OSError, AssertionError) as error:
        client.waits.failure = f"{type(error).__name__}: {error}"
    waits = client.waits
    longest = {kind: (one.seconds, one.broker_seconds) for kind, one in waits.longest.items()}
    print(json.dumps({"asked": waits.asked, "longest": longest, "failure": waits.failure}))


if __name__ == "__main__":
    main(*sys.argv[1:])
