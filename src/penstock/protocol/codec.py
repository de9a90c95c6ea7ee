"""Encodes and decodes generated entities; the only way bytes become messages and back.

A codec is compiled when an entity is first used in a version and kept for good: there are only so
many entities and versions. Which version to use is the caller's to know.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any, TypeAlias, TypeVar

from penstock.protocol.decoder import compile_decoder
from penstock.protocol.encoder import compile_encoder, compile_parts_encoder
from penstock.protocol.entity import Entity
from penstock.protocol.source import has_records
from penstock.protocol.wire import Buffer

T = TypeVar("T", bound=Entity)

Part: TypeAlias = Sized
"""A piece of an encoded message: bytes, or a records value passed through as it was given."""

_decoders: dict[tuple[type[Entity], int], Callable[[Buffer, int], tuple[Any, int]]] = {}
_encoders: dict[tuple[type[Entity], int], Callable[[Any], bytes]] = {}
_parts_encoders: dict[tuple[type[Entity], int], Callable[[Any], list[Part]]] = {}


def decoder(cls: type[T], version: int) -> Callable[[Buffer, int], tuple[T, int]]:
    key = (cls, version)
    found = _decoders.get(key)
    if found is None:
        check_version(cls, version)
        found = _decoders[key] = compile_decoder(cls, version)
    return found


def request_decoder(
    cls: type[T], version: int, elements_max: int
) -> Callable[[Buffer, int], tuple[T, int]]:
    """For bytes of a stranger: refuses more than so many elements, over all arrays together. To be
    kept by the caller."""
    check_version(cls, version)
    return compile_decoder(cls, version, elements_max)


def decode(cls: type[T], version: int, buf: Buffer, pos: int = 0) -> tuple[T, int]:
    """Gives the entity and the position behind it; raises ProtocolError on malformed bytes.

    buf holds one frame or record: it may be copied whole. Records stay views into it. A memoryview
    must be one of plain bytes.
    """
    return decoder(cls, version)(buf, pos)


def encoder(cls: type[T], version: int) -> Callable[[T], bytes]:
    key = (cls, version)
    found = _encoders.get(key)
    if found is None:
        check_version(cls, version)
        found = _encoders[key] = _compile_joined(cls, version)
    return found


def _compile_joined(cls: type[T], version: int) -> Callable[[T], bytes]:
    if not has_records(cls):
        return compile_encoder(cls, version)
    parts_of: Callable[[T], list[Any]] = parts_encoder(cls, version)
    return lambda message: b"".join(parts_of(message))


def encode(message: Entity, version: int) -> bytes:
    """Raises ValueError for values the version cannot carry."""
    return encoder(type(message), version)(message)


def parts_encoder(cls: type[T], version: int) -> Callable[[T], list[Part]]:
    key = (cls, version)
    found = _parts_encoders.get(key)
    if found is None:
        check_version(cls, version)
        found = _parts_encoders[key] = compile_parts_encoder(cls, version)
    return found


def encode_parts(message: Entity, version: int) -> list[Part]:
    """The encoded message with each records value as a part of its own, untouched."""
    return parts_encoder(type(message), version)(message)


def check_version(cls: type[Entity], version: int) -> None:
    first, last = cls.VERSIONS
    if not first <= version <= last:
        raise ValueError(f"{cls.NAME} has versions {first}-{last}, not {version}")
