"""The batch header: golden bytes, patching in place, and what is refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error import ApiError, ErrorCode
from penstock.records import header as h
from penstock.records.builder import build_batch
from penstock.records.checksum import crc32c
from penstock.records.record import Record, iter_records

GOLDEN = bytes.fromhex(
    "000000000000002a"  # base offset 42
    "00000041"  # length 65
    "00000007"  # leader epoch 7
    "02"  # magic
    "56868d48"  # crc
    "0000"  # attributes
    "00000001"  # last offset delta
    "00000000000003e8"  # base timestamp 1000
    "00000000000003ea"  # max timestamp 1002
    "ffffffffffffffff"  # producer id
    "ffff"  # producer epoch
    "ffffffff"  # base sequence
    "00000002"  # records
    "10000000026b027600"  # length 8, key k, value v
    "0c000402010000"  # length 6, +2 ms, +1 offset, null key, empty value
)


def two_records() -> list[Record]:
    return [Record(42, 1000, b"k", b"v"), Record(43, 1002, None, b"")]


def test_checksum_is_castagnoli() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(memoryview(b"x123456789")[1:]) == 0xE3069283


def test_layout_constants_follow_the_struct() -> None:
    assert h.HEADER.size == h.BATCH_OVERHEAD == 61
    assert (h.LENGTH, h.LEADER_EPOCH, h.MAGIC, h.CRC, h.ATTRIBUTES) == (8, 12, 16, 17, 21)
    for position, expected, kind in (
        (h.LAST_OFFSET_DELTA, 1, ">i"),
        (h.BASE_TIMESTAMP, 1000, ">q"),
        (h.MAX_TIMESTAMP, 1002, ">q"),
        (h.PRODUCER_ID, -1, ">q"),
        (h.PRODUCER_EPOCH, -1, ">h"),
        (h.BASE_SEQUENCE, -1, ">i"),
        (h.RECORD_COUNT, 2, ">i"),
    ):
        assert struct.unpack_from(kind, build_batch(two_records(), base_offset=42), position) == (
            expected,
        )


def test_golden_batch() -> None:
    built = build_batch(two_records(), base_offset=42, leader_epoch=7)
    assert built.hex() == GOLDEN.hex()
    header = h.check_batch(GOLDEN, 0, len(GOLDEN))
    assert (header.base_offset, header.last_offset, header.next_offset) == (42, 43, 44)
    assert header.size == len(GOLDEN) == h.batch_size(GOLDEN)
    assert (header.codec, header.timestamp_type, header.record_count) == (0, h.CREATE_TIME, 2)
    assert not (header.has_producer or header.is_control or header.is_transactional)
    assert header.last_sequence == -1
    assert header.delete_horizon_ms is None
    h.check_produced(header._replace(base_offset=0))
    assert list(iter_records(GOLDEN)) == two_records()


def test_attributes_are_told_apart() -> None:
    batch = build_batch(
        two_records(),
        base_offset=42,
        codec=3,
        timestamp_type=h.LOG_APPEND_TIME,
        producer_id=9,
        producer_epoch=1,
        base_sequence=5,
        is_transactional=True,
        is_control=True,
        delete_horizon_ms=777,
    )
    header = h.check_batch(batch, 0, len(batch))
    assert header.attributes == 0x7B
    assert header.codec == 3
    assert header.timestamp_type == h.LOG_APPEND_TIME
    assert header.is_transactional and header.is_control and header.has_producer
    assert header.delete_horizon_ms == 777
    assert header.last_sequence == 6


@pytest.mark.parametrize(
    ("first", "count", "expected"),
    [(0, 0, 0), (5, 3, 8), (0x7FFFFFFF, 0, 0x7FFFFFFF), (0x7FFFFFFF, 1, 0), (0x7FFFFFFE, 4, 2)],
)
def test_sequences_wrap_to_zero(first: int, count: int, expected: int) -> None:
    assert h.advance_sequence(first, count) == expected


def test_assigning_an_offset_keeps_the_checksum() -> None:
    buf = bytearray(b"##") + bytearray(GOLDEN)
    h.assign_offset(buf, 2, 1_000_000, 11)
    header = h.check_batch(buf, 2, len(buf))
    assert (header.base_offset, header.partition_leader_epoch) == (1_000_000, 11)
    assert bytes(buf[:2]) == b"##"


def test_append_time_covers_every_record() -> None:
    buf = memoryview(bytearray(GOLDEN))
    h.assign_append_time(buf, 0, 5555)
    header = h.check_batch(buf, 0, len(buf))
    assert header.timestamp_type == h.LOG_APPEND_TIME
    assert (header.base_timestamp, header.max_timestamp) == (1000, 5555)
    assert [record.timestamp for record in iter_records(buf)] == [5555, 5555]


def patched(position: int, kind: str, value: int) -> bytearray:
    buf = bytearray(GOLDEN)
    struct.pack_into(kind, buf, position, value)
    if position >= h.ATTRIBUTES:
        h.seal(buf, 0, len(buf))
    return buf


@pytest.mark.parametrize(
    ("buf", "code"),
    [
        (bytearray(GOLDEN[:60]), ErrorCode.CORRUPT_MESSAGE),
        (bytearray(GOLDEN[:-1]), ErrorCode.CORRUPT_MESSAGE),
        (bytearray(GOLDEN[:-1] + b"\x01"), ErrorCode.CORRUPT_MESSAGE),
        (patched(h.CRC, ">I", 1), ErrorCode.CORRUPT_MESSAGE),
        (patched(h.LENGTH, ">i", 48), ErrorCode.CORRUPT_MESSAGE),
        (patched(h.LENGTH, ">i", -1), ErrorCode.CORRUPT_MESSAGE),
        (patched(h.LENGTH, ">i", 0x7FFFFFFF), ErrorCode.CORRUPT_MESSAGE),
        (patched(h.MAGIC, ">b", 1), ErrorCode.INVALID_RECORD),
        (patched(h.LAST_OFFSET_DELTA, ">i", -1), ErrorCode.INVALID_RECORD),
        (patched(h.RECORD_COUNT, ">i", -1), ErrorCode.INVALID_RECORD),
    ],
)
def test_damaged_batches_are_refused(buf: bytearray, code: ErrorCode) -> None:
    with pytest.raises(ApiError) as caught:
        h.check_batch(buf, 0, len(buf))
    assert caught.value.code == code


@pytest.mark.parametrize(
    "buf",
    [
        patched(h.RECORD_COUNT, ">i", 0),
        patched(h.RECORD_COUNT, ">i", 3),
        patched(h.LAST_OFFSET_DELTA, ">i", 2),
        patched(h.ATTRIBUTES, ">h", h.CONTROL_BIT),
        patched(h.PRODUCER_ID, ">q", 4),
    ],
)
def test_clients_may_not_send_what_a_log_may_hold(buf: bytearray) -> None:
    header = h.check_batch(buf, 0, len(buf))
    with pytest.raises(ApiError) as caught:
        h.check_produced(header._replace(base_offset=0))
    assert caught.value.code == ErrorCode.INVALID_RECORD


def test_batches_are_found_one_after_the_other() -> None:
    buf = GOLDEN + GOLDEN + GOLDEN[:-1]
    found = [(pos, header.size) for pos, header in h.iter_batches(buf, 0, len(buf))]
    assert found == [(0, len(GOLDEN)), (len(GOLDEN), len(GOLDEN))]
    with pytest.raises(h.CorruptBatch):
        list(h.iter_batches(bytes(100), 0, 100))


@given(st.integers(0, len(GOLDEN) * 8 - 1))
def test_any_flipped_bit_behind_the_epoch_is_noticed(bit: int) -> None:
    buf = bytearray(GOLDEN)
    buf[bit // 8] ^= 1 << bit % 8
    if bit // 8 < h.LENGTH or h.LEADER_EPOCH <= bit // 8 < h.MAGIC:
        h.check_batch(buf, 0, len(buf))
        return
    with pytest.raises(ApiError):
        h.check_batch(buf, 0, len(buf))
