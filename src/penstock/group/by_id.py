"""Groups of one kind, by their names, as the log tells of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from penstock.group.record import GroupRecord


class LoggedGroup(Protocol):
    def apply(self, record: GroupRecord) -> None: ...


GroupT = TypeVar("GroupT", bound=LoggedGroup)


class GroupsById(Generic[GroupT]):
    """A group is there from its first record on, and gone with the tombstone of `root_key`."""

    __slots__ = ("_by_id", "_new", "_root_key", "find")

    def __init__(self, new: Callable[[str], GroupT], root_key: str) -> None:
        self._new = new
        self._root_key = root_key
        self._by_id: dict[str, GroupT] = {}
        # Every request and every record asks, for each kind of group.
        self.find: Callable[[str], GroupT | None] = self._by_id.get

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[GroupT]:
        return iter(list(self._by_id.values()))

    def __contains__(self, group_id: object) -> bool:
        return group_id in self._by_id

    def ids(self) -> list[str]:
        return list(self._by_id)

    def replay(self, group_id: str, record: GroupRecord) -> None:
        group = self._by_id.get(group_id)
        if group is None:
            if record.value is None:
                return
            group = self._by_id[group_id] = self._new(group_id)
        group.apply(record)
        if record.value is None and self._root_key == record.key.NAME:
            del self._by_id[group_id]
