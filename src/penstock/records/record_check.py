"""Whether the records of a batch can be read, found out in steps of bounded work and memory.

The batch is decompressed in pieces and walked over; nothing of it is kept. Whoever runs the steps
decides how many of them, and where: this knows no thread and no loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.model.error import ApiError, ErrorCode
from penstock.records.compression import DECOMPRESSED_BYTES_MAX, GZIP, LZ4, NONE, SNAPPY, ZSTD
from penstock.records.decompression import iter_pieces
from penstock.records.header import BATCH_OVERHEAD, BatchHeader, Buffer, InvalidRecord
from penstock.records.walk import COMPILED, FAULTS, Walk

_STEP_FIELDS: Final = 16 * 1024
"""Compiled code keeps every other thread waiting until it returns: after 0.1 ms, with these."""

# The unit of cost is a field that compiled code walks over: 3 or 4 ns.
_PIECE_COST: Final = 256
_FIELD_COST: Final = 1 if COMPILED else 80
_DECOMPRESS_COST: Final = {NONE: 0.0, GZIP: 1.5, SNAPPY: 0.5, LZ4: 0.5, ZSTD: 0.5}
"""Of a byte that comes out."""
_SNAPPY_BLOCK_COST: Final = 2
"""Of a byte that goes in: a snappy block cannot be decompressed in parts."""


class RecordCheck:
    """`rejected` and `newest` are final when `steps` has ended."""

    def __init__(
        self,
        batch: Buffer,
        header: BatchHeader,
        *,
        keyed: bool,
        timed: bool = False,
        earliest: int = 0,
        latest: int = 0,
    ) -> None:
        self._header = header
        self._body = memoryview(batch)[BATCH_OVERHEAD : header.size]
        self._walk = Walk(
            header.record_count, header.base_timestamp, keyed, timed, earliest, latest
        )
        self.body_bytes = 0

    @property
    def newest(self) -> int:
        newest: int = self._walk.newest
        return newest

    @property
    def rejected(self) -> list[int]:
        return self._walk.rejected

    @property
    def times_rejected(self) -> bool:
        return self._walk.times_rejected

    def steps(self) -> Iterator[int]:
        """What each step cost; InvalidRecord as soon as one finds what cannot be read."""
        walk, codec = self._walk, self._header.codec
        if codec == SNAPPY:
            yield len(self._body) * _SNAPPY_BLOCK_COST
        rest = b""
        for piece in iter_pieces(codec, self._body):
            self._count(len(piece))
            yield _PIECE_COST + int(len(piece) * _DECOMPRESS_COST[codec])
            data = rest + piece if rest else piece
            position, before = 0, -1
            while before < position < len(data):
                before, fields = position, walk.fields
                position = walk.step(data, position, len(data), _STEP_FIELDS)
                if walk.fault:
                    raise InvalidRecord(FAULTS[walk.fault])
                if walk.done and position < len(data):
                    raise InvalidRecord("bytes behind the last record of the batch")
                yield (walk.fields - fields) * _FIELD_COST
            rest = bytes(data[position:])
        if rest or not walk.done:
            raise InvalidRecord(f"batch ends before record {self._header.record_count}")

    def _count(self, size: int) -> None:
        self.body_bytes += size
        if self.body_bytes > DECOMPRESSED_BYTES_MAX:
            # Producers answer this code by splitting the batch.
            raise ApiError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"batch decompresses to more than {DECOMPRESSED_BYTES_MAX} bytes",
            )
