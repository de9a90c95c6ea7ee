"""Where producers put a key among partitions: the two ways that clients have by default."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Mapping

Partitioner = Callable[[bytes, int], int]


def murmur2(key: bytes, partitions: int) -> int:
    """As Kafka's own producer does."""
    return (_murmur2(key) & 0x7FFFFFFF) % partitions


def crc32(key: bytes, partitions: int) -> int:
    """As librdkafka does unless told otherwise, and with it most clients that are not Java."""
    return zlib.crc32(key) % partitions


PARTITIONERS: tuple[Partitioner, ...] = (murmur2, crc32)


def partitioners_of(
    keys: Mapping[int, Iterable[bytes]], counts: Collection[int]
) -> tuple[Partitioner, ...]:
    """Those by which all of these keys are where they are, among as many partitions as one of the
    counts says. Of few keys, or one partition, that may be both."""
    placed = [(partition, key) for partition, some in keys.items() for key in some]
    return tuple(
        each
        for each in PARTITIONERS
        if all(any(each(key, n) == partition for n in counts) for partition, key in placed)
    )


def _murmur2(key: bytes) -> int:
    mask, mix = 0xFFFFFFFF, 0x5BD1E995
    hashed = (0x9747B28C ^ len(key)) & mask
    whole = len(key) & ~3
    for start in range(0, whole, 4):
        word = int.from_bytes(key[start : start + 4], "little") * mix & mask
        word = (word ^ word >> 24) * mix & mask
        hashed = (hashed * mix & mask) ^ word
    if whole < len(key):
        hashed = (hashed ^ int.from_bytes(key[whole:], "little")) * mix & mask
    hashed = (hashed ^ hashed >> 13) * mix & mask
    return hashed ^ hashed >> 15
