"""The copy of a log that goes on, is cut, or loses its beginning meanwhile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from penstock.model.id import TopicPartition
from penstock.replication.log_dir_move import LogDirMove
from penstock.replication.partition import Partition
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.trim import delete_records_before, truncate_to
from penstock.testing.disk import FaultyDisk
from tests.unit.storage.storage_kit import FixedClock, Settings, batch

KEY = TopicPartition("t", 0)
TOPIC_ID = bytes(range(16))


class Bench:
    def __init__(self) -> None:
        settings, disk = Settings(segment_bytes=500), FaultyDisk()
        source, target = (
            LogDir(path, FixedClock(), lambda _: settings, disk=disk) for path in ("/a", "/b")
        )
        for each in (source, target):
            each.open()
        self.log = source.create_log(KEY, TOPIC_ID)
        self.append(10)
        partition = SimpleNamespace(topic="t", index=0, topic_id=TOPIC_ID, log=self.log)
        self.move = LogDirMove(cast(Partition, partition), source, target)

    def append(self, count: int, epoch: int = 0) -> None:
        for _ in range(count):
            self.log.append(batch(3), epoch, 5)
        self.log.advance_high_watermark(self.log.end_offset)

    def copy_all(self) -> Log:
        while self.move.lag:
            assert self.move.copy(100, 5) or not self.move.lag
        return self.move.future


def content(log: Log) -> bytes:
    return b"".join(log.disk.pread(each.file.open_fd(), each.size, 0) for each in log.segments)


def test_small_steps_bring_all_of_it() -> None:
    bench = Bench()
    assert bench.move.copy(100, 5) > 0 and bench.move.lag > 0
    assert content(bench.copy_all()) == content(bench.log)
    assert bench.move.copy(100, 5) == 0
    bench.append(2, epoch=3)
    future = bench.copy_all()
    assert content(future) == content(bench.log)
    assert future.epochs.entries() == bench.log.epochs.entries()


def test_a_log_that_was_cut_is_copied_anew() -> None:
    bench = Bench()
    before = bench.copy_all()
    truncate_to(bench.log, 15)
    # As long as it was, so that nothing but the cut can be seen.
    bench.append(5, epoch=2)
    assert bench.move.lag == 0
    assert bench.move.copy(100, 5) > 0
    assert bench.move.future is not before
    assert content(bench.copy_all()) == content(bench.log)


def test_a_start_that_passes_the_copy_begins_it_anew() -> None:
    bench = Bench()
    bench.move.copy(100, 5)
    # Within a batch, of which the copy has all then.
    delete_records_before(bench.log, 16)
    future = bench.copy_all()
    assert (future.bases[0], future.end_offset) == (15, 30)
    bench.append(1)
    assert bench.copy_all().end_offset == 33


def test_an_empty_log_is_level_at_once() -> None:
    bench = Bench()
    delete_records_before(bench.log, 30)
    bench.log.roll()
    move = LogDirMove(bench.move.partition, bench.move.source, bench.move.target)
    assert (move.lag, move.copy(100, 5)) == (0, 0)
