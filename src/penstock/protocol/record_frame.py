"""How typed records are wrapped inside log records.

The metadata log: frame version, record number and record version as varints, then the body.
Coordinator logs: a key is its type as int16 and a body, a value is its version as int16 and a body.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from struct import Struct, error
from typing import Any

from penstock.model.error import ProtocolError
from penstock.protocol.codec import check_version, decode, decoder, encode
from penstock.protocol.encoder import compile_encoder
from penstock.protocol.entity import Entity
from penstock.protocol.record_table import (
    GROUP_KEYS,
    GROUP_VALUES,
    METADATA,
    SHARE_KEYS,
    SHARE_VALUES,
    TRANSACTION_KEYS,
    TRANSACTION_VALUES,
)
from penstock.protocol.record_type import RecordType
from penstock.protocol.wire import Buffer, read_varint, varint

METADATA_FRAME_VERSION = 1


class UnknownRecordType(ProtocolError):
    """Of a newer release, perhaps: a reader may pass it over."""


_int16 = Struct(">h")

RecordTable = dict[int, RecordType]

_metadata_decoders: dict[bytes, tuple[str, Callable[[Buffer, int], tuple[Entity, int]]]] = {}
_key_encoders: dict[type[Entity], Callable[[Any], bytes]] = {}
_value_encoders: dict[tuple[type[Entity], int], Callable[[Any], bytes]] = {}


def _by_number(rows: tuple[RecordType, ...]) -> RecordTable:
    return {row.number: row for row in rows}


_METADATA = _by_number(METADATA)


class CoordinatorLog(Enum):
    """Each coordinator numbers its record types by itself."""

    GROUP = "__consumer_offsets"
    TRANSACTION = "__transaction_state"
    SHARE = "__share_group_state"


_KEYS = {
    CoordinatorLog.GROUP: _by_number(GROUP_KEYS),
    CoordinatorLog.TRANSACTION: _by_number(TRANSACTION_KEYS),
    CoordinatorLog.SHARE: _by_number(SHARE_KEYS),
}
_VALUES = {
    CoordinatorLog.GROUP: _by_number(GROUP_VALUES),
    CoordinatorLog.TRANSACTION: _by_number(TRANSACTION_VALUES),
    CoordinatorLog.SHARE: _by_number(SHARE_VALUES),
}


def encode_metadata_record(message: Entity, version: int | None = None) -> bytes:
    """In the newest version unless one is named."""
    if version is None:
        version = message.VERSIONS[1]
    head = varint(METADATA_FRAME_VERSION) + varint(_number_of(message)) + varint(version)
    return head + encode(message, version)


def decode_metadata_record(data: Buffer) -> Entity:
    """What nearly every record begins with, three numbers of a byte each, is looked up whole: a
    start reads hundreds of thousands of them."""
    known = _metadata_decoders.get(bytes(data[:3]))
    if known is None:
        return _decode_new_metadata_record(data)
    name, decode_body = known
    message, behind = decode_body(data, 3)
    if behind != len(data):
        raise ProtocolError(f"{len(data) - behind} bytes left behind {name}")
    return message


def _decode_new_metadata_record(data: Buffer) -> Entity:
    try:
        frame_version, pos = read_varint(data, 0)
        number, pos = read_varint(data, pos)
        version, pos = read_varint(data, pos)
    except IndexError as cause:
        raise ProtocolError("truncated metadata record") from cause
    if frame_version != METADATA_FRAME_VERSION:
        raise ProtocolError(f"metadata record frame version {frame_version}")
    message = _decode_body(_METADATA, number, version, data, pos)
    if pos == 3:
        row = _METADATA[number]
        _metadata_decoders[bytes(data[:3])] = (row.name, decoder(row.entity(), version))
    return message


def encode_coordinator_key(key: Entity) -> bytes:
    encoder = _key_encoders.get(type(key)) or _compile_key(key)
    return encoder(key)


def _compile_key(key: Entity) -> Callable[[Any], bytes]:
    cls = type(key)
    encoder = compile_encoder(cls, cls.VERSIONS[1], prefix=_number_of(key))
    return _key_encoders.setdefault(cls, encoder)


def decode_coordinator_key(log: CoordinatorLog, data: Buffer) -> Entity:
    """Raises UnknownRecordType for a type this release does not know."""
    number = _read_int16(data)
    row = _KEYS[log].get(number)
    if row is None:
        raise UnknownRecordType(f"unknown key type {number} in {log.value}")
    return _decode_whole(row, row.max_version, data, 2)


def encode_coordinator_value(value: Entity, version: int | None = None) -> bytes:
    cls = type(value)
    if version is None:
        version = cls.VERSIONS[1]
    encoder = _value_encoders.get((cls, version)) or _compile_value(cls, version)
    return encoder(value)


def _compile_value(cls: type[Entity], version: int) -> Callable[[Any], bytes]:
    check_version(cls, version)
    encoder = compile_encoder(cls, version, prefix=version)
    return _value_encoders.setdefault((cls, version), encoder)


def decode_coordinator_value(log: CoordinatorLog, key: Entity | int, data: Buffer) -> Entity:
    """The value that belongs to a key, which is given decoded or as its type number."""
    number = key if isinstance(key, int) else _number_of(key)
    return _decode_body(_VALUES[log], number, _read_int16(data), data, 2)


def _number_of(message: Entity) -> int:
    number = message.API_KEY
    if number is None:
        raise ValueError(f"{message.NAME} has no record number")
    return number


def _read_int16(data: Buffer) -> int:
    try:
        number: int = _int16.unpack_from(data)[0]
    except error as cause:
        raise ProtocolError("truncated coordinator record") from cause
    return number


def _decode_body(table: RecordTable, number: int, version: int, data: Buffer, pos: int) -> Entity:
    row = table.get(number)
    if row is None:
        raise ProtocolError(f"unknown record number {number}")
    if not row.min_version <= version <= row.max_version:
        raise ProtocolError(f"{row.name} version {version}")
    return _decode_whole(row, version, data, pos)


def _decode_whole(row: RecordType, version: int, data: Buffer, pos: int) -> Entity:
    message, behind = decode(row.entity(), version, data, pos)
    if behind != len(data):
        raise ProtocolError(f"{len(data) - behind} bytes left behind {row.name}")
    return message
