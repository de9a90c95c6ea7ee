"""The groups of one partition of `__consumer_offsets`, as a pure machine.

Its parts answer requests: `classic` and `consumer` the members of either protocol, `share` those of
share groups, `offsets` commits and fetches, `admin` the rest. Their `decide_*` methods change
nothing; `replay` alone changes what the log keeps. A rebalance under way, pending members and
parked requests are soft: a decision carries their next state, and the runtime lets the shard adopt
it once the records are written. Authorization, names for topic ids, and finding the partition of a
group are the handlers' work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from penstock.group.admin import GroupAdmin
from penstock.group.classic.coordinator import ClassicCoordinator
from penstock.group.classic.group_set import ClassicGroups
from penstock.group.classic.turn import Turn
from penstock.group.classic_request import ClassicRequests
from penstock.group.config import GroupConfig
from penstock.group.consumer.classic_member import ClassicMembers
from penstock.group.consumer.coordinator import ConsumerCoordinator
from penstock.group.consumer.draft import Draft
from penstock.group.consumer.group import ConsumerGroups
from penstock.group.consumer.setting import Overrides, no_overrides
from penstock.group.consumer.topic import FixedTopics, TopicView
from penstock.group.kind import Groups
from penstock.group.offset.coordinator import OffsetCoordinator
from penstock.group.offset.store import OffsetStore
from penstock.group.record import GroupEntry, GroupRecord, ShareGroupKey, TxnMarker
from penstock.group.share.coordinator import ShareCoordinator
from penstock.group.share.draft import ShareDraft
from penstock.group.share.group import ShareGroups
from penstock.group.streams.group import StreamsGroups
from penstock.group.sweep import Sweep
from penstock.group.timer import (
    InitialRebalanceTimer,
    JoinTimer,
    RejoinTimer,
    ResyncTimer,
    RetentionTimer,
    RevocationTimer,
    SessionTimer,
    SyncTimer,
)
from penstock.machine import Decision, TimerChange, TimerKey
from penstock.model.error import InvariantError
from penstock.protocol.messages.records.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
)
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey, OffsetCommitValue

if TYPE_CHECKING:
    from penstock.group.streams.coordinator import StreamsCoordinator
    from penstock.group.streams.draft import StreamsDraft


class GroupShard:
    """`new_uuid` gives the random part of member ids, `topics` shows the cluster's topics, and
    `overrides` the settings of single groups."""

    def __init__(
        self,
        config: GroupConfig,
        new_uuid: Callable[[], str],
        topics: TopicView | None = None,
        overrides: Overrides = no_overrides,
    ) -> None:
        self.classic_groups = ClassicGroups()
        self.consumers = ConsumerGroups()
        self.shares = ShareGroups()
        self.streams_groups = StreamsGroups()
        self._streams: StreamsCoordinator | None = None
        self._config, self._overrides = config, overrides
        self._topics = topics or FixedTopics()
        self.store = OffsetStore()
        topics = topics or FixedTopics()
        self._classic = ClassicCoordinator(config, self.classic_groups, new_uuid)
        self.consumer = ConsumerCoordinator(
            config,
            self.classic_groups,
            self.consumers,
            self.streams_groups,
            self._topics,
            overrides,
            new_uuid,
            self.shares.__contains__,
        )
        members = ClassicMembers(config, self.consumer, new_uuid)
        self.classic = ClassicRequests(
            config,
            self._classic,
            self.consumer,
            members,
            self.streams_groups,
            self.shares,
        )
        self.groups = Groups(self.classic_groups, self.consumers, self.streams_groups, self.shares)
        self.share = ShareCoordinator(
            config,
            self.shares,
            self._topics,
            overrides,
            lambda one: self.groups.find(one) is not None,
        )
        self.offsets = OffsetCoordinator(config, self.groups, self.store)
        self.admin = GroupAdmin(self.groups, self.store)
        self._sweep = Sweep(config, self.groups, self.store)

    @property
    def streams(self) -> StreamsCoordinator:
        """Loaded with the first streams group."""
        if self._streams is None:
            from penstock.group.streams.coordinator import StreamsCoordinator

            self._streams = StreamsCoordinator(
                self._config,
                self.streams_groups,
                self.classic_groups,
                self.groups.find,
                self._topics,
                self._overrides,
            )
        return self._streams

    # --- the log ---

    def replay(self, record: GroupEntry, offset: int) -> None:
        if isinstance(record, TxnMarker):
            self.store.end_transaction(record.producer_id, record.committed)
            return
        key, value = record.key, record.value
        if isinstance(key, OffsetCommitKey):
            if isinstance(value, OffsetCommitValue):
                self._admit_simple(key.group)
                self.store.put(key, value, offset, record.producer_id)
            elif value is None:
                self.store.drop(key)
            else:
                raise InvariantError(f"{value.NAME} under the key of an offset")
        elif isinstance(key, GroupMetadataKey):
            if value is not None and not isinstance(value, GroupMetadataValue):
                raise InvariantError(f"{value.NAME} under the key of a group")
            self.classic_groups.replay(key.group, value)
            if value is None and self.store.of_group(key.group):
                self._admit_simple(key.group)
        elif isinstance(key, ShareGroupKey):
            self.shares.replay(key.group_id, record)
        else:
            is_of_streams = key.NAME.startswith("StreamsGroup")
            groups = self.streams_groups if is_of_streams else self.consumers
            self._replay_member_of(groups, key.group_id, record)

    def _replay_member_of(
        self, groups: ConsumerGroups | StreamsGroups, group_id: str, record: GroupRecord
    ) -> None:
        was_there = group_id in groups
        groups.replay(group_id, record)
        is_there = group_id in groups
        if is_there and not was_there:
            self.classic_groups.dismiss_simple(group_id)
        elif was_there and not is_there and self.store.of_group(group_id):
            self.classic_groups.admit_simple(group_id)

    def _admit_simple(self, group_id: str) -> None:
        if self.consumers.find(group_id) is None and self.streams_groups.find(group_id) is None:
            self.classic_groups.admit_simple(group_id)

    # --- timers, and the partition's coming ---

    def expire(self, key: TimerKey, now_ms: int) -> Decision[GroupEntry, None]:
        if getattr(key, "group_id", None) in self.streams_groups:
            return self.streams.expire(key, now_ms)
        if isinstance(key, RevocationTimer | RejoinTimer | ResyncTimer):
            return self.consumer.expire(key, now_ms)
        if isinstance(key, SessionTimer) and key.group_id in self.consumers:
            return self.consumer.expire(key, now_ms)
        if isinstance(key, SessionTimer) and key.group_id in self.shares:
            return self.share.expire(key, now_ms)
        if isinstance(key, SessionTimer | JoinTimer | SyncTimer):
            return self._classic.expire(key, now_ms)
        if isinstance(key, RetentionTimer):
            return self._sweep.decide_stretch(now_ms)
        if isinstance(key, InitialRebalanceTimer):
            return Decision((), None)
        raise InvariantError(f"not a timer of a group: {key!r}")

    def decide_topics_changed(self, names: Collection[str]) -> Decision[GroupEntry, None]:
        """Topics of these names were created, deleted or got partitions."""
        decision = self.consumer.decide_topics_changed(names)

        def adopt() -> None:
            assert decision.adopt is not None
            decision.adopt()
            self.streams_groups.note_changed(names)

        return decision._replace(adopt=adopt)

    def decide_loaded(self, now_ms: int) -> Decision[GroupEntry, None]:
        """To be taken once after the load and before the first request."""
        turns: list[Turn | Draft | ShareDraft | StreamsDraft] = [
            self._classic.loaded(group, now_ms) for group in self.classic_groups.groups()
        ]
        turns += [self.consumer.loaded(group, now_ms) for group in self.consumers]
        turns += [self.share.loaded(group, now_ms) for group in self.shares]
        turns += [self.streams.loaded(group, now_ms) for group in self.streams_groups]
        return _joined(turns, (self._sweep.start(now_ms),))


def _joined(
    turns: Sequence[Turn | Draft | ShareDraft | StreamsDraft], timers: tuple[TimerChange, ...]
) -> Decision[GroupEntry, None]:
    def adopt() -> None:
        for turn in turns:
            turn.adopt()

    return Decision(
        [record for turn in turns for record in turn.records],
        None,
        [*timers, *(change for turn in turns for change in turn.timers)],
        [answer for turn in turns for answer in getattr(turn, "answers", ())],
        adopt,
    )
