from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.records.builder import build_batch, retain
from penstock.records.compression import GZIP, LZ4
from penstock.records.control import build_end_marker
from penstock.records.header import check_batch, iter_batches, parse_header
from penstock.records.record import Record, iter_records
from penstock.storage.append_check import Origin
from penstock.storage.disk import RealDisk
from penstock.storage.log import Log
from penstock.storage.lookup import (
    aborted_txns,
    end_offset_for_epoch,
    last_stable_offset,
    max_timestamp_offset,
    offset_for_timestamp,
)
from penstock.storage.retention import apply_retention
from penstock.storage.trim import delete_records_before, truncate_fully, truncate_to
from penstock.testing.disk import FaultyDisk
from tests.unit.storage.storage_kit import Bench, Settings, batch

NOW = 1_000_000


@pytest.fixture
def bench(tmp_path: Path):
    bench = Bench(str(tmp_path))
    yield bench
    bench.close()


def tiny(bench: Bench, **changes: object) -> Log:
    bench.settings = Settings(segment_bytes=500, index_interval_bytes=100).but(**changes)
    return bench.open()


def put(log: Log, count: int = 1, **fields: object) -> int:
    return log.append(batch(count, **fields), 0, NOW).first_offset


def offsets(log: Log, start: int, bound: int | None = None, max_bytes: int = 10_000) -> list[int]:
    result = log.read(start, max_bytes, log.end_offset if bound is None else bound)
    data = b"".join(part.read() for part in result.slices)
    assert len(data) == result.size_bytes
    return [header.base_offset for _, header in iter_batches(data, 0, len(data))]


def refused(log: Log, data: bytearray, origin: Origin = Origin.CLIENT) -> ErrorCode:
    before = log.end_offset, log.size_bytes
    with pytest.raises(ApiError) as raised:
        log.append(data, 0, NOW, origin)
    assert (log.end_offset, log.size_bytes) == before
    return raised.value.code


def test_offsets_and_epoch_are_assigned_in_place(bench: Bench) -> None:
    log = bench.open()
    assert put(log, 3) == 0
    data = batch(2)
    result = log.append(data, 7, NOW)
    assert (result.first_offset, result.last_offset, result.append_time_ms) == (3, 4, -1)
    header = check_batch(data, 0, len(data))
    assert (header.base_offset, header.partition_leader_epoch) == (3, 7)
    assert end_offset_for_epoch(log, 0) == (0, 3)
    assert end_offset_for_epoch(log, 7) == (7, 5)


def test_reads_respect_bounds(bench: Bench) -> None:
    log = tiny(bench)
    for _ in range(20):
        put(log, 2)
    assert len(log.segments) > 3
    for start in range(40):
        assert offsets(log, start)[0] == start // 2 * 2
        for bound in range(0, 41, 2):
            found = offsets(log, start, bound)
            assert all(at + 2 <= bound for at in found)
            assert bool(found) == (start < bound)
    assert offsets(log, 40) == []
    with pytest.raises(ApiError) as raised:
        log.read(41, 100, 40)
    assert raised.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_first_batch_comes_whole_or_not_at_all(bench: Bench) -> None:
    log = bench.open()
    put(log, size=1000)
    put(log, size=1000)
    assert offsets(log, 0, max_bytes=10) == [0]
    assert log.read(0, 10, 2, min_one=False).slices == ()


def test_segments_roll_by_time_of_records(bench: Bench) -> None:
    bench.settings = Settings(segment_ms=1000)
    log = bench.open()
    for timestamp in (1000, 1500, 2000, 2001, 2500, 3002):
        put(log, timestamp=timestamp)
    assert log.bases == [0, 3, 5]


def test_segments_roll_when_the_index_is_full(bench: Bench) -> None:
    log = tiny(bench, segment_bytes=1 << 20, segment_index_bytes=60)
    for _ in range(20):
        put(log, size=100)
    assert len(log.segments) > 2


@pytest.mark.parametrize("clean", [True, False])
def test_everything_is_there_after_reopening(bench: Bench, clean: bool) -> None:
    log = tiny(bench)
    for number in range(30):
        put(
            log,
            2,
            timestamp=1000 + number * 10,
            producer_id=5,
            producer_epoch=1,
            base_sequence=number * 2,
        )
    if clean:
        log.close()
    else:
        log.release_files()
        Path(log.segments[0].index.path).unlink()
    log = bench.open(clean=clean)
    assert log.end_offset == 60
    assert offset_for_timestamp(log, 1101) == (21, 1101, 0)
    assert max_timestamp_offset(log) == (59, 1291, 0)
    duplicate = log.append(batch(2, producer_id=5, producer_epoch=1, base_sequence=58), 0, NOW)
    assert (duplicate.duplicate, duplicate.first_offset, log.end_offset) == (True, 58, 60)
    put(log, 1, producer_id=5, producer_epoch=1, base_sequence=60)
    log.close()


def test_what_clients_may_not_send(bench: Bench) -> None:
    bench.settings = Settings(max_message_bytes=500)
    log = bench.open()
    damaged = batch()
    damaged[-1] ^= 1
    assert refused(log, damaged) is ErrorCode.CORRUPT_MESSAGE
    assert refused(log, batch() + batch()) is ErrorCode.INVALID_RECORD
    assert refused(log, batch(size=600)) is ErrorCode.MESSAGE_TOO_LARGE
    assert refused(log, bytearray()) is ErrorCode.CORRUPT_MESSAGE
    assert refused(log, batch(timestamp=NOW + 3_600_001)) is ErrorCode.INVALID_TIMESTAMP
    marker = build_end_marker(
        producer_id=1, producer_epoch=0, commit=True, coordinator_epoch=0, timestamp=1
    )
    assert refused(log, marker) is ErrorCode.INVALID_RECORD
    log.update_config(Settings(message_timestamp_before_max_ms=1000))
    assert refused(log, batch(timestamp=NOW - 1001)) is ErrorCode.INVALID_TIMESTAMP
    log.update_config(Settings(message_timestamp_type="LogAppendTime"))
    assert refused(log, batch(timestamp_type=1)) is ErrorCode.INVALID_TIMESTAMP
    log.update_config(Settings(segment_bytes=100))
    assert refused(log, batch(size=200)) is ErrorCode.RECORD_LIST_TOO_LARGE


def test_compacted_topics_need_keys(bench: Bench) -> None:
    bench.settings = Settings(cleanup_policy=frozenset({"compact"}))
    log = bench.open()
    assert refused(log, build_batch([Record(0, 1, None, b"x")])) is ErrorCode.INVALID_RECORD
    put(log)


def test_append_time_is_stamped(bench: Bench) -> None:
    bench.settings = Settings(message_timestamp_type="LogAppendTime")
    log = bench.open()
    result = log.append(batch(2, timestamp=5), 0, NOW)
    assert result.append_time_ms == NOW
    data = log.read(0, 1000, 2).slices[0].read()
    check_batch(data, 0, len(data))
    assert [record.timestamp for record in iter_records(data)] == [NOW, NOW]


@pytest.mark.parametrize(("name", "codec"), [("gzip", GZIP), ("lz4", LZ4), ("uncompressed", 0)])
def test_the_topics_codec_wins(bench: Bench, name: str, codec: int) -> None:
    bench.settings = Settings(compression_type=name)
    log = bench.open()
    put(log, 3, size=200)
    put(log, 3, size=200, codec=GZIP)
    data = log.read(0, 100_000, 6).slices[0].read()
    for position, header in iter_batches(data, 0, len(data)):
        check_batch(data, position, len(data))
        assert header.codec == codec
        records = list(iter_records(data[position : position + header.size]))
        assert [record.offset for record in records] == [header.base_offset + at for at in range(3)]


def test_transactions(bench: Bench) -> None:
    log = bench.open()
    fields = {"producer_id": 1, "producer_epoch": 0, "is_transactional": True}
    put(log, 2, base_sequence=0, **fields)
    put(log, 1)
    log.advance_high_watermark(3)
    assert last_stable_offset(log) == 0
    for commit in (False, True):
        marker = build_end_marker(
            producer_id=1, producer_epoch=0, commit=commit, coordinator_epoch=3, timestamp=NOW
        )
        log.append(marker, 0, NOW, Origin.COORDINATOR)
        put(log, 1, base_sequence=2 if not commit else 3, **fields)
    log.advance_high_watermark(log.end_offset)
    assert last_stable_offset(log) == 6
    assert [txn[:3] for txn in aborted_txns(log, 0, 10)] == [(1, 0, 3)]
    assert aborted_txns(log, 4, 10) == []
    log.release_files()
    log = bench.open(clean=False)
    assert [txn[:3] for txn in aborted_txns(log, 0, 10)] == [(1, 0, 3)]
    log.high_watermark = 7
    log.producers.advance_high_watermark(7)
    assert last_stable_offset(log) == 6
    log.close()


def test_replicas_keep_the_leaders_offsets(bench: Bench, tmp_path: Path) -> None:
    leader = bench.open()
    for number in range(5):
        leader.append(batch(2), number // 2, NOW)
    data = leader.read(0, 10_000, 10).slices[0].read()
    other = Bench(str(tmp_path / "follower"))
    follower = other.open()
    result = follower.append_replica(data, NOW)
    assert (result.first_offset, result.last_offset) == (0, 9)
    assert follower.epochs.entries() == leader.epochs.entries()
    assert Path(follower.active.path).read_bytes() == Path(leader.active.path).read_bytes()
    with pytest.raises(ApiError):
        follower.append_replica(data, NOW)
    other.close()


def test_truncation(bench: Bench) -> None:
    log = tiny(bench)
    for number in range(20):
        log.append(batch(2, producer_id=3, producer_epoch=0, base_sequence=number * 2), number, NOW)
    log.flush()
    assert truncate_to(log, 40) is False
    assert truncate_to(log, 21) is True
    # A log ends where a batch ends, and with it the epochs.
    assert log.end_offset == 20 and log.recovery_point == 20
    assert log.epochs.latest == 9
    assert offsets(log, 18)[:1] == [18]
    entry = log.producers.get(3)
    assert entry is not None and entry.last_sequence == 19
    put(log, producer_id=3, producer_epoch=0, base_sequence=20)
    truncate_fully(log, 100)
    assert (log.log_start_offset, log.end_offset, log.bases) == (100, 100, [100])
    assert put(log) == 100
    log.close()
    assert bench.open().end_offset == 101


def test_deleting_records(bench: Bench) -> None:
    log = tiny(bench)
    for _ in range(20):
        put(log, 2)
    with pytest.raises(ApiError):
        delete_records_before(log, 41)
    log.advance_high_watermark(40)
    assert delete_records_before(log, 25) == 25
    with pytest.raises(ApiError):
        log.read(24, 100, 40)
    assert offsets(log, 25)[0] == 24
    assert apply_retention(log, NOW) > 0
    assert log.bases[0] <= 25 < log.bases[1]
    assert delete_records_before(log, -1) == 40


def test_retention_by_size_and_age(bench: Bench) -> None:
    log = tiny(bench, retention_ms=-1, retention_bytes=1000, file_delete_delay_ms=100)
    for number in range(40):
        put(log, timestamp=NOW + number)
    size = log.size_bytes
    assert apply_retention(log, NOW) == 0, "nothing is replicated yet"
    log.advance_high_watermark(40)
    slice_ = log.read(0, 100, 40).slices[0]
    assert apply_retention(log, NOW) > 0
    assert 1000 <= log.size_bytes < size
    assert len(slice_.read()) == slice_.length
    slice_.release()
    gone = [name for name in os.listdir(log.directory) if name.endswith(".deleted")]
    assert gone
    assert bench.trash.empty(bench.clock.ms + 99) == 0
    bench.trash.empty(bench.clock.ms + 100)
    assert not [name for name in os.listdir(log.directory) if name.endswith(".deleted")]
    log.update_config(log.config.but(retention_bytes=-1, retention_ms=1000))  # type: ignore[attr-defined]
    assert apply_retention(log, NOW + 1000) == 0
    apply_retention(log, NOW + 1040)
    assert (log.log_start_offset, log.end_offset, log.bases) == (40, 40, [40])
    assert put(log) == 40


def test_files_are_kafkas(bench: Bench) -> None:
    log = tiny(bench)
    for _ in range(6):
        put(log, 2)
    log.close()
    found = sorted(os.listdir(log.directory))
    assert "00000000000000000000.log" in found
    assert "leader-epoch-checkpoint" in found
    for base in log.bases:
        for kind in (".log", ".index", ".timeindex"):
            assert f"{base:020d}{kind}" in found
    assert f"{log.end_offset:020d}.snapshot" in found


def test_swap_files_are_completed_and_cleaned_ones_dropped(bench: Bench) -> None:
    log = tiny(bench)
    for _ in range(20):
        put(log, 2)
    log.close()
    directory = Path(log.directory)
    end = log.bases[2]
    kept = parse_header((directory / f"{0:020d}.log").read_bytes())
    first = (directory / f"{0:020d}.log").read_bytes()[: kept.size]
    second = (directory / f"{log.bases[1]:020d}.log").read_bytes()
    (directory / f"{0:020d}.log.swap").write_bytes(first + second)
    (directory / f"{0:020d}.index.swap").write_bytes(b"")
    (directory / f"{0:020d}.timeindex.swap").write_bytes(b"")
    (directory / f"{end:020d}.log.cleaned").write_bytes(b"half")
    (directory / f"{end:020d}.log.deleted").write_bytes(b"gone")
    log = bench.open()
    assert log.bases[:2] == [0, end]
    assert offsets(log, 0)[:1] == [0]
    assert offsets(log, 3)[0] >= 2
    assert log.end_offset == 40
    names = os.listdir(directory)
    assert not [name for name in names if name.endswith((".swap", ".cleaned", ".deleted"))]


def emptied(base_offset: int) -> bytearray:
    """A batch as compaction leaves it when all its records are gone but its sequence counts."""
    whole = build_batch([Record(base_offset, NOW, b"k", b"v", [])], base_offset=base_offset)
    return retain(parse_header(whole), b"", [])


def test_an_emptied_batch_at_the_end_of_a_segment_is_passed_over(bench: Bench) -> None:
    log = bench.open()
    put(log)
    log.append_replica(emptied(1), NOW)
    log.roll()
    put(log)
    assert offsets(log, 1) == [2]
    assert offsets(log, 0) == [0, 1]


def test_an_emptied_batch_at_the_end_of_the_log_lets_readers_get_there(bench: Bench) -> None:
    log = bench.open()
    put(log)
    log.append_replica(emptied(1), NOW)
    log.append_replica(emptied(2), NOW)
    assert offsets(log, 1) == [1, 2]
    assert offsets(log, 1, bound=2) == [1]


class NoRoom(RealDisk):
    """For new files of a kind."""

    kind = ""

    def open(self, path: str, flags: int, mode: int = 0o644, /) -> int:
        if self.kind and path.endswith(self.kind) and flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "full", path)
        return os.open(path, flags, mode)


@pytest.mark.parametrize("kind", [".index", ".log"])
def test_a_roll_that_failed_leaves_no_segment_behind(tmp_path: Path, kind: str) -> None:
    disk = NoRoom()
    bench = Bench(str(tmp_path), disk=disk)
    log = tiny(bench)
    put(log)
    disk.kind = kind
    with pytest.raises(ApiError):
        put(log, size=400)
    disk.kind = ""
    assert put(log) == 1, "a small one has its place in the old segment"
    assert put(log, size=400) == 2
    assert offsets(log, 0) + offsets(log, 2) == [0, 1, 2]
    log.close()
    again = bench.open()
    assert again.bases == [0, 2]
    assert [offsets(again, at)[0] for at in (0, 1, 2)] == [0, 1, 2]
    bench.close()


def test_a_disk_that_is_full_within_the_note_of_an_abort_leaves_the_others_readable() -> None:
    disk = FaultyDisk(1)
    disk.mkdir("/data")
    log = Bench("/data", disk=disk).open()
    fields = {"producer_id": 1, "producer_epoch": 0, "is_transactional": True}

    def abort() -> None:
        marker = build_end_marker(
            producer_id=1, producer_epoch=0, commit=False, coordinator_epoch=3, timestamp=NOW
        )
        log.append(marker, 0, NOW, Origin.COORDINATOR)

    put(log, 2, base_sequence=0, **fields)
    abort()
    put(log, 2, base_sequence=2, **fields)
    disk.free_bytes = 20
    with pytest.raises(ApiError):
        abort()
    disk.free_bytes = None
    assert [txn[:3] for txn in aborted_txns(log, 0, 10)] == [(1, 0, 2)]
    abort()
    assert [txn[:3] for txn in aborted_txns(log, 0, 10)] == [(1, 0, 2), (1, 3, 5)]


def test_an_abort_whose_marker_had_no_room_is_told_once() -> None:
    """librdkafka takes each that it is told of off the list with one marker, and what is left for
    an abort of what its producer commits later."""
    disk = FaultyDisk(1)
    disk.mkdir("/data")
    log = Bench("/data", disk=disk).open()
    fields = {"producer_id": 1, "producer_epoch": 0, "is_transactional": True}

    def abort() -> None:
        marker = build_end_marker(
            producer_id=1, producer_epoch=0, commit=False, coordinator_epoch=3, timestamp=NOW
        )
        log.append(marker, 0, NOW, Origin.COORDINATOR)

    put(log, 2, base_sequence=0, **fields)
    disk.free_bytes = 40
    with pytest.raises(ApiError):
        abort()
    disk.free_bytes = None
    assert aborted_txns(log, 0, 10) == []
    put(log)
    abort()
    assert [txn[:3] for txn in aborted_txns(log, 0, 10)] == [(1, 0, 3)]


def test_a_replica_that_cannot_note_an_abort_is_where_it_was(tmp_path: Path) -> None:
    leader = Bench(str(tmp_path / "leader")).open()
    fields = {"producer_id": 1, "producer_epoch": 0, "is_transactional": True}
    put(leader, 2, base_sequence=0, **fields)
    marker = build_end_marker(
        producer_id=1, producer_epoch=0, commit=False, coordinator_epoch=3, timestamp=NOW
    )
    leader.append(marker, 0, NOW, Origin.COORDINATOR)
    put(leader)
    data = leader.read(0, 10_000, 4).slices[0].read()
    disk = NoRoom()
    bench = Bench(str(tmp_path / "follower"), disk=disk)
    follower = bench.open()
    disk.kind = ".txnindex"
    with pytest.raises(ApiError):
        follower.append_replica(data, NOW)
    assert follower.active.next_offset() == follower.end_offset
    disk.kind = ""
    left = leader.read(follower.end_offset, 10_000, 4).slices[0].read()
    follower.append_replica(left, NOW)
    assert Path(follower.active.path).read_bytes() == data
    assert aborted_txns(follower, 0, 4) == aborted_txns(leader, 0, 4)
    assert follower.end_offset == 4
    bench.close()
