"""A numbered record of a log and where its entity is, imported when first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import NamedTuple

from penstock.protocol.entity import Entity


class RecordType(NamedTuple):
    number: int
    name: str
    module: str
    min_version: int
    max_version: int

    def entity(self) -> type[Entity]:
        return _load(self.module, self.name)


@cache
def _load(module: str, name: str) -> type[Entity]:
    found: type[Entity] = getattr(
        import_module(f"penstock.protocol.messages.records.{module}"), name
    )
    return found
