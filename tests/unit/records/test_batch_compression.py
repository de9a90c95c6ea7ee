"""Codecs: framings, bounds and damaged input."""

from __future__ import annotations

import gzip
import random
import sys
from subprocess import run

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.error import ApiError, ErrorCode
from penstock.records.compression import (
    GZIP,
    LZ4,
    NONE,
    SNAPPY,
    XERIAL_BLOCK_BYTES,
    ZSTD,
    compress,
    decompress,
)
from penstock.records.header import CorruptBatch

REAL = [GZIP, SNAPPY, LZ4, ZSTD]
TEXT = b"".join(b'{"id":%d,"name":"user %d"}\n' % (i, i * 7919 % 1000) for i in range(9000))


@pytest.mark.parametrize("codec", [NONE, *REAL])
@given(data=st.binary(max_size=3000), times=st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_round_trip(codec: int, data: bytes, times: int) -> None:
    assert decompress(codec, compress(codec, data * times)) == data * times


@pytest.mark.parametrize(
    ("codec", "levels"), [(GZIP, (-1, 1, 9)), (LZ4, (1, 9, 17)), (ZSTD, (-131072, -5, 3, 22))]
)
def test_levels(codec: int, levels: tuple[int, ...]) -> None:
    for level in levels:
        assert decompress(codec, compress(codec, TEXT, level)) == TEXT
    assert compress(codec, TEXT, levels[-1]) != compress(codec, TEXT, levels[-2])


@pytest.mark.parametrize("codec", REAL)
def test_views_are_taken_without_conversion(codec: int) -> None:
    packed = b"##" + compress(codec, memoryview(TEXT)) + b"##"
    assert decompress(codec, memoryview(packed)[2:-2]) == TEXT


@pytest.mark.parametrize("codec", REAL)
def test_output_is_bounded(codec: int) -> None:
    bomb = compress(codec, bytes(8_000_000))
    assert len(decompress(codec, bomb, 8_000_000)) == 8_000_000
    for limit in (0, 1000, 7_999_999):
        with pytest.raises(CorruptBatch, match=f"more than {limit} bytes|more than"):
            decompress(codec, bomb, limit)


def test_java_reads_only_independent_lz4_blocks() -> None:
    frame = compress(LZ4, TEXT)
    assert frame[:4] == b"\x04\x22\x4d\x18"
    version, independent, content_size = frame[4] >> 6, frame[4] >> 5 & 1, frame[4] >> 3 & 1
    assert (version, independent, content_size) == (1, 1, 0)


def test_linked_lz4_blocks_are_read_all_the_same() -> None:
    assert decompress(LZ4, bytes(cramjam.lz4.compress(TEXT))) == TEXT


def test_snappy_is_written_as_java_does_and_read_raw_too() -> None:
    framed = compress(SNAPPY, TEXT)
    assert framed[:16] == b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
    first = int.from_bytes(framed[16:20], "big")
    assert (
        bytes(cramjam.snappy.decompress_raw(framed[20 : 20 + first])) == TEXT[:XERIAL_BLOCK_BYTES]
    )
    assert decompress(SNAPPY, bytes(cramjam.snappy.compress_raw(TEXT))) == TEXT


def test_gzip_is_plain_gzip() -> None:
    assert gzip.decompress(compress(GZIP, TEXT)) == TEXT
    assert decompress(GZIP, gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:])) == TEXT


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codecs_are_refused(codec: int) -> None:
    for function in (compress, decompress):
        with pytest.raises(ApiError) as caught:
            function(codec, b"")
        assert caught.value.code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


@pytest.mark.parametrize("codec", REAL)
def test_damage_raises_only_corrupt_batch(codec: int) -> None:
    chance = random.Random(codec)
    packed = compress(codec, TEXT[:20_000])
    for _ in range(300):
        damaged = bytearray(packed)
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        if chance.random() < 0.3:
            del damaged[chance.randrange(len(damaged)) :]
        try:
            decompress(codec, damaged, 1 << 20)
        except CorruptBatch:
            pass


@pytest.mark.parametrize("codec", REAL)
def test_truncation_is_noticed(codec: int) -> None:
    packed = compress(codec, TEXT)
    with pytest.raises(CorruptBatch):
        decompress(codec, packed[: len(packed) // 2])
    with pytest.raises(CorruptBatch):
        decompress(codec, packed[:-1])


def test_importing_records_loads_no_codec() -> None:
    code = (
        "import sys, penstock.records.control;"
        "print([m for m in ('cramjam', 'argparse', 'importlib.metadata') if m in sys.modules])"
    )
    result = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
