"""Frames are cut out of whatever the socket brings, in whatever pieces, and never written again."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.error import ProtocolError
from penstock.peer.answer_reader import FIRST_BYTES, SHARED_BYTES, AnswerReader


def framed(content: bytes) -> bytes:
    return pack(">i", len(content)) + content


def feed(reader: AnswerReader, data: bytes, pieces: list[int]) -> list[memoryview]:
    """Brings the bytes in pieces of these sizes, over and over, as a socket would."""
    found: list[memoryview] = []
    position = turn = 0
    while position < len(data):
        target = reader.target()
        count = min(pieces[turn % len(pieces)], len(target), len(data) - position)
        assert count > 0
        target[:count] = data[position : position + count]
        found += reader.feed(count)
        position += count
        turn += 1
    return found


@given(
    st.lists(
        st.one_of(
            st.integers(1, 300), st.integers(SHARED_BYTES - 50, SHARED_BYTES + 50), st.just(70_000)
        ),
        max_size=12,
    ),
    st.lists(st.integers(1, 40_000), min_size=1, max_size=5),
)
def test_any_frames_in_any_pieces(sizes: list[int], pieces: list[int]) -> None:
    contents = [bytes([number % 251 + 1]) * size for number, size in enumerate(sizes)]
    found = feed(AnswerReader(), b"".join(map(framed, contents)), pieces)
    # Only looked at when all have come: none was written over.
    assert [bytes(one) for one in found] == contents


def test_a_frame_larger_than_its_first_buffer_grows() -> None:
    content = bytes(range(256)) * (FIRST_BYTES // 256 + 9)
    (found,) = feed(AnswerReader(), framed(content), [1 << 20])
    assert found == content


def test_a_large_frame_is_not_copied() -> None:
    reader = AnswerReader()
    target = reader.target()
    target[:4] = pack(">i", 100_000)
    assert reader.feed(4) == []
    own = reader.target()
    assert len(own) == 100_000
    (frame,) = reader.feed(100_000)
    assert frame.obj is own.obj


@pytest.mark.parametrize("size", [0, -1, -(2**31), 1001, 2**31 - 1])
def test_sizes_that_cannot_be(size: int) -> None:
    reader = AnswerReader(frame_bytes_max=1000)
    reader.target()[:4] = pack(">i", size)
    with pytest.raises(ProtocolError):
        reader.feed(4)


def test_announcing_a_huge_frame_takes_no_memory_for_it() -> None:
    reader = AnswerReader()
    reader.target()[:4] = pack(">i", 1 << 30)
    reader.feed(4)
    assert len(reader.target()) <= FIRST_BYTES
