"""The streams protocol's requests and timers, each turned into a decision about one group.

Changes no group itself: all it decides is in the records, and in what drafts adopt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.group.caller import Caller
from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.group_set import ClassicGroups
from penstock.group.config import GroupConfig
from penstock.group.consumer.setting import Overrides
from penstock.group.consumer.state import MemberState
from penstock.group.consumer.topic import TopicView
from penstock.group.record import GroupEntry, group_tombstone
from penstock.group.streams.check import (
    check_request,
    check_size,
    group_not_found,
    is_leaving,
    known_member,
)
from penstock.group.streams.draft import StreamsDraft
from penstock.group.streams.group import StreamsGroup, StreamsGroups
from penstock.group.streams.heartbeat import Outcome, heartbeat
from penstock.group.streams.leave import remove_member
from penstock.group.streams.member import JOINING_EPOCH, StreamsMember
from penstock.group.streams.setting import StreamsSettings, settings_of
from penstock.group.streams.target import assign, check_topics
from penstock.group.streams.view import described, described_missing
from penstock.group.timer import InitialRebalanceTimer, RevocationTimer, SessionTimer
from penstock.machine import Decision, TimerKey
from penstock.model.error import ApiError
from penstock.protocol.messages.streams_group_describe import DescribedGroup
from penstock.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

HeartbeatDecision = Decision[GroupEntry, Outcome]


class StreamsCoordinator:
    __slots__ = (
        "_classic_groups",
        "_config",
        "_find_any",
        "_groups",
        "_overrides",
        "_topics",
    )

    def __init__(
        self,
        config: GroupConfig,
        groups: StreamsGroups,
        classic_groups: ClassicGroups,
        find_any: Callable[[str], object | None],
        topics: TopicView,
        overrides: Overrides,
    ) -> None:
        self._config = config
        self._groups = groups
        self._classic_groups = classic_groups
        self._find_any = find_any
        self._topics = topics
        self._overrides = overrides

    # --- requests ---

    def decide_heartbeat(
        self, request: StreamsGroupHeartbeatRequest, caller: Caller, now_ms: int
    ) -> HeartbeatDecision:
        try:
            check_request(request, self._config)
            if is_leaving(request):
                return self._leave(request, now_ms)
            joins = request.member_epoch == JOINING_EPOCH
            draft = self._open(request.group_id, joins, now_ms)
            if joins:
                check_size(draft.group, request.member_id, self._config.group_streams_max_size)
            settings = self._settings_of(request.group_id)
            return draft.decision(heartbeat(draft, request, caller, settings))
        except ApiError as error:
            return Decision((), Outcome(refused(error)))

    def decide_describe(
        self, group_ids: Sequence[str], now_ms: int
    ) -> Decision[GroupEntry, list[DescribedGroup]]:
        found = []
        for group_id in group_ids:
            group = self._groups.find(group_id)
            if group is None:
                found.append(described_missing(group_id, self._find_any(group_id) is not None))
            else:
                found.append(described(self._draft(group, now_ms)))
        return Decision((), found)

    # --- timers ---

    def expire(self, key: TimerKey, now_ms: int) -> Decision[GroupEntry, None]:
        group = self._groups.find(getattr(key, "group_id", ""))
        if group is None:
            return Decision((), None)
        if isinstance(key, InitialRebalanceTimer):
            return self._end_delay(group, now_ms)
        if not isinstance(key, SessionTimer | RevocationTimer):
            return Decision((), None)
        member = group.members.get(key.member_id)
        if member is None or not _is_due(key, member):
            return Decision((), None)
        draft = self._draft(group, now_ms)
        remove_member(draft, member)
        return draft.decision(None)

    def loaded(self, group: StreamsGroup, now_ms: int) -> StreamsDraft:
        """Every member gets a whole session to be heard of."""
        draft = self._draft(group, now_ms)
        session_ms = self._settings_of(group.group_id).session_timeout_ms
        for member in group.members.values():
            draft.start_session(member.member_id, session_ms)
            if member.state is MemberState.UNREVOKED_PARTITIONS:
                key = RevocationTimer(group.group_id, member.member_id)
                draft.start(key, member.rebalance_timeout_ms)
        return draft

    def _end_delay(self, group: StreamsGroup, now_ms: int) -> Decision[GroupEntry, None]:
        draft = self._draft(group, now_ms)
        draft.delayed_until_ms = None
        if not group.is_empty and group.assignment_epoch < group.epoch:
            check_topics(draft)
            assign(draft)
        return draft.decision(None)

    # --- the group ---

    def _draft(self, group: StreamsGroup, now_ms: int) -> StreamsDraft:
        return StreamsDraft(group, self._groups, self._topics, self._config, now_ms)

    def _settings_of(self, group_id: str) -> StreamsSettings:
        return settings_of(self._config, self._overrides(group_id))

    def _open(self, group_id: str, may_make: bool, now_ms: int) -> StreamsDraft:
        group = self._groups.find(group_id)
        if group is not None:
            return self._draft(group, now_ms)
        other = self._find_any(group_id)
        if other is None and not may_make:
            raise group_not_found(f"Streams group {group_id} not found.")
        draft = self._draft(StreamsGroup(group_id), now_ms)
        if other is None:
            return draft
        if not may_make or not isinstance(other, ClassicGroup) or not other.is_empty:
            raise group_not_found(f"Group {group_id} is not a streams group.")
        for member_id in other.pending_join:
            draft.cancel(SessionTimer(group_id, member_id))
        if self._classic_groups.is_stored(group_id):
            draft.write_first(group_tombstone(group_id))
        return draft

    def _leave(self, request: StreamsGroupHeartbeatRequest, now_ms: int) -> HeartbeatDecision:
        draft = self._open(request.group_id, False, now_ms)
        member = known_member(draft.group, request.member_id)
        if request.shutdown_application and draft.shutdown_member_id is None:
            draft.shutdown_member_id = request.member_id
        remove_member(draft, member)
        response = StreamsGroupHeartbeatResponse(
            member_id=request.member_id, member_epoch=request.member_epoch, status=[]
        )
        return draft.decision(Outcome(response))


def refused(error: ApiError) -> StreamsGroupHeartbeatResponse:
    return StreamsGroupHeartbeatResponse(error_code=error.code, error_message=str(error), status=[])


def _is_due(key: SessionTimer | RevocationTimer, member: StreamsMember) -> bool:
    """A timer may be older than what it was set for."""
    if isinstance(key, RevocationTimer):
        return member.state is MemberState.UNREVOKED_PARTITIONS
    return True
