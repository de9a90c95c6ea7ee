"""Reads the batches of one segment file, for a load, past what is damaged.

A coordinator that does not start for one flipped bit helps nobody: what is whole is read, and the
owner is told of every stretch that is not. Runs in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from penstock.records.header import (
    BATCH_OVERHEAD,
    MAGIC,
    MAGIC_V2,
    BatchHeader,
    compute_crc,
    parse_header,
)

READ_BYTES = 1 << 20
_MAGIC_BYTE = bytes([MAGIC_V2])

Batch = tuple[BatchHeader, memoryview]
OnDamage = Callable[[int, int], None]
"""(offset that should have come next, bytes that were passed over)"""


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class SegmentReader:
    """Batches below `end_offset` whose checksums are right, in the order of the file."""

    def __init__(
        self, file: Readable, size: int, base_offset: int, end_offset: int, on_damage: OnDamage
    ) -> None:
        self._file = file
        self._unread = size
        self._bytes = b""
        self._data = memoryview(self._bytes)
        self._pos = 0
        self._base_offset = base_offset
        self._next_offset = base_offset
        self._end_offset = end_offset
        self._on_damage = on_damage

    def __iter__(self) -> Iterator[Batch]:
        beyond_bytes = 0
        while self._left:
            header = self._whole_batch()
            if header is None:
                self._pass_damage()
                continue
            start, self._pos = self._pos, self._pos + header.size
            if header.base_offset >= self._end_offset:
                # Written since the load began, unless older ones follow.
                beyond_bytes += header.size
                continue
            if beyond_bytes:
                self._on_damage(self._next_offset, beyond_bytes)
                beyond_bytes = 0
            self._next_offset = header.next_offset
            yield header, self._data[start : self._pos]

    @property
    def _left(self) -> int:
        return len(self._data) - self._pos + self._unread

    def _whole_batch(self, ahead: int = 0) -> BatchHeader | None:
        """The batch that begins here, or so many bytes ahead; None if there is none that can be
        trusted."""
        if not self._fill(ahead + BATCH_OVERHEAD):
            return None
        header = parse_header(self._data, self._pos + ahead)
        if (
            header.magic != MAGIC_V2
            or not BATCH_OVERHEAD <= header.size <= self._left - ahead
            or header.base_offset < self._base_offset
            or not self._fill(ahead + header.size)
            or compute_crc(self._data, self._pos + ahead, header.size) != header.crc
            or header.last_offset_delta < 0
            or header.record_count < 0
        ):
            return None
        return header

    def _fill(self, size: int) -> bool:
        """Whether that many bytes are at hand from here on."""
        missing = size - (len(self._data) - self._pos)
        if missing > 0 and self._unread:
            more = self._file.read(max(missing, READ_BYTES))
            self._unread = self._unread - len(more) if more else 0
            self._bytes = self._bytes[self._pos :] + more
            self._data = memoryview(self._bytes)
            self._pos = 0
        return len(self._data) - self._pos >= size

    def _pass_damage(self) -> None:
        """To the next batch that is whole, or to the end of the file."""
        begin = self._left
        if not self._pass_by_length():
            while self._left:
                self._pos += 1
                if self._seek_candidate() and self._whole_batch() is not None:
                    break
        self._on_damage(self._next_offset, begin - self._left)

    def _pass_by_length(self) -> bool:
        """Where only the inside is damaged, the length still leads to the next batch. Looked at
        first: the inside may hold bytes that look like a batch."""
        if not self._fill(BATCH_OVERHEAD):
            return False
        size = parse_header(self._data, self._pos).size
        if not BATCH_OVERHEAD <= size <= self._left:
            return False
        if size < self._left and self._whole_batch(size) is None:
            return False
        self._fill(size)
        self._pos += size
        return True

    def _seek_candidate(self) -> bool:
        """Moves to where the version byte of a batch could be; False where none is at hand."""
        if not self._fill(BATCH_OVERHEAD):
            self._pos = len(self._data)
            return False
        found = self._bytes.find(_MAGIC_BYTE, self._pos + MAGIC)
        if found < 0:
            self._pos = len(self._data) - MAGIC - 1
            return False
        self._pos = found - MAGIC
        return True
