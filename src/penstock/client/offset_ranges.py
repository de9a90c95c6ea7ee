"""Offsets that are done beyond a committed one, as text for the commit's metadata. Pure."""

from __future__ import annotations

import base64
import zlib

METADATA_BYTES_MAX = 4_000
"""A little below Kafka's own `offset.metadata.max.bytes`, 4,096."""


class ScatteredError(Exception):
    """Too many separate offsets for a commit's metadata."""


def encode_ranges(offsets: set[int], origin: int) -> str:
    """Gaps and lengths in turn, as text short enough for a commit's metadata."""
    numbers: list[int] = []
    last = origin
    for start, stop in _ranges(sorted(offsets)):
        numbers += [start - last, stop - start]
        last = stop
    if not numbers:
        return ""
    packed = zlib.compress(b"".join(map(_varint, numbers)), 9)
    text = "r1:" + base64.b64encode(packed).decode()
    if len(text) > METADATA_BYTES_MAX:
        raise ScatteredError(f"{len(offsets)} offsets take more than a commit's metadata holds")
    return text


def encode_fitting(offsets: set[int], origin: int) -> tuple[str, set[int]]:
    """The text for as many of the lowest offsets as it has room for, and which these are."""
    chosen = sorted(offsets)
    while True:
        try:
            return encode_ranges(set(chosen), origin), set(chosen)
        except ScatteredError:
            chosen = chosen[: len(chosen) // 2]


def decode_ranges(text: str, origin: int) -> set[int]:
    if not text.startswith("r1:"):
        return set()
    numbers = _unvarint(zlib.decompress(base64.b64decode(text[3:])))
    found: set[int] = set()
    last = origin
    for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
        found.update(range(last + gap, last + gap + length))
        last += gap + length
    return found


def _ranges(offsets: list[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for offset in offsets:
        if found and found[-1][1] == offset:
            found[-1] = (found[-1][0], offset + 1)
        else:
            found.append((offset, offset + 1))
    return found


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _unvarint(packed: bytes) -> list[int]:
    numbers, number, shift = [], 0, 0
    for byte in packed:
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(number)
            number, shift = 0, 0
    return numbers
