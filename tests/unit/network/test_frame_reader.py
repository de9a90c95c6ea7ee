"""Frames come out whole whatever way the bytes come in."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error import ProtocolError
from penstock.network.budget import FrameBudget
from penstock.network.reader import FrameReader

SHARED_BYTES = 64


def feed_all(reader: FrameReader, data: bytes, sizes: list[int]) -> list[bytes]:
    """Reads `data` as a socket would give it: never more than the target takes."""
    shared = memoryview(bytearray(SHARED_BYTES))
    frames: list[bytes] = []
    pos = turn = 0
    while pos < len(data):
        target = reader.target(shared)
        count = min(len(target), sizes[turn % len(sizes)], len(data) - pos)
        target[:count] = data[pos : pos + count]
        frames += [bytes(frame) for frame in reader.feed(shared, count)]
        pos += count
        turn += 1
    return frames


@given(
    st.lists(st.binary(min_size=1, max_size=300), max_size=12),
    st.lists(st.integers(1, 100), min_size=1, max_size=8),
)
def test_frames_survive_any_cutting(bodies: list[bytes], sizes: list[int]) -> None:
    reader = FrameReader(FrameBudget(10**6), 1000)
    data = b"".join(pack(">i", len(body)) + body for body in bodies)
    assert feed_all(reader, data, sizes) == bodies


@pytest.mark.parametrize("size", [0, -1, 1001, 2**31 - 1])
def test_senseless_sizes_are_refused(size: int) -> None:
    reader = FrameReader(FrameBudget(10**6), 1000)
    with pytest.raises(ProtocolError, match=r"socket\.request\.max\.bytes"):
        feed_all(reader, pack(">i", size) + b"x", [64])


def test_a_frame_over_the_budget_waits_until_memory_is_given_back() -> None:
    budget = FrameBudget(100_000)
    first = budget.take(90_000)
    assert first is not None
    reader = FrameReader(budget, 200_000)
    assert feed_all(reader, pack(">i", 80_000) + b"abc", [64]) == []
    assert reader.starved
    budget.wait(reader.retry)
    budget.give_back(first)
    assert not reader.starved
    frames = feed_all(reader, b"z" * 79_997, [64])
    assert frames == [b"abc" + b"z" * 79_997]
    assert budget.used_bytes == 0


def test_one_huge_frame_is_admitted_when_nothing_else_is_held() -> None:
    budget = FrameBudget(1000)
    assert budget.take(5000) is not None
    assert budget.take(10) is None


def test_closing_gives_the_memory_back() -> None:
    budget = FrameBudget(10**6)
    reader = FrameReader(budget, 10**6)
    feed_all(reader, pack(">i", 500) + b"x", [64])
    assert budget.used_bytes > 0
    reader.close()
    assert budget.used_bytes == 0


def test_a_frame_holds_little_more_than_has_arrived_of_it() -> None:
    budget = FrameBudget(10**9)
    reader = FrameReader(budget, 10**8)
    body = bytes(range(256)) * 4000
    data = pack(">i", len(body)) + body
    assert feed_all(reader, data[:1000], [64]) == []
    assert budget.used_bytes <= 65536
    assert feed_all(reader, data[1000:200_000], [50_000]) == []
    assert budget.used_bytes <= 4 * 200_000 + 65536
    assert feed_all(reader, data[200_000:], [50_000]) == [body]
    assert budget.used_bytes == 0


def test_of_those_half_read_when_memory_ends_one_goes_on_and_then_the_others() -> None:
    budget = FrameBudget(300_000)
    size = 200_000
    frame = pack(">i", size) + bytes(size)
    readers = [FrameReader(budget, 10**6) for _ in range(3)]
    done = [0, 0, 0]
    shared = memoryview(bytearray(64))
    frames = 0
    for _ in range(20_000):
        for number, reader in enumerate(readers):
            reader.retry()
            if reader.starved or done[number] == len(frame):
                continue
            target = reader.target(shared)
            count = min(len(target), 4096, len(frame) - done[number])
            target[:count] = frame[done[number] : done[number] + count]
            done[number] += count
            frames += len(list(reader.feed(shared, count)))
    assert frames == 3
    assert budget.used_bytes == 0
