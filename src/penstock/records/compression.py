"""The four codecs of record batches, in the framings that other Kafka clients read.

cramjam is loaded at the first compressed batch that has to be opened: most nodes never do.
Output is bounded, so that a small batch cannot be blown up into all of the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from typing import Any, Final

from penstock.model.error import ApiError, ErrorCode
from penstock.records.header import Buffer, CorruptBatch

NONE: Final = 0
GZIP: Final = 1
SNAPPY: Final = 2
LZ4: Final = 3
ZSTD: Final = 4

CODEC_NAMES: Final = ("none", "gzip", "snappy", "lz4", "zstd")

DECOMPRESSED_BYTES_MAX: Final = 256 * 1024 * 1024

XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
XERIAL_HEADER: Final = XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
XERIAL_BLOCK_BYTES: Final = 32 * 1024
_BLOCK_LENGTH: Final = Struct(">i")

_LZ4_DEFAULT_LEVEL: Final = 9
_LZ4_FAST_LEVEL: Final = 1
_GZIP_DEFAULT_LEVEL: Final = 6
_ZSTD_DEFAULT_LEVEL: Final = 3

_FIRST_GUESS: Final = 8
_GROWTH: Final = 4
_GUESS_BYTES_MIN: Final = 16 * 1024


def compress(codec: int, data: Buffer, level: int | None = None) -> bytes:
    """`level` has the meaning of Kafka's compression.*.level; snappy has none."""
    if codec == NONE:
        return bytes(data)
    function = _COMPRESS.get(codec)
    if function is None:
        raise _unknown_codec(codec)
    return function(data, level)


def decompress(codec: int, data: Buffer, limit_bytes: int = DECOMPRESSED_BYTES_MAX) -> Buffer:
    """Uncompressed data is handed back as it is, without a copy."""
    if codec == NONE:
        return data
    function = _DECOMPRESS.get(codec)
    if function is None:
        raise _unknown_codec(codec)
    return function(data, limit_bytes)


def _unknown_codec(codec: int) -> ApiError:
    return ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"unknown compression codec {codec}")


def _compress_gzip(data: Buffer, level: int | None) -> bytes:
    from cramjam import gzip

    return bytes(gzip.compress(data, _GZIP_DEFAULT_LEVEL if level in (None, -1) else level))


def _compress_zstd(data: Buffer, level: int | None) -> bytes:
    from cramjam import zstd

    return bytes(zstd.compress(data, _ZSTD_DEFAULT_LEVEL if level is None else level))


def _compress_lz4(data: Buffer, level: int | None) -> bytes:
    """Independent blocks, because Java clients refuse linked ones.

    Kafka's default level 9 does not select high compression but the fast compressor.
    """
    from cramjam import lz4

    if level is None or level == _LZ4_DEFAULT_LEVEL:
        level = _LZ4_FAST_LEVEL
    compressor = lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    compressor.compress(bytes(data))  # unlike the rest of cramjam, it takes nothing else
    return bytes(compressor.finish())


def _compress_snappy(data: Buffer, level: int | None) -> bytes:
    """The framing of Java's snappy streams: a header, then blocks led by their length."""
    from cramjam import snappy

    out = bytearray(XERIAL_HEADER)
    view = memoryview(data)
    for start in range(0, len(view), XERIAL_BLOCK_BYTES):
        block = bytes(snappy.compress_raw(view[start : start + XERIAL_BLOCK_BYTES]))
        out += _BLOCK_LENGTH.pack(len(block))
        out += block
    return bytes(out)


def _decompress_gzip(data: Buffer, limit_bytes: int) -> bytearray:
    from cramjam import gzip

    return _decompress_growing("gzip", gzip.decompress_into, data, limit_bytes)


def _decompress_lz4(data: Buffer, limit_bytes: int) -> bytearray:
    from cramjam import lz4

    return _decompress_growing("lz4", lz4.decompress_into, data, limit_bytes)


def _decompress_zstd(data: Buffer, limit_bytes: int) -> bytearray:
    from cramjam import zstd

    return _decompress_growing("zstd", zstd.decompress_into, data, limit_bytes)


def _decompress_growing(
    name: str, decompress_into: Callable[[Any, Any], int], data: Buffer, limit_bytes: int
) -> bytearray:
    """These formats do not have to tell their size, so the output buffer grows until it fits."""
    guess = min(limit_bytes, max(len(data) * _FIRST_GUESS, _GUESS_BYTES_MIN))
    while True:
        out = bytearray(guess)
        try:
            size = decompress_into(data, out)
        except Exception as error:
            if not _is_overflow(error):
                raise CorruptBatch(f"{name} data does not decompress: {error}") from error
            if guess >= limit_bytes:
                raise _too_large(limit_bytes) from error
            guess = min(limit_bytes, guess * _GROWTH)
        else:
            del out[size:]
            return out


def _is_overflow(error: Exception) -> bool:
    return "failed to write whole buffer" in str(error)


def _too_large(limit_bytes: int) -> CorruptBatch:
    return CorruptBatch(f"batch decompresses to more than {limit_bytes} bytes")


def _decompress_snappy(data: Buffer, limit_bytes: int) -> bytearray:
    view = memoryview(data)
    if bytes(view[: len(XERIAL_MAGIC)]) != XERIAL_MAGIC:
        return _snappy_block(view, limit_bytes)
    out = bytearray()
    for block in iter_xerial_blocks(view):
        out += _snappy_block(block, limit_bytes - len(out))
    return out


def iter_xerial_blocks(view: memoryview) -> Iterator[memoryview]:
    pos = len(XERIAL_HEADER)
    while pos < len(view):
        pos += _BLOCK_LENGTH.size
        if pos > len(view):
            raise CorruptBatch("snappy data ends inside a block length")
        length: int = _BLOCK_LENGTH.unpack_from(view, pos - _BLOCK_LENGTH.size)[0]
        if length < 0 or length > len(view) - pos:
            raise CorruptBatch(f"snappy block of {length} bytes exceeds its batch")
        yield view[pos : pos + length]
        pos += length


def _snappy_block(block: memoryview, limit_bytes: int) -> bytearray:
    from cramjam import snappy

    try:
        size = snappy.decompress_raw_len(block)
        if size > limit_bytes:
            raise _too_large(limit_bytes)
        out = bytearray(size)
        snappy.decompress_raw_into(block, out)
    except ApiError:
        raise
    except Exception as error:
        raise CorruptBatch(f"snappy data does not decompress: {error}") from error
    return out


_COMPRESS: Final[dict[int, Callable[[Buffer, int | None], bytes]]] = {
    GZIP: _compress_gzip,
    SNAPPY: _compress_snappy,
    LZ4: _compress_lz4,
    ZSTD: _compress_zstd,
}
_DECOMPRESS: Final[dict[int, Callable[[Buffer, int], bytearray]]] = {
    GZIP: _decompress_gzip,
    SNAPPY: _decompress_snappy,
    LZ4: _decompress_lz4,
    ZSTD: _decompress_zstd,
}
