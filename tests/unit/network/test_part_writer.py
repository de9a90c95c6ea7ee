"""Bytes and file ranges arrive in order on a socket that takes little at a time."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from penstock.network.writer import COPY_BYTES_MAX, AnswerTally, PartWriter


class FileRange:
    def __init__(self, path: Path, position: int, length: int) -> None:
        self.fd = os.open(path, os.O_RDONLY)
        self.position = position
        self._length = length
        self.releases = 0

    def __len__(self) -> int:
        return self._length

    def read(self) -> bytes:
        return os.pread(self.fd, self._length, self.position)

    def release(self) -> None:
        self.releases += 1
        if self.releases == 1:
            os.close(self.fd)


@pytest.fixture
def pair() -> tuple[socket.socket, socket.socket]:
    left, right = socket.socketpair()
    left.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
    left.setblocking(False)
    yield left, right
    left.close()
    right.close()


def drain(writer: PartWriter, right: socket.socket, size: int) -> bytes:
    got = bytearray()
    while len(got) < size:
        writer.flush()
        got += right.recv(65536)
    return bytes(got)


def test_parts_arrive_in_order(pair: tuple[socket.socket, socket.socket], tmp_path: Path) -> None:
    left, right = pair
    data = os.urandom(5 * COPY_BYTES_MAX)
    (tmp_path / "f").write_bytes(data)
    large = FileRange(tmp_path / "f", 7, 4 * COPY_BYTES_MAX)
    small = FileRange(tmp_path / "f", 3, 100)
    empty = FileRange(tmp_path / "f", 0, 0)
    parts = [b"head", large, bytearray(b"mid"), small, empty, memoryview(b"tail" * 5000)]
    expected = b"head" + data[7 : 7 + 4 * COPY_BYTES_MAX] + b"mid" + data[3:103] + b"tail" * 5000
    writer = PartWriter(left, AnswerTally())
    writer.write(parts)
    assert drain(writer, right, len(expected)) == expected
    assert writer.flush()
    assert writer.queued_bytes == 0
    assert writer.sent_bytes == len(expected)
    assert [part.releases for part in (large, small, empty)] == [1, 1, 1]


def test_closing_releases_what_was_not_sent(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path
) -> None:
    left, _ = pair
    (tmp_path / "f").write_bytes(bytes(10 * COPY_BYTES_MAX))
    large = FileRange(tmp_path / "f", 0, 10 * COPY_BYTES_MAX)
    writer = PartWriter(left, AnswerTally())
    assert not writer.write([b"head", large])
    writer.close()
    assert large.releases == 1


def test_a_file_shorter_than_promised_is_an_error(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path
) -> None:
    left, _ = pair
    (tmp_path / "f").write_bytes(b"")
    gone = FileRange(tmp_path / "f", 0, 2 * COPY_BYTES_MAX)
    with pytest.raises(ConnectionError, match="shorter"):
        PartWriter(left, AnswerTally()).write([gone])
    gone.release()


def test_what_waits_in_memory_is_counted_over_all_connections(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path
) -> None:
    left, right = pair
    (tmp_path / "f").write_bytes(bytes(10 * COPY_BYTES_MAX))
    tally = AnswerTally()
    writer, other = PartWriter(left, tally), PartWriter(left, tally)
    assert not writer.write([bytes(10 * COPY_BYTES_MAX)])
    large = FileRange(tmp_path / "f", 0, 10 * COPY_BYTES_MAX)
    assert not other.write([bytes(7), large])
    assert tally.memory_bytes == writer.queued_bytes + 7
    other.close()
    assert tally.memory_bytes == writer.queued_bytes
    drain(writer, right, 10 * COPY_BYTES_MAX)
    assert writer.flush()
    assert tally.memory_bytes == 0


class OneCall:
    """A socket that takes a whole answer in one call, and no second one."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send(self, data: bytes) -> int:
        self.sent.append(bytes(data))
        return len(data)


def test_a_few_records_leave_with_what_is_around_them_in_one_call(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(range(256)))
    records = FileRange(tmp_path / "f", 10, 100)
    sock, tally = OneCall(), AnswerTally()
    writer = PartWriter(sock, tally)  # type: ignore[arg-type]
    assert writer.write([b"head", records, memoryview(b"tail")])
    assert sock.sent == [b"head" + bytes(range(10, 110)) + b"tail"]
    assert records.releases == 1
    assert (writer.queued_bytes, tally.memory_bytes, writer.sent_bytes) == (0, 0, 108)


@pytest.mark.parametrize("head", [b"head", b"h" * COPY_BYTES_MAX])
def test_a_range_that_its_file_has_no_more_ends_the_connection(
    pair: tuple[socket.socket, socket.socket], tmp_path: Path, head: bytes
) -> None:
    """Its frame says how long it is: what is missing would be taken from the next answer."""
    left, _ = pair
    (tmp_path / "f").write_bytes(b"cut off")
    part = FileRange(tmp_path / "f", 3, 100)
    with pytest.raises(OSError, match="shorter"):
        PartWriter(left, AnswerTally()).write([head, part])
    assert part.releases == 1
