"""Each rule of compaction by itself, on a small log."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.records.compression import CODEC_NAMES
from penstock.records.header import CREATE_TIME, DELETE_HORIZON_BIT, LOG_APPEND_TIME
from penstock.records.record import iter_records
from penstock.storage.compaction.config import CleanerSettings
from penstock.storage.lookup import aborted_txns, max_timestamp_offset, offset_for_timestamp
from tests.batch_kit import raw_batch
from tests.unit.storage.compaction_kit import DAY_MS, CleanBench, CompactSettings, read_batches


@pytest.fixture
def bench(tmp_path: Path) -> CleanBench:
    return CleanBench(str(tmp_path))


def finish(bench: CleanBench) -> None:
    """Leave the segment under test behind, with something in the active one."""
    bench.roll()
    bench.put((b"end", b"active"))


def test_the_latest_record_of_each_key_stays_at_its_offset(bench: CleanBench) -> None:
    bench.put((b"a", b"1"), (b"b", b"1"), (b"a", b"2"))
    bench.put((b"c", b"1"), (b"b", b"2"))
    finish(bench)
    report = bench.clean()
    assert bench.rows() == [
        (2, b"a", b"2"),
        (3, b"c", b"1"),
        (4, b"b", b"2"),
        (5, b"end", b"active"),
    ]
    assert (report.first_dirty, report.end_offset) == (0, 5)
    assert (report.stats.records_read, report.stats.records_kept) == (5, 3)
    first = read_batches(bench.log)[0][0]
    assert (first.base_offset, first.last_offset, first.record_count) == (0, 2, 1)


def test_what_stands_in_the_active_segment_is_neither_touched_nor_counted(
    bench: CleanBench,
) -> None:
    bench.put((b"a", b"1"))
    bench.roll()
    bench.put((b"a", b"2"), (b"a", b"3"))
    bench.clean()
    assert bench.rows() == [(0, b"a", b"1"), (1, b"a", b"2"), (2, b"a", b"3")]


def test_a_log_with_only_an_active_segment_has_nothing_to_clean(bench: CleanBench) -> None:
    bench.put((b"a", b"1"), (b"a", b"2"))
    assert bench.clean() is None


def test_a_cleaned_log_is_not_cleaned_again(bench: CleanBench) -> None:
    bench.put((b"a", b"1"))
    finish(bench)
    assert bench.clean() is not None
    assert bench.clean() is None


def test_a_new_record_takes_the_old_one_out_of_the_clean_part(bench: CleanBench) -> None:
    bench.put((b"a", b"1"), (b"b", b"1"))
    bench.roll()
    bench.clean()
    bench.put((b"a", b"2"))
    finish(bench)
    bench.clean()
    assert bench.rows()[:2] == [(1, b"b", b"1"), (2, b"a", b"2")]


def test_a_tombstone_stays_until_its_horizon_and_then_goes(bench: CleanBench) -> None:
    bench.put((b"a", b"1"), (b"b", b"1"))
    bench.put((b"a", None))
    bench.put((b"fill", b"1"))
    finish(bench)
    bench.clean()
    assert (2, b"a", None) in bench.rows()
    assert bench.rows()[0] == (1, b"b", b"1")
    header = next(h for h, _ in read_batches(bench.log) if h.base_offset == 2)
    assert header.delete_horizon_ms == bench.clock.now_ms() + DAY_MS
    assert header.attributes & DELETE_HORIZON_BIT

    bench.clock.ms += DAY_MS - 1
    bench.put((b"c", b"1"))
    finish(bench)
    bench.clean()
    assert (2, b"a", None) in bench.rows()
    header = next(h for h, _ in read_batches(bench.log) if h.base_offset == 2)
    assert header.delete_horizon_ms == 1_000_000 + DAY_MS, "set once, and never moved"

    bench.clock.ms += 1
    bench.put((b"d", b"1"))
    finish(bench)
    bench.clean()
    assert b"a" not in [key for _, key, _ in bench.rows()]


@pytest.mark.parametrize("kind", [CREATE_TIME, LOG_APPEND_TIME])
def test_a_horizon_leaves_the_times_of_records_alone(bench: CleanBench, kind: int) -> None:
    bench.put((b"a", None), (b"b", b"1"), timestamp_type=CREATE_TIME)
    if kind == LOG_APPEND_TIME:
        bench.log.update_config(CompactSettings(message_timestamp_type="LogAppendTime"))
        bench.put((b"c", None), (b"d", b"1"))
    finish(bench)
    before = [(r.offset, r.timestamp) for _, b in read_batches(bench.log) for r in iter_records(b)]
    bench.clean()
    after = [(r.offset, r.timestamp) for _, b in read_batches(bench.log) for r in iter_records(b)]
    assert before == after


def test_a_record_without_a_key_goes(bench: CleanBench) -> None:
    bench.log.update_config(CompactSettings(cleanup_policy=frozenset({"delete"})))
    bench.put((None, b"1"), (b"a", b"1"))
    bench.log.update_config(CompactSettings())
    finish(bench)
    bench.clean()
    assert bench.rows()[0] == (1, b"a", b"1")


def test_what_cannot_be_read_stays_and_stops_nothing(bench: CleanBench) -> None:
    """Of a log that was written before leaders looked into their batches."""
    bench.put((b"a", b"1"))
    for body, count, codec in ((b"\xde\xad" * 20, 3, 0), (b"plain", 1, 1), (bytes(100), 5, 4)):
        end, now = bench.log.end_offset, bench.clock.now_ms()
        bench.log.append_replica(raw_batch(body, count, attributes=codec, base_offset=end), now)
    bench.put((b"a", b"2"))
    finish(bench)
    report = bench.clean()
    assert report is not None
    kept = [(header.base_offset, header.record_count) for header, _ in read_batches(bench.log)]
    assert kept[:4] == [(1, 3), (4, 1), (5, 5), (10, 1)]


@pytest.mark.parametrize("codec", range(5), ids=CODEC_NAMES)
def test_a_batch_keeps_its_codec(bench: CleanBench, codec: int) -> None:
    bench.put((b"a", b"1" * 100), (b"b", None), (b"a", b"2" * 100), codec=codec)
    finish(bench)
    bench.clean()
    assert bench.rows()[:2] == [(1, b"b", None), (2, b"a", b"2" * 100)]
    assert read_batches(bench.log)[0][0].codec == codec


def test_an_emptied_batch_stays_if_it_is_its_producers_last(bench: CleanBench) -> None:
    bench.put((b"a", b"1"), producer_id=7, producer_epoch=0, base_sequence=0)
    bench.put((b"a", b"2"), producer_id=7, producer_epoch=0, base_sequence=1)
    bench.put((b"a", b"3"))
    finish(bench)
    bench.clean()
    headers = [header for header, _ in read_batches(bench.log)]
    assert [(h.base_offset, h.record_count) for h in headers[:2]] == [(1, 0), (2, 1)]
    assert (headers[0].producer_id, headers[0].base_sequence) == (7, 1)
    bench.reopen(clean=False)
    entry = bench.log.producers.get(7)
    assert entry is not None and entry.last_sequence == 1


def test_a_segment_still_says_where_it_ends(bench: CleanBench) -> None:
    bench.put((b"a", b"1"))
    bench.put((b"a", b"2"))
    bench.roll()
    bench.put((b"a", b"3"))
    bench.roll()
    bench.put((b"a", b"4"))
    bench.log.update_config(CompactSettings(segment_bytes=150))
    finish(bench)
    bench.clean()
    for segment, behind in zip(bench.log.segments, bench.log.bases[1:], strict=False):
        assert segment.next_offset() == behind
    assert [row for row in bench.rows() if row[1] == b"a"] == [(3, b"a", b"4")]


def test_aborted_records_go_and_their_marker_follows(bench: CleanBench) -> None:
    fields = {"producer_id": 5, "producer_epoch": 0, "is_transactional": True}
    bench.put((b"a", b"before"))
    bench.put((b"a", b"aborted"), (b"x", b"aborted"), base_sequence=0, **fields)
    marker = bench.end_txn(5, commit=False)
    bench.put((b"b", b"1"), base_sequence=2, **fields)
    bench.end_txn(5, commit=True)
    finish(bench)
    bench.clean()
    assert bench.rows()[:2] == [(0, b"a", b"before"), (4, b"b", b"1")]
    # Its batch was met on the way, so the marker is needed until the next round.
    assert marker in offsets(bench)
    assert len(aborted_txns(bench.log, 0, 100)) == 1

    bench.put((b"c", b"1"))
    finish(bench)
    bench.clean()
    assert marker in offsets(bench), "it gets its horizon only now"
    assert aborted_txns(bench.log, 0, 100) == []

    bench.clock.ms += DAY_MS
    bench.put((b"d", b"1"))
    finish(bench)
    bench.clean()
    assert marker not in offsets(bench)


def test_an_abort_long_past_hides_nothing_of_its_producer(bench: CleanBench) -> None:
    """The marker stands in the clean part, which nobody reads for its keys."""
    fields = {"producer_id": 5, "producer_epoch": 0, "is_transactional": True}
    bench.put((b"a", b"1"))
    bench.put((b"b", b"aborted"), base_sequence=0, **fields)
    bench.end_txn(5, commit=False)
    bench.roll()
    bench.clean()
    bench.put((b"a", None), base_sequence=1, **fields)
    bench.end_txn(5, commit=True)
    finish(bench)
    bench.clean()
    assert bench.rows() == [(3, b"a", None), (5, b"end", b"active")]


def offsets(bench: CleanBench) -> list[int]:
    return [header.base_offset for header, _ in read_batches(bench.log) if header.record_count]


def test_nothing_behind_the_last_stable_offset_is_touched(bench: CleanBench) -> None:
    bench.put((b"a", b"1"))
    bench.roll()
    bench.put((b"a", b"2"))
    bench.put(
        (b"t", b"open"), producer_id=5, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    bench.roll()
    bench.put((b"a", b"3"))
    finish(bench)
    report = bench.clean()
    assert report.end_offset == 1
    assert [row[2] for row in bench.rows()] == [b"1", b"2", b"open", b"3", b"active"]
    bench.end_txn(5, commit=True)
    assert bench.clean().end_offset == 4
    assert [row[2] for row in bench.rows()] == [b"open", b"3", b"active"]


def test_the_high_watermark_bounds_it_too(bench: CleanBench) -> None:
    bench.put((b"a", b"1"))
    bench.roll()
    bench.put((b"a", b"2"))
    finish(bench)
    bench.log.high_watermark = 1
    assert bench.clean().end_offset == 1


def test_young_records_are_safe_from_it(tmp_path: Path) -> None:
    bench = CleanBench(str(tmp_path), CompactSettings(min_compaction_lag_ms=1000))
    bench.put((b"a", b"1"))
    bench.roll()
    bench.clock.ms += 600
    bench.put((b"a", b"2"))
    finish(bench)
    assert bench.clean() is None
    bench.clock.ms += 400
    assert bench.clean().end_offset == 1
    bench.clock.ms += 600
    assert bench.clean().end_offset == 2
    assert [row[2] for row in bench.rows()] == [b"2", b"active"]


def test_the_dirty_ratio_decides(tmp_path: Path) -> None:
    bench = CleanBench(str(tmp_path), CompactSettings(min_cleanable_dirty_ratio=0.5))
    for number in range(4):
        bench.put((b"k%d" % number, b"1" * 50))
    bench.roll()
    assert bench.clean() is not None
    bench.put((b"k0", b"2" * 50))
    bench.roll()
    assert bench.clean() is None
    assert 0.1 < bench.cleaner.stats.dirty_ratio_max < 0.3
    for number in range(6):
        bench.put((b"k%d" % number, b"3" * 50))
    bench.roll()
    assert bench.clean() is not None


def test_a_record_that_waited_too_long_is_compacted_and_its_segment_rolled(
    tmp_path: Path,
) -> None:
    settings = CompactSettings(min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=1000)
    bench = CleanBench(str(tmp_path), settings)
    bench.put((b"a", b"1"), (b"a", b"2"))
    bench.clock.ms += 1000
    assert bench.clean() is None
    assert len(bench.log.segments) == 1
    bench.clock.ms += 1
    assert bench.clean().end_offset == 2
    assert bench.rows() == [(1, b"a", b"2")]
    assert bench.clean() is None
    assert len(bench.log.segments) == 2


def test_small_segments_are_merged_up_to_the_segment_size(tmp_path: Path) -> None:
    bench = CleanBench(str(tmp_path), CompactSettings(segment_bytes=1000))
    for number in range(20):
        bench.put((b"k%d" % number, b"v" * 100))
        bench.roll()
    bench.clean()
    sizes = [segment.size for segment in bench.log.segments[:-1]]
    assert all(500 < size <= 1000 for size in sizes)
    assert len(bench.rows()) == 20
    assert bench.log.size_bytes == sum(segment.size for segment in bench.log.segments)


def test_a_segment_never_spans_more_offsets_than_its_index_can_name(tmp_path: Path) -> None:
    bench = CleanBench(str(tmp_path))
    bench.put((b"a", b"1"))
    bench.log.end_offset = 2**31 - 10
    bench.log.roll()
    bench.put((b"b", b"1"))
    bench.log.end_offset = 2**31 + 10
    bench.log.roll()
    bench.put((b"c", b"1"))
    finish(bench)
    bench.clean()
    assert bench.log.bases[:2] == [0, 2**31 - 10]
    assert [row[1] for row in bench.rows()] == [b"a", b"b", b"c", b"end"]


def test_more_keys_than_the_map_holds_take_several_rounds(tmp_path: Path) -> None:
    tiny = CleanerSettings(key_map_bytes=24 * 40)
    bench = CleanBench(str(tmp_path), cleaner_settings=tiny)
    for value in (b"old", b"new"):
        for number in range(200):
            bench.put((b"k%d" % number, value))
    finish(bench)
    ends = []
    while (report := bench.clean()) is not None:
        assert report.stats.key_map_bytes <= tiny.key_map_bytes
        ends.append(report.end_offset)
    assert len(ends) >= 400 // 30
    assert ends == sorted(set(ends)) and ends[-1] == 400
    assert [row[2] for row in bench.rows()] == [b"new"] * 200 + [b"active"]


def test_one_batch_with_more_keys_than_the_map_holds_stops_nothing(tmp_path: Path) -> None:
    bench = CleanBench(str(tmp_path), cleaner_settings=CleanerSettings(key_map_bytes=24 * 11))
    bench.put((b"a", b"old"))
    bench.put(*[(b"k%d" % number, b"1") for number in range(100)])
    bench.put((b"a", b"new"))
    finish(bench)
    while bench.clean() is not None:
        pass
    assert len(bench.rows()) == 102
    assert (0, b"a", b"old") not in bench.rows()


def test_times_are_still_found(bench: CleanBench) -> None:
    for number in range(50):
        bench.clock.ms += 10
        bench.put((b"k%d" % (number % 20), b"v" * 60))
    bench.clock.ms += 10
    finish(bench)
    bench.clean()
    for header, _ in read_batches(bench.log):
        found = offset_for_timestamp(bench.log, header.max_timestamp)
        assert found is not None and found.offset == header.base_offset


def test_the_newest_record_is_found_though_an_emptied_batch_was_newer(bench: CleanBench) -> None:
    bench.put((b"a", b"1"))
    bench.clock.ms += 10
    bench.put((b"b", b"1"), producer_id=7, producer_epoch=0, base_sequence=0)
    bench.clock.ms -= 5
    bench.put((b"b", b"2"))
    bench.roll()
    bench.clean()
    assert [header.record_count for header, _ in read_batches(bench.log)] == [1, 0, 1]
    newest = max_timestamp_offset(bench.log)
    assert newest is not None and newest.offset == 2


def test_compact_and_delete_does_both(tmp_path: Path) -> None:
    from penstock.storage.retention import apply_retention

    policy = frozenset({"compact", "delete"})
    bench = CleanBench(str(tmp_path), CompactSettings(cleanup_policy=policy, retention_ms=1000))
    bench.put((b"a", b"1"), (b"a", b"2"))
    bench.roll()
    bench.clean()
    bench.clock.ms += 1001
    bench.put((b"b", b"1"))
    finish(bench)
    assert apply_retention(bench.log, bench.clock.now_ms()) == 1
    assert bench.log.log_start_offset == 2
    bench.clean()
    assert [row[1] for row in bench.rows()] == [b"b", b"end"]
