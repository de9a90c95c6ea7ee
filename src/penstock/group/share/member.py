"""One member of a share group, as an immutable value: a change makes a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.model.id import TopicId

Partitions = Mapping[TopicId, frozenset[int]]

JOINING_EPOCH = 0
LEAVING_EPOCH = -1


@dataclass(frozen=True, slots=True)
class ShareMember:
    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    epoch: int = 0
    previous_epoch: int = -1
    assigned: Partitions = field(default_factory=dict)

    def is_same_person(self, other: ShareMember) -> bool:
        return (self.rack_id, self.client_id, self.client_host, self.topics) == (
            other.rack_id,
            other.client_id,
            other.client_host,
            other.topics,
        )
