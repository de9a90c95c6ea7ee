"""Plain batches are the same bytes that the general builder makes, and read back the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error import ApiError
from penstock.records.builder import build_batch
from penstock.records.header import check_batch, parse_header, seal
from penstock.records.plain import build_plain_batch, iter_pairs
from penstock.records.record import Record, iter_records

PAIRS = st.lists(
    st.tuples(st.binary(max_size=200), st.none() | st.binary(max_size=9_000)),
    min_size=1,
    max_size=90,
)
TIME = 1_700_000_000_000


@given(PAIRS, st.sampled_from([(-1, -1), (7, 3)]))
def test_the_same_bytes_as_the_builder(
    pairs: list[tuple[bytes, bytes | None]], producer: tuple[int, int]
) -> None:
    records = [Record(index, TIME, key, value) for index, (key, value) in enumerate(pairs)]
    general = build_batch(
        records,
        producer_id=producer[0],
        producer_epoch=producer[1],
        is_transactional=producer[0] >= 0,
    )
    plain = build_plain_batch(pairs, TIME, *producer)
    assert plain == general
    check_batch(plain, 0, len(plain))


@given(
    st.lists(
        st.tuples(
            st.none() | st.binary(max_size=200),
            st.none() | st.binary(max_size=200),
            st.integers(0, 10_000_000),
        ),
        min_size=1,
    ),
    st.integers(0, 4),
)
def test_reads_what_any_batch_holds(
    fields: list[tuple[bytes | None, bytes | None, int]], codec: int
) -> None:
    records = [
        Record(5 + 2 * index, TIME + time, key, value, [("h", b"x")])
        for index, (key, value, time) in enumerate(fields)
    ]
    batch = memoryview(build_batch(records, base_offset=5, codec=codec))
    pairs = list(iter_pairs(parse_header(batch), batch))
    assert pairs == [(one.offset, one.key, one.value) for one in iter_records(batch)]


@given(st.binary(min_size=1, max_size=40), st.integers(0, 39))
def test_damage_is_an_error_of_ours_or_no_damage(noise: bytes, at: int) -> None:
    batch = build_plain_batch([(b"key", b"value" * 5)], TIME)
    batch[61 + at % (len(batch) - 61) : 61 + at + len(noise)] = noise[: len(batch) - 61 - at]
    del batch[parse_header(batch).size :]
    header = parse_header(batch)
    if len(batch) < header.size:
        batch += bytes(header.size - len(batch))
    seal(batch, 0, header.size)
    try:
        list(iter_pairs(header, memoryview(batch)))
    except ApiError:
        pass


def test_a_record_that_reaches_beyond_the_batch() -> None:
    batch = build_plain_batch([(b"key", b"value")], TIME)
    batch[61] += 2
    with pytest.raises(ApiError):
        list(iter_pairs(parse_header(batch), memoryview(batch)))
