"""Transactions on a disk that is full now and then, down to a few bytes or a single file: nothing
that was refused leaves a trace, in the log of the leader or in a follower's, and restarts agree."""

from __future__ import annotations

import errno
import os
from random import Random

from penstock.model.error import ApiError
from penstock.records.control import build_end_marker
from penstock.records.header import iter_batches
from penstock.storage.append_check import Origin
from penstock.storage.log import Log
from penstock.storage.lookup import aborted_txns, last_stable_offset
from penstock.testing.disk import FaultyDisk
from tests.unit.storage.storage_kit import Bench, Settings, batch

NOW = 1_000_000
STEPS = 120
ROOMS = (0, 5, 20, 40, 60, 100, 200, 500)
Written = tuple[int, int]
"""First and last offset of a batch."""


class CrampedDisk(FaultyDisk):
    """Has no room for some new files."""

    refused_share = 0.0

    def open(self, path: str, flags: int, mode: int = 0o644, /) -> int:
        is_new = flags & os.O_CREAT and self.refused_share and not self.exists(path)
        if is_new and self.random.random() < self.refused_share:
            raise OSError(errno.ENOSPC, "full", path)
        return super().open(path, flags, mode)

    def fill(self, random: Random) -> None:
        self.free_bytes = random.choice(ROOMS)
        self.refused_share = random.choice((0.0, 0.5, 1.0))

    def make_room(self) -> None:
        self.free_bytes, self.refused_share = None, 0.0


class Replica:
    def __init__(self, seed: int, segment_bytes: int) -> None:
        self.disk = CrampedDisk(seed)
        self.disk.mkdir("/data")
        settings = Settings(segment_bytes=segment_bytes, index_interval_bytes=100)
        self.bench = Bench("/data", settings, self.disk)
        self.log = self.bench.open()

    def restart(self, *, clean: bool) -> None:
        self.disk.make_room()
        before = self.log
        if clean:
            before.close()
        else:
            self.disk.kill()
        self.bench = Bench("/data", self.bench.settings, self.disk)
        self.log = self.bench.open(clean=clean, recovery_point=before.recovery_point)
        self.log.advance_high_watermark(before.high_watermark)

    def batches(self) -> list[Written]:
        found: list[Written] = []
        offset = 0
        while offset < self.log.end_offset:
            data = read(self.log, offset)
            for _, header in iter_batches(data, 0, len(data)):
                found.append((header.base_offset, header.last_offset))
                offset = header.next_offset
        return found

    def aborted(self) -> list[tuple[int, int, int]]:
        return sorted(txn[:3] for txn in aborted_txns(self.log, 0, self.log.end_offset))


def read(log: Log, offset: int) -> bytearray:
    parts = log.read(offset, 10_000, log.end_offset).slices
    return bytearray(b"".join(part.read() for part in parts))


class Story:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.leader, self.follower = Replica(seed, 700), Replica(seed + 1, 500)
        self.written: list[Written] = []
        self.sequences: dict[int, int] = {}
        self.begun: dict[int, int] = {}
        self.aborted: list[tuple[int, int, int]] = []

    def step(self) -> None:
        for replica in (self.leader, self.follower):
            if self.random.random() < 0.25:
                replica.disk.fill(self.random)
            else:
                replica.disk.make_room()
        act = self.random.choices(
            (self.put, self.put_in_txn, self.end, self.roll, self.copy, self.restart, self.sync),
            (10, 40, 20, 5, 10, 7, 8),
        )
        try:
            act[0]()
        except ApiError:
            assert not self.leader.log.closed and not self.follower.log.closed
        self.leader.log.advance_high_watermark(self.leader.log.end_offset)
        self.check()

    def put(self) -> None:
        data = batch(self.random.choice((1, 3)), size=self.random.choice((5, 150)))
        self.note(self.leader.log.append(data, 0, NOW)[:2])

    def put_in_txn(self) -> None:
        producer_id, count = self.random.choice((1, 2, 3)), self.random.choice((1, 3))
        data = batch(
            count,
            size=self.random.choice((5, 30, 150)),
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=self.sequences.get(producer_id, 0),
            is_transactional=True,
        )
        result = self.leader.log.append(data, 0, NOW)
        self.note(result[:2])
        self.sequences[producer_id] = self.sequences.get(producer_id, 0) + count
        self.begun.setdefault(producer_id, result.first_offset)

    def end(self) -> None:
        if not self.begun:
            return
        producer_id = self.random.choice(list(self.begun))
        commit = self.random.random() < 0.4
        marker = build_end_marker(
            producer_id=producer_id,
            producer_epoch=0,
            commit=commit,
            coordinator_epoch=0,
            timestamp=NOW,
        )
        result = self.leader.log.append(marker, 0, NOW, Origin.COORDINATOR)
        self.note(result[:2])
        first = self.begun.pop(producer_id)
        if not commit:
            self.aborted.append((producer_id, first, result.first_offset))

    def note(self, written: Written) -> None:
        self.written.append(written)

    def roll(self) -> None:
        self.leader.log.roll()

    def copy(self) -> None:
        log = self.follower.log
        if log.end_offset < self.leader.log.end_offset:
            log.append_replica(read(self.leader.log, log.end_offset), NOW)
            log.advance_high_watermark(log.end_offset)

    def restart(self) -> None:
        replica = self.random.choice((self.leader, self.follower))
        replica.restart(clean=self.random.random() < 0.5)

    def sync(self) -> None:
        self.leader.disk.make_room()
        self.leader.log.flush()

    def check(self) -> None:
        assert self.leader.batches() == self.written
        assert self.leader.aborted() == sorted(self.aborted)
        stable = min(self.begun.values(), default=self.leader.log.end_offset)
        assert last_stable_offset(self.leader.log) == stable
        end = self.follower.log.end_offset
        assert self.follower.batches() == [one for one in self.written if one[1] < end]
        assert self.follower.aborted() == sorted(one for one in self.aborted if one[2] < end)


def test_what_was_refused_leaves_no_trace(seed: int) -> None:
    story = Story(seed)
    for _ in range(STEPS):
        story.step()
