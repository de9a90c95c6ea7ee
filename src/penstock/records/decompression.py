"""Decompressing a batch in pieces of bounded size, so that a small one cannot fill the memory.

`compression` does it at one go where the whole body is wanted. Here each codec's own library reads
as a stream, and whatever follows the stream, or lacks at its end, is a fault: readers differ in
what they make of it. Nothing but InvalidRecord is raised: the checksum of the batch was right, so
these are the bytes that its producer sent.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Final

from penstock.records.compression import (
    GZIP,
    LZ4,
    NONE,
    SNAPPY,
    XERIAL_HEADER,
    XERIAL_MAGIC,
    ZSTD,
    iter_xerial_blocks,
)
from penstock.records.header import RATIO_MAX, InvalidRecord

PIECE_BYTES: Final = 128 * 1024
_INPUT_BYTES: Final = 64 * 1024
"""What is not used up of an input is copied by these libraries, so they get it in parts."""

_GZIP_FORMAT: Final = 31
_LZ4_FLAGS: Final = 4
_LZ4_INDEPENDENT: Final = 0x20
_ZSTD_DESCRIPTOR: Final = 4
_ZSTD_RLE: Final = 1

_MAGIC: Final = {GZIP: b"\x1f\x8b\x08", LZ4: b"\x04\x22\x4d\x18", ZSTD: b"\x28\xb5\x2f\xfd"}

Pieces = Iterator[bytes | bytearray | memoryview]


def iter_pieces(codec: int, data: memoryview) -> Pieces:
    """What `data` decompresses to; uncompressed data as it is. The header was checked: it is one of
    the five codecs."""
    if codec == NONE:
        yield data
        return
    name, pieces = _PIECES[codec]
    try:
        yield from pieces(data)
    except InvalidRecord:
        raise
    except Exception as error:
        raise InvalidRecord(f"{name} data does not decompress: {error}") from error


def begins_as(codec: int, data: memoryview) -> bool:
    """Whether the first bytes are those of the codec; nothing is decompressed."""
    if codec == SNAPPY:
        # Without the framing of Java there is no magic, but the size comes first.
        return bool(data) and (bytes(data[:8]) == XERIAL_MAGIC or _snappy_size(data) > 0)
    if codec == LZ4 and (len(data) <= _LZ4_FLAGS or not data[_LZ4_FLAGS] & _LZ4_INDEPENDENT):
        return False
    magic = _MAGIC.get(codec, b"")
    return bytes(data[: len(magic)]) == magic


def _snappy_size(data: memoryview) -> int:
    """0 where the block could not hold what it declares."""
    size = shift = 0
    for byte in data[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return size if size <= len(data) * RATIO_MAX[SNAPPY] else 0
    return 0


def _inputs(data: memoryview) -> Iterator[memoryview]:
    for start in range(0, len(data), _INPUT_BYTES):
        yield data[start : start + _INPUT_BYTES]


def _gzip_pieces(data: memoryview) -> Pieces:
    """Streams may follow each other, as everywhere with gzip."""
    stream = zlib.decompressobj(_GZIP_FORMAT)
    for part in _inputs(data):
        left: bytes | memoryview = part
        while left:
            if stream.eof:
                stream = zlib.decompressobj(_GZIP_FORMAT)
            yield stream.decompress(left, PIECE_BYTES)
            left = stream.unused_data if stream.eof else stream.unconsumed_tail
    # What the last piece had no room for is still inside.
    while not stream.eof:
        piece = stream.decompress(b"", PIECE_BYTES)
        if not piece:
            raise InvalidRecord("gzip data ends too early")
        yield piece


def _lz4_pieces(data: memoryview) -> Pieces:
    from lz4.frame import LZ4FrameDecompressor

    if len(data) > _LZ4_FLAGS and not data[_LZ4_FLAGS] & _LZ4_INDEPENDENT:
        raise InvalidRecord("lz4 data has linked blocks, which Java clients do not read")
    stream = LZ4FrameDecompressor()
    for part in _inputs(data):
        if stream.eof:
            raise InvalidRecord("bytes behind the lz4 frame")
        yield stream.decompress(part, max_length=PIECE_BYTES)
        while not stream.eof and not stream.needs_input:
            yield stream.decompress(b"", max_length=PIECE_BYTES)
    if not stream.eof:
        raise InvalidRecord("lz4 data ends too early")
    if stream.unused_data:
        raise InvalidRecord("bytes behind the lz4 frame")


def _snappy_pieces(data: memoryview) -> Pieces:
    if bytes(data[: len(XERIAL_MAGIC)]) != XERIAL_MAGIC:
        yield _snappy_block(data)
        return
    if len(data) < len(XERIAL_HEADER):
        raise InvalidRecord("snappy data ends inside its header")
    for block in iter_xerial_blocks(data):
        yield _snappy_block(block)


def _snappy_block(block: memoryview) -> bytearray:
    from cramjam import snappy

    size = snappy.decompress_raw_len(block)
    if size > len(block) * RATIO_MAX[SNAPPY]:
        raise InvalidRecord(f"snappy block of {len(block)} bytes declares {size}")
    out = bytearray(size)
    snappy.decompress_raw_into(block, out)
    return out


def _zstd_pieces(data: memoryview) -> Pieces:
    """Block by block: no block holds more than 128 KiB, however few bytes it takes."""
    from zstandard import ZstdDecompressor

    if not data:
        raise InvalidRecord("zstd data is missing")
    position = 0
    while position < len(data):
        stream = ZstdDecompressor().decompressobj()
        for end in _zstd_blocks(data, position):
            yield stream.decompress(data[position:end])
            position = end
        if not stream.eof:
            raise InvalidRecord("zstd data ends too early")


def _zstd_blocks(data: memoryview, start: int) -> Iterator[int]:
    """Where each block of the frame ends, the frame's header being part of the first."""
    descriptor = data[start + _ZSTD_DESCRIPTOR]
    single = descriptor >> 5 & 1
    position = start + _ZSTD_DESCRIPTOR + 1 + (not single)
    position += (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
    checksum_bytes = 4 if descriptor & 4 else 0
    is_last = 0
    while not is_last:
        block = int.from_bytes(data[position : position + 3], "little")
        is_last, kind, size = block & 1, block >> 1 & 3, block >> 3
        position += 3 + (1 if kind == _ZSTD_RLE else size) + (checksum_bytes if is_last else 0)
        if position > len(data):
            raise InvalidRecord("zstd data ends too early")
        yield position


_PIECES: Final[dict[int, tuple[str, Callable[[memoryview], Pieces]]]] = {
    GZIP: ("gzip", _gzip_pieces),
    SNAPPY: ("snappy", _snappy_pieces),
    LZ4: ("lz4", _lz4_pieces),
    ZSTD: ("zstd", _zstd_pieces),
}
