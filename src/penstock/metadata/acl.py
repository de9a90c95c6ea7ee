"""The access control entries of a cluster, each once.

Owns which there are, and tells one watcher of each that comes or goes; what they mean is decided
in `security`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from penstock.protocol.messages.records.access_control_entry_record import (
        AccessControlEntryRecord,
    )


class Acl(NamedTuple):
    """One entry, without the id under which it stands in the log."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int


AclWatcher = Callable[[Acl | None, Acl | None], None]
"""(gone, come): one of them is None."""


class AclImage:
    __slots__ = ("_ids", "by_id", "watcher")

    def __init__(self) -> None:
        self.by_id: dict[bytes, Acl] = {}
        self._ids: dict[Acl, bytes] = {}
        self.watcher: AclWatcher | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AclImage) and self.by_id == other.by_id

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.by_id)

    def __iter__(self) -> Iterator[Acl]:
        return iter(self.by_id.values())

    def __contains__(self, acl: Acl) -> bool:
        return acl in self._ids

    def put(self, record: AccessControlEntryRecord) -> None:
        self._put(record.id, acl_of(record))

    def drop(self, acl_id: bytes) -> None:
        acl = self.by_id.pop(acl_id, None)
        if acl is None:
            return
        if self._ids.get(acl) == acl_id:
            del self._ids[acl]
        if self.watcher is not None:
            self.watcher(acl, None)

    def replace(self, others: Mapping[bytes, Acl]) -> None:
        for acl_id in [one for one, acl in self.by_id.items() if others.get(one) != acl]:
            self.drop(acl_id)
        for acl_id, acl in others.items():
            if acl_id not in self.by_id:
                self._put(acl_id, acl)

    def records(self) -> Iterator[AccessControlEntryRecord]:
        return (acl_record(acl_id, acl) for acl_id, acl in self.by_id.items())

    def _put(self, acl_id: bytes, acl: Acl) -> None:
        self.drop(acl_id)
        self.by_id[acl_id] = acl
        self._ids[acl] = acl_id
        if self.watcher is not None:
            self.watcher(None, acl)


def acl_of(record: AccessControlEntryRecord) -> Acl:
    return Acl(
        record.resource_type,
        record.resource_name,
        record.pattern_type,
        record.principal,
        record.host,
        record.operation,
        record.permission_type,
    )


def acl_record(acl_id: bytes, acl: Acl) -> AccessControlEntryRecord:
    from penstock.protocol.messages.records.access_control_entry_record import (
        AccessControlEntryRecord,
    )

    return AccessControlEntryRecord(
        id=acl_id,
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
