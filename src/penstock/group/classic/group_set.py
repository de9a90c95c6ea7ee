"""All classic groups of a shard: what the log says of them, and how they stand now.

Owns the two and their relation: a replayed record is the truth about a group until a decision
that was made on it is adopted. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.stored import group_of
from penstock.protocol.messages.records.group_metadata import GroupMetadataValue


class ClassicGroups:
    __slots__ = ("_live", "_stored")

    def __init__(self) -> None:
        self._stored: dict[str, GroupMetadataValue] = {}
        self._live: dict[str, ClassicGroup] = {}

    def __len__(self) -> int:
        return len(self._stored.keys() | self._live.keys())

    def ids(self) -> list[str]:
        return list(dict.fromkeys([*self._stored, *self._live]))

    def groups(self) -> Iterator[ClassicGroup]:
        for group_id in self.ids():
            group = self.find(group_id)
            if group is not None:
                yield group

    def stored(self) -> dict[str, GroupMetadataValue]:
        """The hard state."""
        return dict(self._stored)

    def find(self, group_id: str) -> ClassicGroup | None:
        """Groups are built from their records when first asked for: a load reads many records of
        a group of which only the last counts."""
        group = self._live.get(group_id)
        if group is None:
            value = self._stored.get(group_id)
            if value is not None:
                group = self._live[group_id] = group_of(group_id, value)
        return group

    def is_stored(self, group_id: str) -> bool:
        return group_id in self._stored

    def adopt(self, group: ClassicGroup) -> None:
        self._live[group.group_id] = group

    def replay(self, group_id: str, value: GroupMetadataValue | None) -> None:
        self._live.pop(group_id, None)
        if value is None:
            self._stored.pop(group_id, None)
        else:
            self._stored[group_id] = value

    def dismiss_simple(self, group_id: str) -> None:
        """The group is of another kind now."""
        if group_id not in self._stored:
            self._live.pop(group_id, None)

    def admit_simple(self, group_id: str) -> None:
        """Offsets committed without membership make a group of their own, which no record but
        theirs tells of."""
        if group_id not in self._stored and group_id not in self._live:
            self._live[group_id] = ClassicGroup(group_id)
