"""Records in and out of batches, against two other implementations, and on damaged input."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatch as OtherBatch
from aiokafka.record.default_records import DefaultRecordBatchBuilder as OtherBuilder
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.error import ApiError, ErrorCode, InvariantError
from penstock.records import compression, control
from penstock.records.builder import build_batch, encode_records, recompress, retain, write_varint
from penstock.records.header import (
    BATCH_OVERHEAD,
    RECORD_COUNT,
    CorruptBatch,
    InvalidRecord,
    check_batch,
    check_produced,
    seal,
)
from penstock.records.record import (
    Record,
    iter_keys,
    iter_records,
    read_body,
    read_varint,
)

with warnings.catch_warnings():
    # kafka-python reads its schemas through a deprecated call while it is imported.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record.default_records import DefaultRecordBatch as KafkaPythonBatch

CODECS = [compression.NONE, compression.GZIP, compression.SNAPPY, compression.LZ4, compression.ZSTD]

maybe_bytes = st.none() | st.binary(max_size=200)
header_lists = st.lists(st.tuples(st.text(max_size=10), maybe_bytes), max_size=3)
bodies = st.tuples(st.integers(0, 2**41), maybe_bytes, maybe_bytes, header_lists)


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    parts = draw(st.lists(bodies, min_size=1, max_size=8))
    return [Record(index, *part) for index, part in enumerate(parts)]


@pytest.mark.parametrize("codec", CODECS)
@given(records=record_lists(), base=st.integers(0, 2**60))
@settings(max_examples=40, deadline=None)
def test_round_trip(codec: int, records: list[Record], base: int) -> None:
    for record in records:
        record.offset += base
    batch = build_batch(records, base_offset=base, codec=codec)
    header = check_batch(batch, 0, len(batch))
    check_produced(header._replace(base_offset=0))
    assert header.max_timestamp == max(record.timestamp for record in records)
    assert list(iter_records(batch)) == records
    assert list(iter_records(memoryview(bytes(batch)))) == records


@pytest.mark.parametrize(
    ("other", "codec"),
    [
        *[(OtherBatch, codec) for codec in CODECS],
        # kafka-python opens the other codecs only with packages that are not installed here.
        (KafkaPythonBatch, compression.NONE),
        (KafkaPythonBatch, compression.GZIP),
    ],
)
@given(records=record_lists())
@settings(max_examples=25, deadline=None)
def test_other_clients_read_ours(other: Any, codec: int, records: list[Record]) -> None:
    batch = other(bytes(build_batch(records, codec=codec)))
    assert batch.validate_crc()
    read = [Record(r.offset, r.timestamp, r.key, r.value, list(r.headers)) for r in batch]
    assert read == records


@pytest.mark.parametrize("codec", CODECS)
@given(records=record_lists())
@settings(max_examples=25, deadline=None)
def test_we_read_what_other_clients_write(codec: int, records: list[Record]) -> None:
    builder = OtherBuilder(2, codec, False, -1, -1, -1, 1 << 20)
    for r in records:
        builder.append(r.offset, r.timestamp, r.key, r.value, r.headers)
    batch = builder.build()
    check_produced(check_batch(batch, 0, len(batch)))
    assert list(iter_records(batch)) == records


@pytest.mark.parametrize("codec", CODECS)
def test_our_uncompressed_bytes_equal_those_of_another_client(codec: int) -> None:
    records = [Record(i, 1_700_000_000_000 + i, b"k%d" % i, b"v" * i, []) for i in range(300)]
    builder = OtherBuilder(2, 0, True, 7, 2, 55, 1 << 20)
    for r in records:
        builder.append(r.offset, r.timestamp, r.key, r.value, r.headers)
    ours = build_batch(
        records,
        producer_id=7,
        producer_epoch=2,
        base_sequence=55,
        is_transactional=True,
        codec=codec,
        leader_epoch=-1,
    )
    theirs = bytearray(builder.build())
    theirs[12:16] = b"\xff" * 4  # leader epoch, which the leader sets
    assert recompress(ours, compression.NONE) == theirs


@pytest.mark.parametrize("before", CODECS)
@pytest.mark.parametrize("after", CODECS)
def test_recompression_keeps_everything_else(before: int, after: int) -> None:
    records = [Record(10 + i, 5 + i, b"key", b"value" * 30, [("h", None)]) for i in range(50)]
    batch = build_batch(records, base_offset=10, codec=before, producer_id=3, base_sequence=0)
    again = recompress(batch, after)
    old, new = check_batch(batch, 0, len(batch)), check_batch(again, 0, len(again))
    assert new.codec == after
    assert new._replace(batch_length=0, crc=0, attributes=0) == old._replace(
        batch_length=0, crc=0, attributes=0
    )
    assert list(iter_records(again)) == records


@given(st.integers(-(2**63), 2**63 - 1))
def test_varint_round_trip(value: int) -> None:
    encoded = write_varint(value)
    assert read_varint(encoded, 0) == (value, len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (-64, "7f"), (64, "8001"), (300, "d804")],
)
def test_varint_golden(value: int, encoded: str) -> None:
    assert write_varint(value).hex() == encoded


def test_overlong_varint_is_refused() -> None:
    with pytest.raises(InvalidRecord):
        read_varint(b"\xff" * 11, 0)


def test_spans_cover_the_body_and_tell_tombstones() -> None:
    records = [
        Record(5, 100, b"a", b"1"),
        Record(6, 90, b"b", None),
        Record(9, 110, None, b"3", [("h", b"x" * 300)]),
    ]
    batch = build_batch(records, base_offset=5, codec=compression.ZSTD)
    header = check_batch(batch, 0, len(batch))
    body = read_body(batch, header)
    spans = list(iter_keys(header, body))
    assert [span[:4] for span in spans] == [
        (5, b"a", False, 100),
        (6, b"b", True, 90),
        (9, None, False, 110),
    ]
    assert spans[0][4] == 0
    assert [span[4] for span in spans[1:]] + [len(body)] == [span[5] for span in spans]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("horizon", [None, 4000])
def test_retained_records_keep_offsets_and_times(codec: int, horizon: int | None) -> None:
    records = [Record(20 + i, 1000 + i, b"k%d" % i, b"v", [("n", b"%d" % i)]) for i in range(10)]
    batch = build_batch(records, base_offset=20, codec=codec, producer_id=8, base_sequence=3)
    header = check_batch(batch, 0, len(batch))
    body = read_body(batch, header)
    spans = [span for span in iter_keys(header, body) if span[0] in (21, 25)]
    left = retain(header, body, spans, delete_horizon_ms=horizon)
    kept = check_batch(left, 0, len(left))
    assert list(iter_records(left)) == [records[1], records[5]]
    assert (kept.base_offset, kept.last_offset, kept.record_count) == (20, 29, 2)
    assert (kept.last_sequence, kept.max_timestamp) == (header.last_sequence, 1005)
    assert (kept.codec, kept.delete_horizon_ms) == (codec, horizon)
    assert len(left) < len(batch)


def test_a_batch_may_be_emptied() -> None:
    batch = build_batch([Record(3, 7, b"k", b"v")], base_offset=3, producer_id=1, base_sequence=0)
    header = check_batch(batch, 0, len(batch))
    left = retain(header, read_body(batch, header), [])
    kept = check_batch(left, 0, len(left))
    assert (len(left), kept.last_offset, kept.max_timestamp) == (BATCH_OVERHEAD, 3, 7)
    assert list(iter_records(left)) == []


def test_records_before_their_batch_are_a_fault_of_ours() -> None:
    with pytest.raises(InvariantError):
        encode_records([Record(4, 0, None, None)], 5, 0)


def test_odd_header_names_survive() -> None:
    name = b"\xff\xfe".decode("utf-8", "surrogateescape")
    batch = build_batch([Record(0, 0, None, None, [(name, b"1")])])
    assert b"\xff\xfe" in batch
    assert build_batch(iter_records(batch)) == batch


@pytest.mark.parametrize("commit", [True, False])
def test_end_marker(commit: bool) -> None:
    batch = control.build_end_marker(
        producer_id=4, producer_epoch=2, commit=commit, coordinator_epoch=9, timestamp=1
    )
    header = check_batch(batch, 0, len(batch))
    assert header.is_control and header.is_transactional and header.last_sequence == -1
    (record,) = iter_records(batch)
    assert record.key == (b"\0\0\0\1" if commit else b"\0\0\0\0")
    assert record.value == b"\0\0\0\0\0\x09"
    assert control.parse_end_marker(record) == (commit, 9)


def test_other_control_records_are_no_end_markers() -> None:
    record = Record(0, 0, control.control_key(control.LEADER_CHANGE), b"")
    assert control.parse_end_marker(record) is None
    for key, value in ((None, b""), (b"\0\0", b""), (control.control_key(1), b"\0")):
        with pytest.raises(InvalidRecord):
            control.parse_end_marker(Record(0, 0, key, value))


@pytest.mark.parametrize("codec", CODECS)
@given(records=record_lists(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_damage_raises_nothing_but_api_errors(
    codec: int, records: list[Record], data: st.DataObject
) -> None:
    batch = build_batch(records, codec=codec)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(BATCH_OVERHEAD - 8, len(batch) - 1))
        batch[position] = data.draw(st.integers(0, 255))
    seal(batch, 0, len(batch))
    try:
        for _ in iter_records(batch, limit_bytes=1 << 20):
            pass
    except ApiError as error:
        assert error.code in (
            ErrorCode.CORRUPT_MESSAGE,
            ErrorCode.INVALID_RECORD,
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        )


@pytest.mark.parametrize("length", [0, 11, 60, 61, 70])
def test_short_buffers_are_corrupt(length: int) -> None:
    batch = build_batch([Record(0, 0, b"k", b"v" * 20)])
    with pytest.raises(CorruptBatch):
        list(iter_records(batch[:length]))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_record_count_is_noticed(count: int) -> None:
    batch = build_batch([Record(i, 0, b"k", b"v") for i in range(2)])
    batch[RECORD_COUNT + 3] = count
    with pytest.raises(InvalidRecord):
        list(iter_records(batch))
