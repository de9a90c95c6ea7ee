"""Which offsets of a group have outlived their retention.

Idle is what nobody reads: all offsets of a group long without members, those of topics a stable
group does not subscribe to, and those of simple consumers that stopped committing.
"""

from __future__ import annotations

from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.state import GroupState
from penstock.group.kind import AnyGroup
from penstock.group.offset.store import CommittedOffset, OffsetStore
from penstock.group.record import GroupRecord, offset_tombstone


def expired(
    store: OffsetStore, group: AnyGroup, retention_ms: int, now_ms: int
) -> tuple[list[GroupRecord], bool]:
    """Tombstones, and whether no offset is left after them."""
    offsets = store.of_group(group.group_id)
    if not offsets:
        return [], not store.has_open_transaction(group.group_id)
    if not _may_expire(group):
        return [], False
    records = [
        offset_tombstone(group.group_id, *partition)
        for partition, one in offsets.items()
        if not group.is_subscribed(partition.topic)
        and _is_expired(group, one, retention_ms, now_ms)
        and not store.is_pending(group.group_id, partition)
    ]
    all_gone = len(records) == len(offsets)
    return records, all_gone and not store.has_open_transaction(group.group_id)


def _may_expire(group: AnyGroup) -> bool:
    if not isinstance(group, ClassicGroup) or group.protocol_type is None or group.is_empty:
        return True
    return group.state is GroupState.STABLE and group.subscribed is not None


def _is_expired(group: AnyGroup, one: CommittedOffset, retention_ms: int, now_ms: int) -> bool:
    if one.expire_timestamp_ms != -1:
        return now_ms >= one.expire_timestamp_ms
    since_ms = one.commit_timestamp_ms
    if not isinstance(group, ClassicGroup):
        if group.is_empty:
            since_ms = max(since_ms, group.empty_since_ms or 0)
        return now_ms - since_ms >= retention_ms
    if group.protocol_type is not None and group.is_empty:
        # Kafka counts from the last member's leaving alone, and so drops at once what an admin
        # commits to a group that has been empty for long.
        since_ms = max(since_ms, group.state_timestamp_ms)
    return now_ms - since_ms >= retention_ms
