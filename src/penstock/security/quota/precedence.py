"""Whose quota holds for a client, of the eight levels that Kafka has, and who shares it.

The most specific wins: user and client id before user before client id, a name before a default.
A quota of a user is shared by all that this user runs; one of a client id by all who call
themselves so; one of both by those who are both. A default is one for each, not one for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.metadata.security import QuotaEntity
from penstock.security.quota.sensor import UNLIMITED, Tags

_Level = tuple[str | None, str | None]
"""User and client id; None where an entity does not name one, `_ANY` for the default."""

_ANY = "\0default"
"""No name has this: names are text that people and tools write."""


class Limits:
    """The quotas of one kind, as `producer_byte_rate`."""

    __slots__ = ("_by_level", "_kinds")

    def __init__(self, limits: Mapping[QuotaEntity, float]) -> None:
        self._by_level = {_level(entity): limit for entity, limit in limits.items()}
        self._kinds = _kinds(self._by_level)

    def __bool__(self) -> bool:
        return bool(self._by_level)

    def tags_of(self, user: str, client_id: str) -> Tags:
        """With quotas of one sort only, clients are told apart by that even where none holds."""
        kinds = self._kinds
        if kinds == {(True, False)}:
            return Tags(user, "")
        if kinds == {(True, True)}:
            return Tags(user, client_id)
        if len(kinds) > 1:
            for level, tags in (
                ((user, client_id), Tags(user, client_id)),
                ((user, _ANY), Tags(user, client_id)),
                ((user, None), Tags(user, "")),
                ((_ANY, client_id), Tags(user, client_id)),
                ((_ANY, _ANY), Tags(user, client_id)),
                ((_ANY, None), Tags(user, "")),
            ):
                if level in self._by_level:
                    return tags
        return Tags("", client_id)

    def limit_of(self, tags: Tags) -> float:
        user, client_id = tags
        levels: tuple[_Level, ...] = ()
        if user and client_id:
            levels = ((user, client_id), (user, _ANY), (_ANY, client_id), (_ANY, _ANY))
        elif user:
            levels = ((user, None), (_ANY, None))
        elif client_id:
            levels = ((None, client_id), (None, _ANY))
        return next((self._by_level[each] for each in levels if each in self._by_level), UNLIMITED)


def _kinds(levels: Iterable[_Level]) -> set[tuple[bool, bool]]:
    return {(user is not None, client_id is not None) for user, client_id in levels}


def _level(entity: QuotaEntity) -> _Level:
    parts = {kind: _ANY if name is None else name for kind, name in entity}
    return parts.get("user"), parts.get("client-id")
