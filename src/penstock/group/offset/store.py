"""The committed offsets of every group of a shard, and those still inside open transactions.

Changed by replay alone. Knows no groups' states and no requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from penstock.group.offset.tally import CommitTally
from penstock.group.record import NO_PRODUCER
from penstock.model.id import ZERO_ID, TopicId, TopicPartition
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey, OffsetCommitValue


class CommittedOffset(NamedTuple):
    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int = -1
    """Set only by commits below version 5 that asked for a retention of their own."""
    topic_id: TopicId = ZERO_ID
    record_offset: int = -1
    """Where in the log the commit stands: of a transactional and a plain commit of one partition
    the later written wins, even if the transaction ends after the plain one."""


GroupOffsets = dict[TopicPartition, CommittedOffset]

# A named tuple straight from a tuple: half the cost of calling the class.
_as_committed = tuple.__new__


class OffsetStore:
    __slots__ = ("_by_group", "_pending", "_producers_by_group", "tally")

    def __init__(self) -> None:
        self._by_group: dict[str, GroupOffsets] = {}
        self._pending: dict[int, dict[str, GroupOffsets]] = {}
        self._producers_by_group: dict[str, set[int]] = {}
        self.tally: CommitTally | None = None
        """Told of every change, once somebody wants to know."""

    # --- questions ---

    def group_ids(self) -> Iterator[str]:
        return iter(self._by_group)

    def of_group(self, group_id: str) -> GroupOffsets:
        """Not to be changed by the caller."""
        return self._by_group.get(group_id, _NONE)

    def has_open_transaction(self, group_id: str) -> bool:
        return group_id in self._producers_by_group

    def is_pending(self, group_id: str, partition: TopicPartition) -> bool:
        return any(
            partition in self._pending[producer_id][group_id]
            for producer_id in self._producers_by_group.get(group_id, ())
        )

    def pending_of_group(self, group_id: str) -> set[TopicPartition]:
        found: set[TopicPartition] = set()
        for producer_id in self._producers_by_group.get(group_id, ()):
            found.update(self._pending[producer_id][group_id])
        return found

    def pending_group_ids(self) -> Iterator[str]:
        return iter(self._producers_by_group)

    # --- replay ---

    def put(
        self, key: OffsetCommitKey, value: OffsetCommitValue, record_offset: int, producer_id: int
    ) -> None:
        committed = _committed(value, record_offset)
        partition = TopicPartition(key.topic, key.partition)
        if producer_id == NO_PRODUCER:
            self._by_group.setdefault(key.group, {})[partition] = committed
            if self.tally is not None:
                self.tally.note(key.group, 1)
            return
        groups = self._pending.setdefault(producer_id, {})
        groups.setdefault(key.group, {})[partition] = committed
        self._producers_by_group.setdefault(key.group, set()).add(producer_id)

    def drop(self, key: OffsetCommitKey) -> None:
        """A tombstone ends pending commits of the partition as well."""
        partition = TopicPartition(key.topic, key.partition)
        _discard(self._by_group, key.group, partition)
        if self.tally is not None:
            self.tally.note(key.group, 0)
        for producer_id in tuple(self._producers_by_group.get(key.group, ())):
            groups = self._pending[producer_id]
            _discard(groups, key.group, partition)
            if key.group not in groups:
                self._forget(producer_id, key.group)
            if not groups:
                del self._pending[producer_id]

    def end_transaction(self, producer_id: int, committed: bool) -> None:
        for group_id, offsets in self._pending.pop(producer_id, {}).items():
            self._forget(producer_id, group_id)
            if committed:
                self._merge(group_id, offsets)

    def _merge(self, group_id: str, offsets: GroupOffsets) -> None:
        settled = self._by_group.setdefault(group_id, {})
        if self.tally is not None:
            self.tally.note(group_id, len(offsets))
        for partition, one in offsets.items():
            before = settled.get(partition)
            if before is None or one.record_offset > before.record_offset:
                settled[partition] = one

    def _forget(self, producer_id: int, group_id: str) -> None:
        producers = self._producers_by_group[group_id]
        producers.discard(producer_id)
        if not producers:
            del self._producers_by_group[group_id]


_NONE: GroupOffsets = {}


def _committed(value: OffsetCommitValue, record_offset: int) -> CommittedOffset:
    fields = (
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        value.expire_timestamp,
        value.topic_id,
        record_offset,
    )
    return _as_committed(CommittedOffset, fields)


def _discard(groups: dict[str, GroupOffsets], group_id: str, partition: TopicPartition) -> None:
    offsets = groups.get(group_id)
    if offsets is None:
        return
    offsets.pop(partition, None)
    if not offsets:
        del groups[group_id]
