"""The walk over records: whoever encoded them, compiled or not, in pieces of any size."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.error import ApiError, ErrorCode
from penstock.records import compression, walk
from penstock.records.builder import build_batch, write_varint
from penstock.records.decompression import PIECE_BYTES, iter_pieces
from penstock.records.header import BATCH_OVERHEAD, InvalidRecord, check_batch, check_produced
from penstock.records.record import Record, iter_records
from penstock.records.record_check import RecordCheck
from penstock.records.walk import REJECTED_MAX, Walk
from tests.batch_kit import (
    NOW_MS,
    good_body,
    gzip_zeros_batch,
    many_records,
    packed,
    raw_batch,
    raw_record,
    zeros_batch,
)

CODECS = range(5)
WIDE = (-(1 << 63), (1 << 63) - 1)

headers = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=200)), max_size=4)
bodies = st.lists(
    st.tuples(
        st.integers(0, 2**45),
        st.none() | st.binary(max_size=200),
        st.none() | st.binary(max_size=200),
        headers,
    ),
    min_size=1,
    max_size=70,
)


def interpreted() -> ModuleType:
    """The same module, as it runs where there is no compiler."""
    path = Path(walk.__file__).with_name("walk.py")
    spec = importlib.util.spec_from_file_location("interpreted_walk", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


PLAIN = interpreted()


def check(batch: Any, **rules: Any) -> RecordCheck:
    header = check_batch(batch, 0, len(batch))
    check_produced(header)
    found = RecordCheck(batch, header, **({"keyed": False} | rules))
    for cost in found.steps():
        assert cost >= 0
    return found


def refused(batch: Any, **rules: Any) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        check(batch, **rules)
    return caught.value.code


# Whoever wrote it


@settings(deadline=None, max_examples=60)
@given(codec=st.sampled_from(CODECS), fields=bodies)
def test_what_we_build_is_taken(codec: int, fields: list[Any]) -> None:
    records = [Record(index, *one) for index, one in enumerate(fields)]
    found = check(build_batch(records, codec=codec))
    assert found.newest == max(record.timestamp for record in records)
    assert found.rejected == []


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(("count", "size"), [(1, 0), (200, 10), (150, 3000)])
def test_what_another_client_builds_is_taken(codec: int, count: int, size: int) -> None:
    batch = AiokafkaBuilder(2, codec, False, -1, -1, -1, 1 << 20)
    for index in range(count):
        value = bytes(index % 251 for _ in range(size)) or None
        assert batch.append(index, NOW_MS + index, b"key", value, [("h", b"x")])
    found = check(bytearray(batch.build()))
    assert found.newest == NOW_MS + count - 1


def test_java_and_librdkafka_frames_are_taken() -> None:
    """Java's snappy stream, librdkafka's raw snappy, an lz4 frame with checksums, gzip in parts."""
    import cramjam
    import lz4.frame

    body = good_body(500)
    raw_snappy = bytes(cramjam.snappy.compress_raw(body))
    checked = lz4.frame.compress(
        body, block_linked=False, content_checksum=True, block_checksum=True
    )
    half = len(body) // 2
    parts = compression.compress(1, body[:half]) + compression.compress(1, body[half:])
    for codec, data in ((2, raw_snappy), (3, checked), (1, parts)):
        check(raw_batch(data, 500, attributes=codec))
    linked = lz4.frame.compress(body * 20, block_size=4, block_linked=True)
    assert refused(raw_batch(linked, 500, attributes=3)) is ErrorCode.INVALID_RECORD


# One thing wrong


@settings(deadline=None, max_examples=300)
@given(
    fields=bodies,
    codec=st.sampled_from(CODECS),
    data=st.data(),
)
def test_what_passes_can_be_read(fields: list[Any], codec: int, data: st.DataObject) -> None:
    """A byte of the body changed: it is refused, or a reader reads as many records as before."""
    body = bytearray(
        build_batch([Record(i, *one) for i, one in enumerate(fields)])[BATCH_OVERHEAD:]
    )
    position = data.draw(st.integers(0, len(body) - 1))
    body[position] ^= data.draw(st.integers(1, 255))
    batch = packed(codec, bytes(body), len(fields), base_timestamp=0)
    try:
        check(batch)
    except InvalidRecord:
        return
    offsets = [record.offset for record in iter_records(batch)]
    assert offsets == list(range(len(fields)))


@settings(deadline=None, max_examples=200)
@given(body=st.binary(max_size=120), codec=st.sampled_from(CODECS[1:]), count=st.integers(1, 20))
def test_no_stream_of_bytes_does_harm(body: bytes, codec: int, count: int) -> None:
    for batch in (raw_batch(body, count, attributes=codec), packed(codec, body, count)):
        try:
            check(batch)
        except ApiError:
            continue
        assert len(list(iter_records(batch))) == count


@pytest.mark.parametrize("codec", CODECS[1:])
def test_a_stream_has_to_be_whole(codec: int) -> None:
    data = compression.compress(codec, good_body(2000, value=b"some text"))
    check(raw_batch(data, 2000, attributes=codec))
    for cut in (1, 2, 4, 5, 8, len(data) // 2):
        assert refused(raw_batch(data[:-cut], 2000, attributes=codec)) is ErrorCode.INVALID_RECORD
    for more in (b"\x00", b"xyz", bytes(40)):
        assert refused(raw_batch(data + more, 2000, attributes=codec)) is ErrorCode.INVALID_RECORD


# Two ways to run it


@settings(deadline=None, max_examples=300)
@given(
    fields=bodies,
    damage=st.lists(st.tuples(st.integers(0, 1 << 14), st.integers(0, 255)), max_size=2),
    step=st.integers(1, 50),
    keyed=st.booleans(),
    base=st.sampled_from([0, NOW_MS, -5, WIDE[0], WIDE[1]]),
    limits=st.sampled_from([WIDE, (0, 2**44), (NOW_MS, NOW_MS + 5)]),
)
def test_compiled_and_interpreted_agree(
    fields: list[Any],
    damage: list[tuple[int, int]],
    step: int,
    keyed: bool,
    base: int,
    limits: tuple[int, int],
) -> None:
    body = bytearray(
        build_batch([Record(i, *one) for i, one in enumerate(fields)])[BATCH_OVERHEAD:]
    )
    for position, byte in damage:
        body[position % len(body)] = byte
    seen = []
    for kind in (Walk, PLAIN.Walk):
        one = kind(len(fields), base, keyed, True, *limits)
        seen.append([*_walked(one, bytes(body), step), one.done, one.fault, one.index, one.newest])
        seen[-1] += [one.rejected, one.times_rejected, one.fields]
    assert seen[0] == seen[1]


@settings(deadline=None, max_examples=100)
@given(fields=bodies, cuts=st.lists(st.integers(0, 1 << 12), max_size=8))
def test_pieces_may_end_anywhere(fields: list[Any], cuts: list[int]) -> None:
    body = bytes(build_batch([Record(i, *one) for i, one in enumerate(fields)])[BATCH_OVERHEAD:])
    edges = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    whole = Walk(len(fields), 0, True, True, *WIDE)
    list(_walked(whole, body, 1 << 20))
    parts, rest = Walk(len(fields), 0, True, True, *WIDE), b""
    for start, end in pairwise(edges):
        data = rest + body[start:end]
        position = [0, *_walked(parts, data, 3)][-1]
        rest = data[position:]
        assert len(rest) < 10
    assert parts.done and whole.done
    assert (parts.newest, parts.rejected) == (whole.newest, whole.rejected)


def _walked(one: Any, data: bytes, step: int) -> Iterator[int]:
    position, before = 0, -1
    while before < position < len(data) and not one.fault:
        before = position
        position = one.step(data, position, len(data), step)
        yield position


# Limits


def test_a_refusal_names_records_but_not_without_end() -> None:
    body = b"".join(raw_record(delta=index, key=None) for index in range(3 * REJECTED_MAX))
    found = check(raw_batch(body, 3 * REJECTED_MAX), keyed=True)
    assert found.rejected == list(range(REJECTED_MAX))
    assert not found.times_rejected


def test_a_missing_key_counts_before_a_wrong_time() -> None:
    body = raw_record(key=None, time_delta=99) + raw_record(delta=1, time_delta=99)
    rules = {"timed": True, "earliest": 0, "latest": NOW_MS}
    found = check(raw_batch(body, 2), keyed=True, **rules)
    assert (found.rejected, found.times_rejected) == ([0, 1], True)
    found = check(raw_batch(raw_record(key=None, time_delta=99)), keyed=True, **rules)
    assert (found.rejected, found.times_rejected) == ([0], False)


@pytest.mark.parametrize("codec", CODECS[1:])
def test_little_is_held_of_what_unfolds(codec: int) -> None:
    batch = zeros_batch(20 << 20, codec)
    pieces = [len(one) for one in iter_pieces(codec, memoryview(batch)[BATCH_OVERHEAD:])]
    assert sum(pieces) > 20 << 20
    assert max(pieces) <= PIECE_BYTES


def test_what_unfolds_beyond_the_limit_is_refused() -> None:
    assert refused(gzip_zeros_batch(257)) is ErrorCode.MESSAGE_TOO_LARGE


def test_steps_are_bounded() -> None:
    count = 200_000
    batch = packed(1, many_records(count), count)
    steps = list(RecordCheck(batch, check_batch(batch, 0, len(batch)), keyed=True).steps())
    assert max(steps) < sum(steps) / 10


def test_the_shortest_and_the_longest_numbers() -> None:
    longest = write_varint(-(1 << 63))
    assert len(longest) == 10
    assert check(raw_batch(raw_record(time_delta=longest), base_timestamp=0)).newest == -1
    overflow = raw_batch(raw_record(time_delta=longest), base_timestamp=-1)
    assert check(overflow, timed=True, earliest=WIDE[0], latest=WIDE[1]).times_rejected
