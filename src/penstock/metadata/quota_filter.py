"""Which quotas a question means: entities by type, by name, or as the default of their type."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.metadata.security import QuotaEntity

ENTITY_TYPES = ("user", "client-id", "ip")


@dataclass(frozen=True, slots=True)
class QuotaFilter:
    """`exact` has a name for a type, None for the default; `types` are asked for by any name."""

    exact: frozenset[tuple[str, str | None]]
    types: frozenset[str]
    strict: bool

    def matches(self, entity: QuotaEntity) -> bool:
        """All that is asked for is there, and with `strict` nothing else is."""
        if self.strict and len(entity) != len(self.exact) + len(self.types):
            return False
        return self.exact <= entity and self.types <= {kind for kind, _ in entity}

    def select(self, entities: Iterable[QuotaEntity]) -> list[QuotaEntity]:
        return [entity for entity in dict.fromkeys(entities) if self.matches(entity)]
