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
    reader = FrameReader(FrameBudget(10**6, lambda: 0.0), 1000, print)
    data = b"".join(pack(">i", len(body)) + body for body in bodies)
    assert feed_all(reader, data, sizes) == bodies


@pytest.mark.parametrize("size", [0, -1, 1001, 2**31 - 1])
def test_senseless_sizes_are_refused(size: int) -> None:
    reader = FrameReader(FrameBudget(10**6, lambda: 0.0), 1000, print)
    with pytest.raises(ProtocolError, match=r"socket\.request\.max\.bytes"):
        feed_all(reader, pack(">i", size) + b"x", [64])


def test_a_frame_over_the_budget_waits_until_memory_is_given_back() -> None:
    budget = FrameBudget(100_000, lambda: 0.0)
    first = FrameReader(budget, 200_000, print)
    assert feed_all(first, pack(">i", 90_000) + bytes(80_000), [64]) == []
    reader = FrameReader(budget, 200_000, print)
    assert feed_all(reader, pack(">i", 80_000) + b"abc", [64]) == []
    assert reader.starved and reader.stopped
    reader.wait(reader.retry)
    first.close()
    assert not reader.starved and not reader.stopped
    frames = feed_all(reader, b"z" * 79_997, [64])
    assert frames == [b"abc" + b"z" * 79_997]
    assert budget.used_bytes == 0


def framed(*bodies: bytes) -> bytes:
    return b"".join(pack(">i", len(body)) + body for body in bodies)


def take(reader: FrameReader, data: memoryview, count: int, *, again: bool) -> list[bytes]:
    """So many frames, and then no more; with `again` the last one is not taken after all."""
    taken = []
    frames = reader.feed(data, len(data))
    for frame in frames:
        taken.append(bytes(frame))
        if len(taken) == count:
            if again:
                taken.pop()
            if type(frames) is not tuple:
                reader.halt(again=again)
            elif again:
                reader.keep(data, len(data))
            count = -1
    return taken


@pytest.mark.parametrize("again", [False, True])
@given(
    st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=8),
    st.integers(1, 8),
    st.integers(0, 30),
)
def test_whoever_stops_goes_on_where_he_stopped(
    again: bool, bodies: list[bytes], count: int, cut: int
) -> None:
    budget = FrameBudget(10**6, lambda: 0.0)
    reader = FrameReader(budget, 1000, print)
    data = framed(*bodies)
    cut = min(cut, len(data) - 1)
    shared = memoryview(bytearray(data[: len(data) - cut]))
    got = take(reader, shared, count, again=again)
    shared[:] = bytes(len(shared))  # others read into it meanwhile
    assert reader.stopped == reader.has_kept
    if reader.has_kept:
        got += [bytes(frame) for frame in reader.kept()]
    assert not reader.stopped
    got += feed_all(reader, data[len(data) - cut :], [64])
    assert got == bodies
    assert budget.used_bytes == 0


def test_a_large_frame_can_be_taken_again() -> None:
    budget = FrameBudget(10**6, lambda: 0.0)
    reader = FrameReader(budget, 10**6, print)
    body = bytes(range(256)) * 400
    data = framed(body)
    assert feed_all(reader, data[:-1], [5000]) == []
    target = reader.target(memoryview(bytearray(64)))
    target[:1] = data[-1:]
    assert take(reader, target[:1], 1, again=True) == []
    assert reader.has_kept and budget.used_bytes >= len(body)
    assert [bytes(frame) for frame in reader.kept()] == [body]
    assert budget.used_bytes == 0


def test_what_is_kept_counts_and_is_forgotten_with_its_connection() -> None:
    budget = FrameBudget(10**6, lambda: 0.0)
    reader = FrameReader(budget, 1000, print)
    shared = memoryview(bytearray(framed(b"one", b"two")))
    assert take(reader, shared, 1, again=False) == [b"one"]
    assert budget.used_bytes == len(framed(b"two"))
    reader.close()
    assert budget.used_bytes == 0


def test_while_memory_is_tight_little_is_read_and_held() -> None:
    budget = FrameBudget(10**6, lambda: 0.0)
    budget.charge(600_000)
    reader = FrameReader(budget, 10**6, print)
    assert len(reader.target(memoryview(bytearray(10**6)))) == 4096
    assert feed_all(reader, pack(">i", 10**6) + b"abcd", [64]) == []
    assert budget.used_bytes == 600_000 + 4096


def test_closing_gives_the_memory_back() -> None:
    budget = FrameBudget(10**6, lambda: 0.0)
    reader = FrameReader(budget, 10**6, print)
    feed_all(reader, pack(">i", 500) + b"x", [64])
    assert budget.used_bytes > 0
    reader.close()
    assert budget.used_bytes == 0


def test_a_frame_holds_little_more_than_has_arrived_of_it() -> None:
    budget = FrameBudget(10**9, lambda: 0.0)
    reader = FrameReader(budget, 10**8, print)
    body = bytes(range(256)) * 4000
    data = pack(">i", len(body)) + body
    assert feed_all(reader, data[:1000], [64]) == []
    assert budget.used_bytes <= 65536
    assert feed_all(reader, data[1000:200_000], [50_000]) == []
    assert budget.used_bytes <= 4 * 200_000 + 65536
    assert feed_all(reader, data[200_000:], [50_000]) == [body]
    assert budget.used_bytes == 0


def test_of_those_half_read_when_memory_ends_one_goes_on_and_then_the_others() -> None:
    budget = FrameBudget(300_000, lambda: 0.0)
    size = 200_000
    frame = pack(">i", size) + bytes(size)
    readers = [FrameReader(budget, 10**6, print) for _ in range(3)]
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
