"""Turns our entities into kio's, a second and independent implementation of the protocol.

kio has one class per version and richer types (timedelta, datetime, enums); only values that
those can hold are drawn for it.
"""

from __future__ import annotations

import dataclasses
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any, get_args
from uuid import UUID

from hypothesis import strategies as st
from kio.index import KioIndexError
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_writer

from penstock.protocol.entity import Entity, Field
from tests.wire.wire_strategy import SCALARS

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

NARROW: dict[str, st.SearchStrategy[object]] = {
    "error_code": st.sampled_from([code.value for code in KioErrorCode if code.value <= 100]),
    "timedelta_i32": st.integers(0, 10**9),
    "timedelta_i64": st.integers(0, 10**9),
    "datetime_i64": st.integers(0, 10**12),
}


def squeeze(name: str) -> str:
    return name.replace("_", "").lower()


def _paths() -> dict[tuple[str, int], str]:
    """Where kio keeps each entity, by its Kafka name in small letters and its version."""
    found = {}
    for versions in schema_name_map.values():
        for version, kinds in versions.items():
            for path in kinds.values():
                found[squeeze(path.rpartition(":")[2]), version] = path
    return found


PATHS = _paths()


def kio_class(cls: type[Entity], version: int) -> type[Any] | None:
    path = PATHS.get((squeeze(cls.NAME), version))
    if path is None:
        return None
    module, _, name = path.partition(":")
    try:
        found: type[Any] = getattr(__import__(module, fromlist=[name]), name)
    except (ImportError, KioIndexError):
        return None
    return found


def pairs(
    cls: type[Entity], version: int, kio_cls: type[Any]
) -> list[tuple[Field, dataclasses.Field[Any]]]:
    """Fields of both, which stand in the same order; kio drops a trailing unit from its names."""
    ours = [field for field in cls.SCHEMA if field.in_version(version)]
    found = list(zip(ours, dataclasses.fields(kio_cls), strict=True))
    for field, item in found:
        assert squeeze(field.name).startswith(squeeze(item.name)), (cls, field, item)
    return found


def inner_class(item: dataclasses.Field[Any]) -> type[Any]:
    """The struct behind tuple[...] and | None."""
    kind: Any = item.type
    while not dataclasses.is_dataclass(kind):
        kind = next(arg for arg in get_args(kind) if arg not in (None, ..., type(None)))
    assert isinstance(kind, type)
    return kind


def drawable(cls: type[Entity], version: int, kio_cls: type[Any]) -> st.SearchStrategy[Entity]:
    fields = {
        field.name: _values(field, version, item) for field, item in pairs(cls, version, kio_cls)
    }
    return st.builds(cls, **fields)


def _values(field: Field, version: int, item: dataclasses.Field[Any]) -> st.SearchStrategy[object]:
    values: st.SearchStrategy[object]
    if isinstance(field.type, str):
        values = NARROW.get(item.metadata["kafka_type"], SCALARS[field.type])
    else:
        values = drawable(field.type, version, inner_class(item))
    if field.array:
        values = st.lists(values, max_size=3)
    return st.none() | values if field.nullable_in(version) else values


def to_kio(message: Entity, version: int, kio_cls: type[Any]) -> Any:
    arguments = {}
    for field, item in pairs(type(message), version, kio_cls):
        value = getattr(message, field.name)
        if value is None and field.optional_struct and not field.nullable:
            continue
        arguments[item.name] = _kio_value(field, version, item, value)
    return kio_cls(**arguments)


def _kio_value(field: Field, version: int, item: dataclasses.Field[Any], value: Any) -> Any:
    if value is None:
        return None
    if field.array:
        return tuple(_kio_scalar(version, item, element) for element in value)
    return _kio_scalar(version, item, value)


def _kio_scalar(version: int, item: dataclasses.Field[Any], value: Any) -> Any:
    if isinstance(value, Entity):
        return to_kio(value, version, inner_class(item))
    kind = item.metadata["kafka_type"]
    if kind == "error_code":
        return KioErrorCode(value)
    if re.match("timedelta", kind):
        return timedelta(milliseconds=value)
    if kind == "datetime_i64":
        return EPOCH + timedelta(milliseconds=value)
    return UUID(bytes=value) if kind == "uuid" else value


def kio_encode(message: Entity, version: int, kio_cls: type[Any]) -> bytes:
    with io.BytesIO() as buffer:
        entity_writer(kio_cls)(buffer, to_kio(message, version, kio_cls))
        return buffer.getvalue()
