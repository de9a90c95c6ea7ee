"""What records of `__consumer_offsets` say, as rows of the catalog. Pure.

A classic group's record has all of its members; of a KIP-848 group each member has records of its
own. Offsets stand for themselves. A group is there as long as it has members' records or offsets.
Share groups are others' (`share_change`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping

from penstock.cli.catalog.declaration import (
    CLASSIC,
    CONSUMER,
    CONSUMER_GROUP,
    DEFAULT_PROTOCOL,
    GROUP_MEMBER,
    PARTITION_ASSIGNMENT,
    PARTITION_LAG,
    CatalogTable,
    Row,
    Rows,
)
from penstock.cli.catalog.share_change import ShareRows
from penstock.model.error import ProtocolError
from penstock.protocol.consumer_bytes import decode_assignment
from penstock.protocol.entity import Entity
from penstock.protocol.messages.records.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from penstock.protocol.messages.records.consumer_group_member_metadata import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from penstock.protocol.messages.records.consumer_group_metadata import ConsumerGroupMetadataKey
from penstock.protocol.messages.records.group_metadata import GroupMetadataKey, GroupMetadataValue
from penstock.protocol.messages.records.legacy_offset_commit import LegacyOffsetCommitKey
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey, OffsetCommitValue
from penstock.protocol.record_frame import (
    CoordinatorLog,
    decode_coordinator_key,
    decode_coordinator_value,
)

Place = tuple[str, int]
"""Topic and partition."""


class _UnknownTopic(Exception):
    pass


class GroupRows:
    """`tables` are changed in place. `topic_name` finds a topic by its id."""

    def __init__(
        self,
        tables: MutableMapping[CatalogTable, Rows],
        topic_name: Callable[[bytes], str | None],
    ) -> None:
        self._groups = tables.setdefault(CONSUMER_GROUP, {})
        self._places = tables.setdefault(PARTITION_ASSIGNMENT, {})
        self._members = tables.setdefault(GROUP_MEMBER, {})
        self._lags = tables.setdefault(PARTITION_LAG, {})
        self.shared = ShareRows(tables)
        self._topic_name = topic_name
        self._unresolved: dict[bytes, bytes] = {}
        self._of_group: dict[str, set[Place]] = {}
        self._in_group: dict[str, set[str]] = {}
        for group, topic, partition in self._places:
            self._of_group.setdefault(str(group), set()).add((str(topic), int(partition or 0)))
        for group, member in self._members:
            self._in_group.setdefault(str(group), set()).add(str(member))

    def apply(self, key: bytes, value: bytes | None) -> None:
        """One record of the log; what cannot be read, or is about something else, says nothing."""
        self._unresolved.pop(key, None)
        try:
            self._apply(*_decoded(key, value))
        except _UnknownTopic:
            if value is not None:
                self._unresolved[key] = value
        except ProtocolError:
            return

    @property
    def waits_for_topics(self) -> bool:
        """Whether something was assigned of a topic that is newer than the metadata."""
        return bool(self._unresolved)

    def resolve(self) -> None:
        """With newer metadata: a topic that is not known now is gone."""
        waiting, self._unresolved = self._unresolved, {}
        for key, value in waiting.items():
            self.apply(key, value)
        self._unresolved = {}

    def _apply(self, key: object, value: object) -> None:
        match key, value:
            case OffsetCommitKey() | LegacyOffsetCommitKey(), None:
                self._forget_offset(key.group, (key.topic, key.partition))
            case OffsetCommitKey() | LegacyOffsetCommitKey(), OffsetCommitValue():
                self._commit(key.group, (key.topic, key.partition), value)
            case GroupMetadataKey(), GroupMetadataValue():
                self._classic(key.group, value)
            case GroupMetadataKey(), None:
                self._end(key.group)
            case ConsumerGroupMetadataKey(), None:
                self._end(key.group_id)
            case ConsumerGroupMetadataKey(), _:
                self._groups.setdefault((key.group_id,), (key.group_id, DEFAULT_PROTOCOL))
            case ConsumerGroupMemberMetadataKey(), ConsumerGroupMemberMetadataValue():
                self._member(key.group_id, key.member_id, value)
            case ConsumerGroupMemberMetadataKey(), None:
                self._leave(key.group_id, key.member_id)
            case ConsumerGroupCurrentMemberAssignmentKey(), None:
                self._assign(key.group_id, key.member_id, ())
            case (
                ConsumerGroupCurrentMemberAssignmentKey(),
                ConsumerGroupCurrentMemberAssignmentValue(),
            ):
                self._assign(key.group_id, key.member_id, self._assigned(value))
            case _:
                self.shared.apply(key, value)

    def drop_topic(self, topic: str) -> None:
        self.shared.drop_topic(topic)
        for group, places in list(self._of_group.items()):
            for place in [each for each in places if each[0] == topic]:
                self._lags.pop((group, *place), None)
                self._remove(group, place)
            self._drop_if_empty(group)

    def _commit(self, group: str, place: Place, value: OffsetCommitValue) -> None:
        self._groups.setdefault((group,), (group, DEFAULT_PROTOCOL))
        row = self._places.get((group, *place))
        self._put(group, place, None if row is None else row[3], value.offset)
        self._lags[(group, *place)] = self._lag(group, place, value)

    def _lag(self, group: str, place: Place, value: OffsetCommitValue) -> Row:
        """By the end of the log as it was last seen, until it is looked at again."""
        end, seconds = self._lags.get((group, *place), (None,) * 7)[4::2]
        lag = None if end is None else max(int(end) - value.offset, 0)
        return group, *place, value.commit_timestamp, end, lag, 0.0 if lag == 0 else seconds

    def _forget_offset(self, group: str, place: Place) -> None:
        self._lags.pop((group, *place), None)
        row = self._places.get((group, *place))
        if row is None:
            return
        if row[3] is None:
            self._remove(group, place)
            self._drop_if_empty(group)
        else:
            self._put(group, place, row[3], 0)

    def _classic(self, group: str, value: GroupMetadataValue) -> None:
        before = self._groups.get((group,), (group, DEFAULT_PROTOCOL))
        self._groups[(group,)] = (group, value.protocol or before[1])
        gone = self._in_group.get(group, set()) - {each.member_id for each in value.members}
        for member in gone:
            self._leave(group, member)
        for each in value.members:
            row = (group, each.member_id, each.client_id, each.client_host, CLASSIC)
            self._members[(group, each.member_id)] = row
            self._in_group.setdefault(group, set()).add(each.member_id)
            if value.protocol_type == "consumer":
                assigned = decode_assignment(bytes(each.assignment)).assigned_partitions
                places = [(one.topic, number) for one in assigned for number in one.partitions]
                self._assign(group, each.member_id, places)

    def _member(self, group: str, member: str, value: ConsumerGroupMemberMetadataValue) -> None:
        row = (group, member, value.client_id, value.client_host, CONSUMER)
        self._members[(group, member)] = row
        self._in_group.setdefault(group, set()).add(member)
        before = self._groups.get((group,), (group, DEFAULT_PROTOCOL))
        self._groups[(group,)] = (group, value.server_assignor or before[1])

    def _leave(self, group: str, member: str) -> None:
        self._assign(group, member, ())
        self._members.pop((group, member), None)
        self._in_group.get(group, set()).discard(member)

    def _assigned(self, value: ConsumerGroupCurrentMemberAssignmentValue) -> Iterable[Place]:
        for each in value.assigned_partitions:
            name = self._topic_name(each.topic_id)
            if name is None:
                raise _UnknownTopic
            for partition in each.partitions:
                yield name, partition

    def _assign(self, group: str, member: str, places: Iterable[Place]) -> None:
        """These, and no others, are the member's."""
        wanted = set(places)
        for place in self._held(group, member) - wanted:
            if (group, *place) in self._lags:
                self._put(group, place, None, self._offset(group, place))
            else:
                self._remove(group, place)
        for place in wanted:
            self._put(group, place, member, self._offset(group, place))

    def _held(self, group: str, member: str) -> set[Place]:
        places = self._of_group.get(group, set())
        return {place for place in places if self._places[(group, *place)][3] == member}

    def _offset(self, group: str, place: Place) -> int:
        row = self._places.get((group, *place))
        return 0 if row is None else int(row[4] or 0)

    def _put(self, group: str, place: Place, member: object, offset: int) -> None:
        consumer = None if member is None else str(member)
        self._places[(group, *place)] = (group, *place, consumer, offset)
        self._of_group.setdefault(group, set()).add(place)

    def _remove(self, group: str, place: Place) -> None:
        self._places.pop((group, *place), None)
        self._of_group.get(group, set()).discard(place)

    def _end(self, group: str) -> None:
        """The group itself is deleted; offsets are, record by record."""
        for member in list(self._in_group.get(group, ())):
            self._leave(group, member)
        self._drop_if_empty(group)

    def _drop_if_empty(self, group: str) -> None:
        if not self._of_group.get(group) and not self._in_group.get(group):
            self._groups.pop((group,), None)
            self._of_group.pop(group, None)
            self._in_group.pop(group, None)


def _decoded(key: bytes, value: bytes | None) -> tuple[Entity, Entity | None]:
    """By the protocol alone: what coordinators make of it would take as long to load again as all
    of the command."""
    named = decode_coordinator_key(CoordinatorLog.GROUP, key)
    if value is None:
        return named, None
    return named, decode_coordinator_value(CoordinatorLog.GROUP, named, value)
