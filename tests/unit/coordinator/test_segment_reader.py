"""Reading a segment past damage: what is whole is read, what is not is told of."""

from __future__ import annotations

from io import BytesIO
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.coordinator import segment_reader
from penstock.coordinator.segment_reader import SegmentReader
from penstock.records.header import BASE_OFFSET, LENGTH, MAGIC, assign_offset
from penstock.records.plain import build_plain_batch

BASE = 100


class Segment(NamedTuple):
    data: bytes
    starts: list[int]
    """Where each batch begins, and where the last one ends."""


def segment(sizes: list[int]) -> Segment:
    data, starts = bytearray(), [0]
    for number, size in enumerate(sizes):
        batch = build_plain_batch([(b"k%d" % number, b"\x02" * size)], 1_700_000_000_000)
        assign_offset(batch, 0, BASE + number, 0)
        data += batch
        starts.append(len(data))
    return Segment(bytes(data), starts)


def read(data: bytes, end_offset: int) -> tuple[list[int], list[tuple[int, int]]]:
    damage: list[tuple[int, int]] = []
    reader = SegmentReader(
        BytesIO(data), len(data), BASE, end_offset, lambda *one: damage.append(one)
    )
    return [header.base_offset for header, _ in reader], damage


@pytest.fixture(autouse=True)
def small_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_reader, "READ_BYTES", 64)


def test_all_of_what_is_whole() -> None:
    whole = segment([1, 500, 0, 70])
    assert read(whole.data, BASE + 4) == ([100, 101, 102, 103], [])


def test_what_was_written_since_is_not_read() -> None:
    whole = segment([1, 2, 3])
    assert read(whole.data, BASE + 2) == ([100, 101], [])


sizes = st.lists(st.integers(0, 300), min_size=1, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes, st.integers(0, 1 << 20), st.integers(1, 255))
def test_one_damaged_byte_costs_one_batch_at_most(
    sizes: list[int], place: int, change: int
) -> None:
    whole = segment(sizes)
    place %= len(whole.data)
    hit = max(number for number, start in enumerate(whole.starts) if start <= place)
    damaged = bytearray(whole.data)
    damaged[place] ^= change
    found, damage = read(bytes(damaged), BASE + len(sizes))
    others = [BASE + number for number in range(len(sizes)) if number != hit]
    assert [offset for offset in found if offset in others][: len(others)] == others
    in_checksum = place - whole.starts[hit] > MAGIC
    if in_checksum:
        assert found == others
        assert damage == [(BASE + hit, whole.starts[hit + 1] - whole.starts[hit])]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes, st.integers(0, 5), st.binary(max_size=400))
def test_garbage_between_batches_is_passed(sizes: list[int], where: int, garbage: bytes) -> None:
    whole = segment(sizes)
    place = whole.starts[where % len(whole.starts)]
    data = whole.data[:place] + garbage + whole.data[place:]
    found, damage = read(data, BASE + len(sizes))
    assert found == [BASE + number for number in range(len(sizes))]
    assert sum(size for _, size in damage) == len(garbage)


@pytest.mark.parametrize("length", [0, -1, 1 << 30, 49, 61])
def test_a_length_that_leads_nowhere(length: int) -> None:
    whole = segment([10, 10, 10])
    damaged = bytearray(whole.data)
    at = whole.starts[1] + LENGTH
    damaged[at : at + 4] = length.to_bytes(4, "big", signed=True)
    found, damage = read(bytes(damaged), BASE + 3)
    assert found == [100, 102]
    assert damage == [(101, whole.starts[2] - whole.starts[1])]


def test_an_offset_that_cannot_be_is_told_of() -> None:
    """The checksum does not cover it."""
    whole = segment([10, 10, 10])
    damaged = bytearray(whole.data)
    at = whole.starts[1] + BASE_OFFSET
    damaged[at : at + 8] = (1 << 40).to_bytes(8, "big")
    found, damage = read(bytes(damaged), BASE + 3)
    assert found == [100, 102]
    assert damage == [(101, whole.starts[2] - whole.starts[1])]


def test_a_batch_inside_a_damaged_one_is_not_taken_for_one() -> None:
    inner = build_plain_batch([(b"forged", b"x")], 1)
    assign_offset(inner, 0, BASE + 1, 0)
    outer = build_plain_batch([(b"k", bytes(inner))], 1)
    assign_offset(outer, 0, BASE, 0)
    last = build_plain_batch([(b"k", b"v")], 1)
    assign_offset(last, 0, BASE + 2, 0)
    outer[-1] ^= 1
    found, damage = read(bytes(outer + last), BASE + 3)
    assert (found, len(damage)) == ([102], 1)
