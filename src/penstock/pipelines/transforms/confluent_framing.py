"""What Confluent's serializers write before a value: a magic byte, the id of the schema, and for
Protobuf where the message stands in its file. The id is not looked up anywhere.
"""

from __future__ import annotations

from typing import Any, Final

from penstock.pipelines.transforms.undecodable import NotProtobuf, Undecodable

PREFIX_BYTES: Final = 5
_INDEXES_MAX = 64


def behind_prefix(value: bytes, error: type[Undecodable]) -> bytes:
    if len(value) < PREFIX_BYTES or value[0] != 0:
        raise error("there is no magic byte and schema id before it")
    return bytes(value[PREFIX_BYTES:])


def message_indexes(content: bytes) -> tuple[tuple[int, ...], bytes]:
    """The place of the message, and what follows; a single 0 byte stands for the first message."""
    count, at = _varint(content, 0)
    if not 0 <= count <= _INDEXES_MAX:
        raise NotProtobuf("the message index before it is damaged")
    if count == 0:
        return (0,), content[at:]
    indexes = []
    for _ in range(count):
        index, at = _varint(content, at)
        indexes.append(index)
    return tuple(indexes), content[at:]


def indexes_of(descriptor: Any) -> tuple[int, ...]:
    """Where the message stands: in its file, then in the message that holds it, and so on."""
    holder = descriptor.containing_type
    if holder is None:
        among = [each.full_name for each in descriptor.file.message_types_by_name.values()]
        return (among.index(descriptor.full_name),)
    among = [each.full_name for each in holder.nested_types]
    return (*indexes_of(holder), among.index(descriptor.full_name))


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Zigzag-encoded, as Kafka's own."""
    number = shift = 0
    while at < len(content) and shift < 64:
        byte = content[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7
    raise NotProtobuf("the message index before it is damaged")
