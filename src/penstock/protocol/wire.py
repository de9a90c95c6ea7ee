"""The few run-time routines that compiled codecs call off their fast path."""

from __future__ import annotations

from typing import NoReturn

from penstock.model.error import ProtocolError

Buffer = bytes | bytearray | memoryview


def read_varint(buf: Buffer, pos: int) -> tuple[int, int]:
    """Unsigned, at most 32 bits in five bytes; gives the value and the position behind it."""
    value = shift = 0
    while True:
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise ProtocolError("varint longer than five bytes")
    if value > 0xFFFFFFFF:
        raise ProtocolError("varint wider than 32 bits")
    return value, pos


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def skip_tags(buf: Buffer, pos: int) -> int:
    """Steps over a whole tag section that starts at pos with its count."""
    count, pos = read_varint(buf, pos)
    for _ in range(count):
        _, pos = read_varint(buf, pos)
        size, pos = read_varint(buf, pos)
        pos += size
    return pos


def join_tags(tags: list[tuple[int, bytes]]) -> bytes:
    """A whole tag section; the tags come in rising order."""
    out = [varint(len(tags))]
    for tag, body in tags:
        out += (varint(tag), varint(len(body)), body)
    return b"".join(out)


def reject_null(name: str) -> NoReturn:
    raise ProtocolError(f"{name} is null")


def reject_length(name: str) -> NoReturn:
    raise ProtocolError(f"{name} has a length that cannot be")


def reject_field(name: str, version: int) -> NoReturn:
    raise ValueError(f"version {version} cannot carry {name}")
