"""The few run-time routines that compiled codecs call off their fast path."""

from __future__ import annotations

from typing import NoReturn

from penstock.model.error import ProtocolError

Buffer = bytes | bytearray | memoryview


def read_varint(buf: Buffer, pos: int) -> tuple[int, int]:
    """Unsigned, at most 32 bits in five bytes; gives the value and the position behind it.

    Unrolled: lengths of records take two or three bytes, and every partition has one.
    """
    first = buf[pos]
    if first < 0x80:
        return first, pos + 1
    second = buf[pos + 1]
    if second < 0x80:
        return first & 0x7F | second << 7, pos + 2
    third = buf[pos + 2]
    if third < 0x80:
        return first & 0x7F | (second & 0x7F) << 7 | third << 14, pos + 3
    fourth = buf[pos + 3]
    low = first & 0x7F | (second & 0x7F) << 7 | (third & 0x7F) << 14
    if fourth < 0x80:
        return low | fourth << 21, pos + 4
    fifth = buf[pos + 4]
    if fifth > 0x0F:
        raise ProtocolError("varint wider than 32 bits")
    return low | (fourth & 0x7F) << 21 | fifth << 28, pos + 5


def varint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    if value < 0x200000:
        return bytes((value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def skip_tags(buf: Buffer, pos: int, room: int) -> tuple[int, int]:
    """Steps over a whole tag section that starts at pos with its count. `room` is how many there
    may be; gives the position behind them and how many there may be after that."""
    count, pos = read_varint(buf, pos)
    if count > room:
        raise ProtocolError(f"{count} tagged fields are too many")
    for _ in range(count):
        _, pos = read_varint(buf, pos)
        size, pos = read_varint(buf, pos)
        pos += size
    return pos, room - count


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


def reject_elements(label: str, elements_max: int | None) -> NoReturn:
    if elements_max is None:
        raise ProtocolError(f"{label} has an array longer than its bytes")
    raise ProtocolError(f"{label} has more than {elements_max} elements, or more than bytes")


def reject_field(name: str, version: int) -> NoReturn:
    raise ValueError(f"version {version} cannot carry {name}")
