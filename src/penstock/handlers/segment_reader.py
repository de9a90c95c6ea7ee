"""Reads the batches of one segment file, for a load, past what is damaged.

A coordinator that does not start for one flipped bit helps nobody: what is whole is read, and the
owner is told of every stretch that is not. Runs in a thread of its own and opens the file by
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

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


class SegmentReader:
    """Batches from `base_offset` on and below `end_offset`, whose checksums are right."""

    def __init__(
        self, file: BinaryIO, size: int, base_offset: int, end_offset: int, on_damage: OnDamage
    ) -> None:
        self._file = file
        self._unread = size
        self._bytes = b""
        self._data = memoryview(self._bytes)
        self._pos = 0
        self._next_offset = base_offset
        self._end_offset = end_offset
        self._on_damage = on_damage

    def __iter__(self) -> Iterator[Batch]:
        while self._next_offset < self._end_offset and self._left:
            header = self._whole_batch()
            if header is None:
                self._pass_damage()
                continue
            start, self._pos = self._pos, self._pos + header.size
            self._next_offset = header.next_offset
            yield header, self._data[start : self._pos]

    @property
    def _left(self) -> int:
        return len(self._data) - self._pos + self._unread

    def _whole_batch(self) -> BatchHeader | None:
        """The batch that begins here; None if there is none that can be trusted."""
        if not self._fill(BATCH_OVERHEAD):
            return None
        header = parse_header(self._data, self._pos)
        if not self._is_plausible(header) or not self._fill(header.size):
            return None
        if compute_crc(self._data, self._pos, header.size) != header.crc:
            return None
        return header

    def _is_plausible(self, header: BatchHeader) -> bool:
        return (
            header.magic == MAGIC_V2
            and BATCH_OVERHEAD <= header.size <= self._left
            and self._next_offset <= header.base_offset < self._end_offset
            and header.last_offset_delta >= 0
            and header.record_count >= 0
        )

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
        while self._left:
            self._pos += 1
            if not self._seek_candidate():
                continue
            if self._whole_batch() is not None:
                break
        self._on_damage(self._next_offset, begin - self._left)

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
