"""The cleaner around the rules: what it picks, remembers, abandons and survives."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

import pytest

from penstock.model.id import TopicPartition
from penstock.records.header import seal
from penstock.storage import names
from penstock.storage.checkpoint.file import read_offsets
from penstock.storage.compaction.cleaner import REST_MS, Cleaner
from penstock.storage.compaction.job import (
    CleanedGroup,
    CompactionDone,
    CompactionFailed,
    CompactionJob,
    CompactionStats,
    SourceSegment,
    decode_progress,
    encode_progress,
)
from penstock.storage.compaction.pace import Pace
from penstock.storage.compaction.pick import weigh
from penstock.storage.compaction.run import Compaction
from penstock.storage.trim import delete_first_segments, delete_log, truncate_to
from penstock.testing.disk import FaultyDisk
from tests.unit.storage.compaction_kit import TP, CleanBench, CompactSettings, read_batches


def dirty(bench: CleanBench, rounds: int = 3) -> CleanBench:
    for _ in range(rounds):
        bench.put((b"a", b"1"), (b"b", b"1"))
        bench.roll()
    return bench


def test_progress_is_remembered_across_a_restart(tmp_path: Path) -> None:
    bench = dirty(CleanBench(str(tmp_path)))
    bench.clean()
    path = f"{tmp_path}/{names.CLEANER_OFFSETS}"
    assert read_offsets(bench.disk, path) == {TP: 6}
    bench.reopen()
    later = Cleaner(bench.disk, str(tmp_path), lambda: [bench.log], bench.clock)
    later.load([TP])
    assert later.run_once(bench.clock.now_ms()) is None
    later.load([])
    assert later.run_once(bench.clock.now_ms()) is not None


def test_a_damaged_checkpoint_means_cleaning_anew(tmp_path: Path) -> None:
    bench = dirty(CleanBench(str(tmp_path)))
    (tmp_path / names.CLEANER_OFFSETS).write_text("rubbish")
    bench.cleaner.load()
    assert bench.clean().first_dirty == 0


def test_a_checkpoint_outside_of_the_log_counts_as_none(tmp_path: Path) -> None:
    bench = dirty(CleanBench(str(tmp_path)))
    bench.cleaner.offsets.move(TP, 1000)
    assert bench.cleaner.offsets.first_dirty(bench.log) == 0
    delete_first_segments(bench.log, 1)
    bench.cleaner.offsets.move(TP, 1)
    assert bench.cleaner.offsets.first_dirty(bench.log) == 2


def test_a_checkpoint_behind_the_end_counts_as_none_also_when_the_log_has_grown(
    tmp_path: Path,
) -> None:
    """It is of another log, or of another state of this one."""
    bench = dirty(CleanBench(str(tmp_path)))
    bench.cleaner.offsets.move(TP, bench.log.end_offset + 2)
    assert bench.cleaner.offsets.first_dirty(bench.log) == 0
    dirty(bench)
    assert bench.cleaner.offsets.first_dirty(bench.log) == 0


def test_a_cut_log_counts_as_dirty_from_its_start(tmp_path: Path) -> None:
    bench = dirty(CleanBench(str(tmp_path)))
    bench.clean()
    truncate_to(bench.log, 5)
    dirty(bench)
    assert bench.cleaner.offsets.first_dirty(bench.log) == 0


def test_a_log_that_was_cut_before_anybody_looked_is_dirty_from_its_start(tmp_path: Path) -> None:
    bench = dirty(CleanBench(str(tmp_path)))
    bench.clean()
    bench.reopen()
    truncate_to(bench.log, 2)
    dirty(bench)
    later = Cleaner(bench.disk, str(tmp_path), lambda: [bench.log], bench.clock)
    later.load([TP])
    assert later.offsets.first_dirty(bench.log) == 0


def test_a_log_of_the_same_name_is_another_log(tmp_path: Path) -> None:
    bench = dirty(CleanBench(str(tmp_path)))
    bench.clean()
    bench.reopen()
    assert bench.cleaner.offsets.first_dirty(bench.log) == 0
    bench.cleaner.forget(TP)
    assert bench.cleaner.offsets.snapshot() == {}


def test_the_dirtiest_log_comes_first(tmp_path: Path) -> None:
    benches = [CleanBench(f"{tmp_path}/{name}") for name in "abc"]
    for number, bench in enumerate(benches):
        bench.log.partition = TopicPartition("t", number)
        dirty(bench)
    cleaner = Cleaner(
        benches[0].disk,
        str(tmp_path),
        lambda: [bench.log for bench in benches],
        benches[0].clock,
    )
    now = benches[0].clock.now_ms()
    for _ in benches:
        assert cleaner.run_once(now) is not None
    for number, rounds in enumerate((2, 9, 4)):
        dirty(benches[number], rounds)
    order = []
    while (report := cleaner.run_once(now)) is not None:
        order.append(report.partition.partition)
    assert order == [1, 2, 0]


def test_logs_without_compaction_are_left_alone(tmp_path: Path) -> None:
    settings = CompactSettings(cleanup_policy=frozenset({"delete"}))
    assert dirty(CleanBench(str(tmp_path), settings)).clean() is None


@pytest.mark.parametrize("change", ["cut", "trim", "delete", "grow"])
def test_a_result_for_a_log_that_changed_is_dropped(tmp_path: Path, change: str) -> None:
    bench = dirty(CleanBench(str(tmp_path), CompactSettings(segment_bytes=200)), 6)
    before = bench.rows()
    candidate = weigh(bench.log, 0, bench.clock.now_ms())
    round_ = bench.cleaner._begin([candidate], bench.clock.now_ms())
    assert round_ is not None
    groups = list(Compaction(round_.job, bench.disk).run())
    assert isinstance(groups[0], CleanedGroup)
    if change == "cut":
        truncate_to(bench.log, 1)
    elif change == "trim":
        delete_first_segments(bench.log, 1)
    elif change == "delete":
        delete_log(bench.log, bytes(16))
    else:
        bench.put((b"c", b"1"))
    assert bench.cleaner._swap(round_, groups[0]) is (change == "grow")
    assert round_.is_stale() is (change != "grow")
    if change == "trim":
        assert bench.rows() == before[2:]


def test_readers_of_the_old_segments_go_on(tmp_path: Path) -> None:
    bench = dirty(CleanBench(str(tmp_path)))
    result = bench.log.read(0, 10_000, 6)
    expected = result.slices[0].read()
    bench.clean()
    bench.trash.empty(bench.clock.now_ms(), 100)
    assert result.slices[0].read() == expected
    result.slices[0].release()
    left = sorted(path.name for path in Path(bench.directory).iterdir())
    assert not [name for name in left if name.endswith((".deleted", ".swap", ".cleaned"))]


def test_old_files_wait_for_the_delay(tmp_path: Path) -> None:
    bench = dirty(CleanBench(str(tmp_path), CompactSettings(file_delete_delay_ms=1000)))
    bench.clean()
    assert bench.trash.empty(bench.clock.now_ms(), 100) == 0
    assert bench.trash.empty(bench.clock.now_ms() + 1000, 100) == 9


def test_a_batch_that_cannot_be_read_is_kept_whole_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = CleanBench(str(tmp_path))
    bench.put((b"a", b"1"))
    bench.log.update_config(CompactSettings(cleanup_policy=frozenset({"delete"})))
    bench.put((b"a", b"2"), (b"b", b"2"))
    bench.log.update_config(CompactSettings())
    bench.put((b"a", b"3"))
    dirty(bench, 2)
    found = bench.log.segments[0].find(1)
    assert found is not None
    fd = bench.log.segments[0].file.open_fd()
    data = bytearray(bench.disk.pread(fd, found.size, found.position))
    data[61] = 0x7E  # the first record claims to be longer than the batch
    seal(data, 0, len(data))
    bench.disk.pwrite(fd, data, found.position)
    with caplog.at_level(logging.WARNING):
        report = bench.clean()
        bench.put((b"z", b"1"))
        bench.roll()
        bench.clean()
    assert report.stats.malformed_batches == 1
    assert report.stats.malformed_offset == 1
    assert bytes(data) in [batch for _, batch in read_batches(bench.log)]
    told = [record for record in caplog.records if "kept as they are" in record.getMessage()]
    assert len(told) == 1


def test_a_batch_with_a_wrong_checksum_is_kept_whole(tmp_path: Path) -> None:
    bench = CleanBench(str(tmp_path))
    bench.put((b"a", b"1" * 50))
    bench.put((b"a", b"2" * 50))
    dirty(bench, 1)
    segment = bench.log.segments[0]
    bench.disk.pwrite(segment.file.open_fd(), b"\xff", 100)
    before = bench.disk.pread(segment.file.open_fd(), 120, 0)
    assert bench.clean().stats.malformed_batches == 1
    assert bench.disk.pread(bench.log.segments[0].file.open_fd(), 120, 0) == before


def test_a_segment_without_batches_makes_its_log_uncleanable(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = dirty(CleanBench(str(tmp_path)))
    bench.disk.pwrite(bench.log.segments[1].file.open_fd(), b"\x00" * 17, 0)
    assert bench.clean() is None
    assert bench.cleaner.uncleanable == {TP: bench.log}
    assert bench.cleaner.stats.uncleanable_count == 1
    assert "not compacted any more" in caplog.text
    dirty(bench)
    assert bench.clean() is None
    assert not list(Path(bench.directory).glob("*.cleaned"))


def test_a_full_disk_puts_it_off(caplog: pytest.LogCaptureFixture) -> None:
    disk = FaultyDisk(1)
    bench = CleanBench("/data", disk=disk)
    for number in range(30):
        bench.put((b"k%d" % (number % 20), b"v" * 100))
    bench.roll()
    before = bench.rows()
    disk.free_bytes = 500
    assert bench.clean() is None
    assert bench.rows() == before
    assert not bench.cleaner.uncleanable
    assert "put off" in caplog.text
    disk.free_bytes = None
    assert bench.clean() is None
    bench.clock.ms += REST_MS
    assert bench.clean() is not None
    assert len(bench.rows()) == 20


def test_a_failing_read_is_told_and_harms_nothing() -> None:
    disk = FaultyDisk(1)
    bench = dirty(CleanBench("/data", disk=disk))
    before = bench.rows()
    disk.read_errno = errno.EIO
    assert bench.clean() is None
    disk.read_errno = 0
    assert bench.rows() == before


def test_a_pace_holds_the_rate() -> None:
    now, waits = 0.0, []

    def sleep(seconds: float) -> None:
        nonlocal now
        waits.append(seconds)
        now += seconds

    pace = Pace(1000, lambda: now, sleep)
    for _ in range(20):
        pace.spend(500)
    assert 9.5 <= now <= 10.5
    unlimited = Pace(float("inf"), lambda: now, sleep)
    count = len(waits)
    unlimited.spend(1 << 40)
    assert len(waits) == count


def test_jobs_and_progress_travel_as_text() -> None:
    job = CompactionJob(
        directory="/d",
        segments=[SourceSegment(0, 10), SourceSegment(7, 20)],
        first_dirty=3,
        bound=9,
        now_ms=1,
        delete_retention_ms=2,
        segment_bytes=3,
        segment_index_bytes=4,
        index_interval_bytes=5,
        key_map_bytes=6,
        io_bytes_per_second=float("inf"),
        producers={2**62: (5, 1)},
        aborted=[(1, 2, 3, 4)],
    )
    assert CompactionJob.decode(job.encode()) == job
    for progress in (
        CleanedGroup([0, 7], 30),
        CompactionDone(9, CompactionStats(keys=3)),
        CompactionFailed("why", 5),
    ):
        assert decode_progress(encode_progress(progress)) == progress
