"""Looking for a point in time inside one batch."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.records.builder import build_batch
from penstock.records.compression import CODEC_NAMES
from penstock.records.header import HEADER, InvalidRecord
from penstock.records.record import Record, iter_records
from penstock.records.time_search import find_timestamp, is_quick

CODECS = range(len(CODEC_NAMES))
TIMES = [100, 300, 200, 400]


def batch_of(times: list[int], codec: int = 0, value: bytes = b"") -> bytearray:
    return build_batch([Record(i, t, b"k", value) for i, t in enumerate(times)], codec=codec)


@pytest.mark.parametrize("codec", CODECS)
def test_the_first_that_is_not_older(codec: int) -> None:
    batch = batch_of(TIMES, codec)
    assert find_timestamp(batch, 0) == (0, 100)
    assert find_timestamp(batch, 150) == (1, 300)
    assert find_timestamp(batch, 150, offset=2) == (2, 200)
    assert find_timestamp(batch, 401) is None


@given(
    sizes=st.lists(st.sampled_from([0, 1, 30, 200, 70_000]), min_size=1, max_size=8),
    codec=st.sampled_from(CODECS),
    data=st.data(),
)
def test_it_finds_what_a_reader_of_all_records_finds(
    sizes: list[int], codec: int, data: st.DataObject
) -> None:
    times = data.draw(st.lists(st.integers(0, 50), min_size=len(sizes), max_size=len(sizes)))
    records = [
        Record(2 * i, t, None, bytes(size))
        for i, (t, size) in enumerate(zip(times, sizes, strict=True))
    ]
    batch = build_batch(records, codec=codec)
    wanted = data.draw(st.integers(0, 51))
    late = [one for one in iter_records(batch) if one.timestamp >= wanted]
    assert find_timestamp(batch, wanted) == ((late[0].offset, late[0].timestamp) if late else None)


def test_a_batch_that_unfolds_into_much_takes_no_memory() -> None:
    batch = batch_of([1, 2], codec=1, value=bytes(50_000_000))
    tracemalloc.start()
    try:
        assert find_timestamp(batch, 2) == (1, 2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_batch_with_fewer_records_than_it_says() -> None:
    batch = batch_of(TIMES)
    fields = list(HEADER.unpack_from(batch))
    fields[-1], fields[6] = 9, 8
    HEADER.pack_into(batch, 0, *fields)
    with pytest.raises(InvalidRecord, match="5 records too early"):
        find_timestamp(batch, 401)


def test_only_a_small_plain_batch_is_quick() -> None:
    from penstock.records.record import read_header

    assert is_quick(read_header(batch_of(TIMES)))
    assert not is_quick(read_header(batch_of(TIMES, codec=1)))
    assert not is_quick(read_header(batch_of([1] * 1001)))
