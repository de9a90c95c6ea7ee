"""Hypothesis strategies for entities, derived from their schemas, and the list of all entities."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from hypothesis import strategies as st

import penstock.protocol.messages
from penstock.protocol.entity import Entity, Field

RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}

SCALARS: dict[str, st.SearchStrategy[object]] = {
    "bool": st.booleans(),
    "float64": st.floats(allow_nan=False),
    # Now and then longer than one length byte can tell.
    "string": st.text(max_size=6) | st.integers(120, 140).map(lambda n: "é" * n),
    "bytes": st.binary(max_size=6) | st.integers(120, 140).map(bytes),
    "records": st.binary(max_size=6) | st.integers(120, 140).map(bytes),
    "uuid": st.binary(min_size=16, max_size=16),
} | {name: st.integers(low, high) for name, (low, high) in RANGES.items()}


def entities(cls: type[Entity], version: int) -> st.SearchStrategy[Entity]:
    """Entities that use only what the version can carry."""
    fields = {
        field.name: _field_values(field, version)
        for field in cls.SCHEMA
        if field.in_version(version)
    }
    return st.builds(cls, **fields)


def _field_values(field: Field, version: int) -> st.SearchStrategy[object]:
    values: st.SearchStrategy[object]
    if isinstance(field.type, str):
        values = SCALARS[field.type]
    else:
        values = entities(field.type, version)
    if field.array:
        values = st.lists(values, max_size=3)
    elif field.optional_struct:
        # An empty tagged struct is not sent at all, so it would come back as None.
        empty = field.type()  # type: ignore[operator]
        values = values.map(lambda value: None if value == empty else value)
    return st.none() | values if field.nullable_in(version) else values


def all_modules() -> Iterator[str]:
    package = penstock.protocol.messages
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield found.name


def top_level_entities() -> list[type[Entity]]:
    """Every message, header and record; nested structs are reached through them."""
    found: list[type[Entity]] = []
    for name in all_modules():
        classes = [
            value
            for value in vars(importlib.import_module(name)).values()
            if isinstance(value, type) and issubclass(value, Entity) and value is not Entity
        ]
        nested = {field.type for cls in classes for field in cls.SCHEMA}
        found += [cls for cls in classes if cls not in nested]
    return found


def all_versions() -> list[tuple[type[Entity], int]]:
    return [
        (cls, version)
        for cls in top_level_entities()
        for version in range(cls.VERSIONS[0], cls.VERSIONS[1] + 1)
    ]


def name_of(value: object) -> str | None:
    return value.__name__ if isinstance(value, type) else None
