"""What records of `__consumer_offsets` say of share groups, as rows of the catalog. Pure.

Their progress is not in that log: which groups it tells of is noted, for whoever asks for it.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Final

from penstock.cli.catalog.declaration import (
    GROUP_MEMBER,
    PARTITION_LAG,
    SHARE,
    SHARE_GROUP,
    SHARE_PARTITION,
    CatalogTable,
    Row,
    Rows,
)
from penstock.protocol.messages.records.share_group_member_metadata import (
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.share_group_metadata import ShareGroupMetadataKey
from penstock.protocol.messages.records.share_group_state_partition_metadata import (
    ShareGroupStatePartitionMetadataKey,
)

EMPTY: Final = "Empty"
STABLE: Final = "Stable"


class ShareRows:
    """`tables` are changed in place."""

    def __init__(self, tables: MutableMapping[CatalogTable, Rows]) -> None:
        self._groups = tables.setdefault(SHARE_GROUP, {})
        self._places = tables.setdefault(SHARE_PARTITION, {})
        self._members = tables.setdefault(GROUP_MEMBER, {})
        self._lags = tables.setdefault(PARTITION_LAG, {})
        self._in_group: dict[str, set[str]] = {}
        for group, member, *_, kind in self._members.values():
            if kind == SHARE:
                self._in_group.setdefault(str(group), set()).add(str(member))
        self._changed = {str(group) for (group,) in self._groups}

    def take_changed(self) -> set[str]:
        """Groups that may be elsewhere than they were."""
        changed, self._changed = self._changed, set()
        return changed

    def apply(self, key: object, value: object) -> None:
        match key, value:
            case ShareGroupMetadataKey(), None:
                self._end(key.group_id)
            case ShareGroupMemberMetadataKey(), ShareGroupMemberMetadataValue():
                row = (key.group_id, key.member_id, value.client_id, value.client_host, SHARE)
                self._members[key.group_id, key.member_id] = row
                self._in_group.setdefault(key.group_id, set()).add(key.member_id)
                self._change(key.group_id)
            case ShareGroupMemberMetadataKey(), None:
                self._leave(key.group_id, key.member_id)
                if (key.group_id,) in self._groups:
                    self._change(key.group_id)
            case ShareGroupMetadataKey() | ShareGroupStatePartitionMetadataKey(), value if value:
                self._change(key.group_id)

    def drop_topic(self, topic: str) -> None:
        self._forget([each for each in self._places if each[1] == topic])

    def _change(self, group: str) -> None:
        count = len(self._in_group.get(group, ()))
        self._groups[group,] = (group, STABLE if count else EMPTY, count)
        self._changed.add(group)

    def _leave(self, group: str, member: str) -> None:
        self._members.pop((group, member), None)
        self._in_group.get(group, set()).discard(member)

    def _end(self, group: str) -> None:
        for member in self._in_group.pop(group, set()):
            self._members.pop((group, member), None)
        self._groups.pop((group,), None)
        self._changed.discard(group)
        self._forget([each for each in self._places if each[0] == group])

    def _forget(self, places: list[Row]) -> None:
        for each in places:
            self._places.pop(each, None)
            self._lags.pop(each, None)
