"""Reads DER, as far as certificates need it: values with their tags, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from penstock.model.error import PenstockError

OBJECT_ID: Final = 0x06
SEQUENCE: Final = 0x30


class DerError(PenstockError):
    """Not DER, or not what was expected there."""


class Value(NamedTuple):
    tag: int
    content: bytes
    whole: bytes
    """With tag and length."""


def values(data: bytes) -> Iterator[Value]:
    """Those that stand one behind the other."""
    position = 0
    while position < len(data):
        value = _value(data, position)
        yield value
        position += len(value.whole)


def only(data: bytes) -> Value:
    found = list(values(data))
    if len(found) != 1:
        raise DerError(f"{len(found)} values where one was expected")
    return found[0]


def object_id(content: bytes) -> str:
    """Dotted, as people write it."""
    numbers, number = [], 0
    for byte in content:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    if not numbers:
        raise DerError("an empty object id")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _value(data: bytes, position: int) -> Value:
    try:
        tag, length = data[position], data[position + 1]
        start = position + 2
        if length & 0x80:
            count = length & 0x7F
            length = int.from_bytes(data[start : start + count], "big")
            start += count
    except IndexError:
        raise DerError("cut off") from None
    end = start + length
    if end > len(data):
        raise DerError("cut off")
    return Value(tag, data[start:end], data[position:end])
