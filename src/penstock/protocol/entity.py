"""What every generated message and struct has in common, and how its fields are described.

The schema of an entity covers all of its versions at once. Nothing here reads or writes bytes:
the codec compiles that from the schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

Versions = tuple[int, int]
"""First and last version, both included."""

ZERO_OF_TYPE: object = ...
"""Default of a field whose definition names none: 0, False, "", b"", an empty list or struct."""


class Field(NamedTuple):
    name: str
    type: str | type[Entity]
    versions: Versions
    array: bool = False
    nullable: Versions | None = None
    tag: int | None = None
    tagged: Versions | None = None
    ignorable: bool = False
    default: object = ZERO_OF_TYPE
    compact: bool = True
    """False for the one string that keeps its 16-bit length in flexible versions (client id)."""

    def in_version(self, version: int) -> bool:
        return self.versions[0] <= version <= self.versions[1]

    def nullable_in(self, version: int) -> bool:
        return self.nullable is not None and self.nullable[0] <= version <= self.nullable[1]

    def tagged_in(self, version: int) -> bool:
        return self.tagged is not None and self.tagged[0] <= version <= self.tagged[1]

    @property
    def optional_struct(self) -> bool:
        """A tagged struct that is left out is None here: building an empty one per element of a
        fetch response would cost more than everything else in it."""
        return self.tag is not None and not self.array and not isinstance(self.type, str)

    @property
    def tells_null(self) -> bool:
        """Whoever misses a nullable tagged struct takes it for an empty one: None is written, as a
        zero, and what is there has a one before it."""
        return self.optional_struct and self.nullable is not None


class Entity:
    """A message, header, record or nested struct."""

    __slots__ = ()

    NAME: ClassVar[str]
    VERSIONS: ClassVar[Versions]
    FLEXIBLE: ClassVar[int | None]
    """First flexible version, or None."""
    API_KEY: ClassVar[int | None] = None
    SCHEMA: ClassVar[tuple[Field, ...]]

    def _values(self) -> Iterator[tuple[str, object]]:
        return ((field.name, getattr(self, field.name)) for field in self.SCHEMA)

    def __eq__(self, other: object) -> bool:
        if self.__class__ is not other.__class__:
            return NotImplemented
        return all(value == getattr(other, name) for name, value in self._values())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._values())
        return f"{self.__class__.__name__}({inside})"
