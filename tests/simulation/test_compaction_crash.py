"""Power fails at every single step of a compaction, and again while the log is opened."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.storage.disk import Buffer
from penstock.storage.lookup import aborted_txns
from penstock.testing.disk import FaultyDisk
from tests.simulation.test_disk_faults import check_indexes
from tests.unit.storage.compaction_kit import CleanBench, CompactSettings, Row


class PowerLoss(BaseException):
    """Nothing in the code under test may catch this."""


class FailingDisk(FaultyDisk):
    """Stops for good after a number of steps that change something."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.steps_left: int | None = None

    def _step(self) -> None:
        if self.steps_left is not None:
            if not self.steps_left:
                raise PowerLoss
            self.steps_left -= 1

    def open(self, path: str, flags: int, mode: int = 0o644, /) -> int:
        if not self.exists(path):
            self._step()
        return super().open(path, flags, mode)

    def pwrite(self, fd: int, data: Buffer, offset: int, /) -> int:
        self._step()
        return super().pwrite(fd, data, offset)

    def ftruncate(self, fd: int, length: int, /) -> None:
        self._step()
        super().ftruncate(fd, length)

    def fdatasync(self, fd: int, /) -> None:
        self._step()
        super().fdatasync(fd)

    def fsync_dir(self, path: str, /) -> None:
        self._step()
        super().fsync_dir(path)

    def rename(self, source: str, target: str, /) -> None:
        self._step()
        super().rename(source, target)

    def unlink(self, path: str, /) -> None:
        self._step()
        super().unlink(path)


def written(disk: FailingDisk, segment_bytes: int) -> CleanBench:
    """A log of several segments, with tombstones and an aborted transaction, all of it synced."""
    bench = CleanBench("/data", CompactSettings(segment_bytes=segment_bytes), disk)
    txn = {"producer_id": 5, "producer_epoch": 0, "is_transactional": True}
    for number in range(6):
        bench.put((b"a", b"%d" % number), (b"k%d" % number, b"v" * 100), (b"t", None))
        bench.put((b"x", b"open"), (b"y%d" % number, b"open"), base_sequence=number, **txn)
        bench.end_txn(5, commit=number % 2 == 0)
        bench.put((b"b", b"%d" % number))
        bench.roll()
    bench.put((b"z", b"active"))
    bench.log.flush()
    disk.sync_all()
    return bench


def attempt(disk: FailingDisk, steps: int | None, action: Callable[[], object]) -> bool:
    """Whether it came to its end before the power failed."""
    disk.steps_left = steps
    try:
        action()
    except PowerLoss:
        return False
    finally:
        disk.steps_left = None
    return True


def state(bench: CleanBench) -> tuple[list[Row], list[tuple[int, ...]]]:
    check_indexes(bench.log)
    log = bench.log
    return bench.rows(), [tuple(txn) for txn in aborted_txns(log, 0, log.end_offset)]


def restarted(bench: CleanBench, disk: FailingDisk) -> CleanBench:
    """A new process on the same disk."""
    again = CleanBench.__new__(CleanBench)
    again.__dict__.update(bench.__dict__)
    again.cache = type(bench.cache)(disk, 64)
    again.trash = type(bench.trash)(disk)
    return again


def reopen(bench: CleanBench, recovery_point: int) -> None:
    bench.log = bench.open(clean=False, recovery_point=recovery_point)


def steps_of_a_compaction() -> int:
    disk = FailingDisk(0)
    bench = written(disk, 1 << 20)
    disk.steps_left = 1_000_000
    bench.clean()
    return 1_000_000 - disk.steps_left


STEPS = steps_of_a_compaction()


def test_there_is_something_to_interrupt() -> None:
    assert STEPS > 60


@pytest.mark.parametrize("step", range(STEPS))
@pytest.mark.parametrize("loses_unsynced", [True, False], ids=["power", "kill"])
def test_after_a_crash_at_any_step_the_log_is_the_old_or_the_new_one(
    step: int, loses_unsynced: bool
) -> None:
    disk = FailingDisk(step)
    bench = written(disk, 1 << 20)
    old, end = state(bench), bench.log.end_offset
    other = written(FailingDisk(0), 1 << 20)
    other.clean()
    new = state(other)
    assert old != new
    assert not attempt(disk, step, bench.clean)
    disk.crash() if loses_unsynced else disk.kill()
    again = restarted(bench, disk)
    reopen(again, end)
    assert again.log.end_offset == end
    assert state(again) in (old, new)
    left = {name.rpartition(".")[2] for name in disk.listdir(again.directory)}
    assert not left & {"cleaned", "swap", "deleted"}
    again.log.advance_high_watermark(end)
    again.cleaner._logs = lambda: [again.log]
    again.clean()
    assert again.rows() == new[0]


def test_a_second_crash_at_any_step_of_finishing_the_swap() -> None:
    other = written(FailingDisk(0), 1 << 20)
    other.clean()
    old, new = state(written(FailingDisk(0), 1 << 20)), state(other)
    interrupted = 0
    for step in range(STEPS // 2, STEPS):
        for later in range(100):
            disk = FailingDisk(step)
            bench = written(disk, 1 << 20)
            end = bench.log.end_offset
            attempt(disk, step, bench.clean)
            disk.kill()
            names = [name for name in disk.listdir(bench.directory) if name.endswith(".swap")]
            if not any(name.endswith(".log.swap") for name in names):
                break
            bench = restarted(bench, disk)
            is_done = attempt(disk, later, partial(reopen, bench, end))
            disk.kill()
            bench = restarted(bench, disk)
            reopen(bench, end)
            assert state(bench) in (old, new)
            interrupted += 1
            if is_done:
                break
    assert interrupted > 20


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, STEPS * 2),
    st.lists(st.integers(0, 40), max_size=3),
    st.sampled_from([700, 1500, 1 << 20]),
    st.booleans(),
)
def test_crashes_while_opening_change_nothing_about_that(
    seed: int, step: int, more: list[int], segment_bytes: int, loses_unsynced: bool
) -> None:
    """Several groups: a beginning of the log may be new, and the rest of it old."""
    disk = FailingDisk(seed)
    bench = written(disk, segment_bytes)
    (old, _), end = state(bench), bench.log.end_offset
    other = written(FailingDisk(0), segment_bytes)
    other.clean()
    new = other.rows()
    attempt(disk, step, bench.clean)
    for later in [*more, None]:
        disk.crash() if loses_unsynced else disk.kill()
        bench = restarted(bench, disk)
        attempt(disk, later, partial(reopen, bench, end))
    rows, aborted = state(bench)
    assert bench.log.end_offset == end
    assert set(new) <= set(rows) <= set(old)
    assert rows in [
        [row for row in new if row[0] < at] + [row for row in old if row[0] >= at]
        for at in range(end + 1)
    ]
    for offset, key, _ in rows:
        if key == b"x" or (key or b"").startswith(b"y"):
            is_named = any(first <= offset <= last for _, first, last, _ in aborted)
            assert is_named == ((offset // 7) % 2 == 1)
