"""The consumer protocol's requests and timers, each turned into a decision about one group.

Changes no group itself: all it decides is in the records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from penstock.group.caller import Caller
from penstock.group.classic.group_set import ClassicGroups
from penstock.group.classic.rebalance import prepare
from penstock.group.classic.turn import Turn
from penstock.group.config import GroupConfig
from penstock.group.consumer.check import (
    check_request,
    check_size,
    group_not_found,
    is_leaving,
    known_member,
    known_static_member,
)
from penstock.group.consumer.draft import Draft
from penstock.group.consumer.group import ConsumerGroup, ConsumerGroups
from penstock.group.consumer.heartbeat import heartbeat
from penstock.group.consumer.leave import remove_group, remove_members
from penstock.group.consumer.member import JOINING_EPOCH, STATIC_LEAVING_EPOCH, ConsumerMember
from penstock.group.consumer.migration import (
    can_downgrade,
    check_upgrade,
    classic_group,
    forget_pending,
    upgrade,
)
from penstock.group.consumer.record import current_record
from penstock.group.consumer.setting import ConsumerSettings, Overrides, settings_of
from penstock.group.consumer.state import MemberState
from penstock.group.consumer.topic import TopicView
from penstock.group.consumer.view import described, described_missing
from penstock.group.record import GroupEntry, group_tombstone
from penstock.group.streams.group import StreamsGroups
from penstock.group.timer import RejoinTimer, ResyncTimer, RevocationTimer, SessionTimer
from penstock.machine import Decision
from penstock.model.error import ApiError
from penstock.protocol.messages.consumer_group_describe import DescribedGroup
from penstock.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

HeartbeatDecision = Decision[GroupEntry, ConsumerGroupHeartbeatResponse]
MemberTimer = SessionTimer | RevocationTimer | RejoinTimer | ResyncTimer
ReplyT = TypeVar("ReplyT")


class ConsumerCoordinator:
    __slots__ = (
        "_classic_groups",
        "_config",
        "_is_share",
        "_new_uuid",
        "_overrides",
        "_streams_groups",
        "groups",
        "topics",
    )

    def __init__(
        self,
        config: GroupConfig,
        classic_groups: ClassicGroups,
        groups: ConsumerGroups,
        streams_groups: StreamsGroups,
        topics: TopicView,
        overrides: Overrides,
        new_uuid: Callable[[], str],
        is_share: Callable[[str], bool] = lambda group_id: False,
    ) -> None:
        self._is_share = is_share
        self.groups = groups
        self.topics = topics
        self._config = config
        self._classic_groups = classic_groups
        self._streams_groups = streams_groups
        self._overrides = overrides
        self._new_uuid = new_uuid

    # --- requests ---

    def decide_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, caller: Caller, now_ms: int
    ) -> HeartbeatDecision:
        try:
            check_request(request, caller.api_version, self._config)
            if is_leaving(request):
                return self._leave(request, now_ms)
            draft = self._open(request.group_id, request.member_epoch == JOINING_EPOCH, now_ms)
            draft.may_describe = caller.may_describe
            check_size(draft.group, request.member_id, self._config.group_consumer_max_size)
            settings = self.settings_of(request.group_id)
            return draft.decision(heartbeat(draft, request, caller, settings, self._new_uuid))
        except ApiError as error:
            return Decision(
                (), ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=str(error))
            )

    def decide_describe(
        self, group_ids: Sequence[str]
    ) -> Decision[GroupEntry, list[DescribedGroup]]:
        found = []
        for group_id in group_ids:
            group = self.groups.find(group_id)
            if group is None:
                found.append(described_missing(group_id, self._is_other(group_id)))
            else:
                default = self._config.group_consumer_assignors[0]
                found.append(described(group, self.topics, default))
        return Decision((), found)

    def decide_topics_changed(self, names: Collection[str]) -> Decision[GroupEntry, None]:
        """Topics of these names were created, deleted or got partitions. The groups that read
        them see to it with the next heartbeat of any of their members."""
        changed = [one for one in self.groups if not one.subscribed.isdisjoint(names)]
        matching = [one for one in self.groups if one.matched]

        def adopt() -> None:
            for group in changed:
                group.must_check_topics = True
            for group in matching:
                group.must_match_again = True

        return Decision((), None, adopt=adopt)

    # --- timers ---

    def expire(self, key: MemberTimer, now_ms: int) -> Decision[GroupEntry, None]:
        group = self.groups.find(key.group_id)
        member = None if group is None else group.members.get(key.member_id)
        if group is None or member is None or not _is_due(key, group, member):
            return Decision((), None)
        return self.fence(self.draft(group, now_ms), [member], None)

    def loaded(self, group: ConsumerGroup, now_ms: int) -> Draft:
        """Every member gets a whole session to be heard of."""
        draft = self.draft(group, now_ms)
        session_ms = self.settings_of(group.group_id).session_timeout_ms
        for member in group.members.values():
            classic = member.classic
            timeout_ms = session_ms if classic is None else classic.session_timeout_ms
            draft.start_session(member.member_id, timeout_ms)
            if _must_revoke(member) and classic is None:
                key = RevocationTimer(group.group_id, member.member_id)
                draft.start(key, member.rebalance_timeout_ms)
        return draft

    # --- shared with members of the classic protocol ---

    def draft(self, group: ConsumerGroup, now_ms: int) -> Draft:
        return Draft(group, self.groups, self.topics, self._config, now_ms)

    def settings_of(self, group_id: str) -> ConsumerSettings:
        return settings_of(self._config, self._overrides(group_id))

    def fence(
        self, draft: Draft, members: Sequence[ConsumerMember], reply: ReplyT
    ) -> Decision[GroupEntry, ReplyT]:
        """Members go, and the group turns classic if they were the last of the new protocol."""
        leaving = [member.member_id for member in members]
        if can_downgrade(draft.group, leaving, self._config):
            return self.downgrade(draft, leaving, True, reply)
        if members:
            remove_members(draft, members)
        return draft.decision(reply)

    def downgrade(
        self, draft: Draft, leaving: Collection[str], must_rebalance: bool, reply: ReplyT
    ) -> Decision[GroupEntry, ReplyT]:
        classic = classic_group(draft.group, leaving, self.topics, draft.now_ms)
        for member_id in draft.group.members:
            draft.cancel_all(member_id)
        remove_group(draft)
        turn = Turn(classic, self._config, draft.now_ms, self._classic_groups.adopt)
        turn.store()
        for member in classic.members.values():
            turn.start_session(member)
        if must_rebalance:
            prepare(turn)
        return Decision(
            [*draft.records, *turn.records],
            reply,
            [*draft.timers, *turn.timers],
            [*draft.answers, *turn.answers],
            turn.adopt,
        )

    # --- the group ---

    def _open(self, group_id: str, may_make: bool, now_ms: int) -> Draft:
        group = self.groups.find(group_id)
        if group is not None:
            return self.draft(group, now_ms)
        classic = self._classic_groups.find(group_id)
        if not may_make or self._is_share(group_id) or group_id in self._streams_groups:
            reason = "is not a consumer group" if self._is_other(group_id) else "not found"
            raise group_not_found(f"Group {group_id} {reason}.")
        draft = self.draft(ConsumerGroup(group_id), now_ms)
        if classic is None:
            return draft
        if not classic.is_empty:
            check_upgrade(classic, self._config)
            upgrade(draft, classic)
            return draft
        forget_pending(draft, classic)
        if self._classic_groups.is_stored(group_id):
            draft.write_first(group_tombstone(group_id))
        return draft

    def _is_other(self, group_id: str) -> bool:
        """Whether there is a group of that name of another kind."""
        is_classic = self._classic_groups.find(group_id) is not None
        return is_classic or self._is_share(group_id) or group_id in self._streams_groups

    def _leave(self, request: ConsumerGroupHeartbeatRequest, now_ms: int) -> HeartbeatDecision:
        draft = self._open(request.group_id, False, now_ms)
        reply = ConsumerGroupHeartbeatResponse(
            member_id=request.member_id, member_epoch=request.member_epoch
        )
        if request.instance_id is None:
            return self.fence(draft, [known_member(draft.group, request.member_id)], reply)
        member = known_static_member(draft.group, request.instance_id, request.member_id)
        if request.member_epoch != STATIC_LEAVING_EPOCH:
            return self.fence(draft, [member], reply)
        # It keeps its place for one session; what it was to give up it has given up by leaving.
        gone = replace(member, epoch=STATIC_LEAVING_EPOCH, revoking={})
        draft.write(current_record(draft.group_id, gone))
        draft.cancel(RevocationTimer(draft.group_id, gone.member_id))
        return draft.decision(reply)


def _is_due(key: MemberTimer, group: ConsumerGroup, member: ConsumerMember) -> bool:
    """A timer may be older than what it was set for."""
    if isinstance(key, RevocationTimer):
        return _must_revoke(member)
    if isinstance(key, RejoinTimer):
        return member.member_id in group.rejoining
    if isinstance(key, ResyncTimer):
        return member.classic is not None
    return True


def _must_revoke(member: ConsumerMember) -> bool:
    """A static member that has left for a while has nothing, whatever state it left in."""
    has_left = member.epoch == STATIC_LEAVING_EPOCH
    return member.state is MemberState.UNREVOKED_PARTITIONS and not has_left
