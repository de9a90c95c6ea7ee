"""Requests of the classic protocol, sent on to the machine that has the group.

Owns nothing: whether a group is classic or of the consumer protocol is what the log says.
"""

from __future__ import annotations

from penstock.group.caller import Caller
from penstock.group.classic.coordinator import (
    ClassicCoordinator,
    HeartbeatDecision,
    LeaveDecision,
)
from penstock.group.classic.join import join_request_error
from penstock.group.classic.reply import join_refused, sync_refused
from penstock.group.classic.step import JoinDecision, SyncDecision
from penstock.group.classic.sync import sync_request_error
from penstock.group.config import GroupConfig
from penstock.group.consumer.classic_member import ClassicMembers
from penstock.group.consumer.coordinator import ConsumerCoordinator
from penstock.group.consumer.leave import remove_group
from penstock.group.kind import tombstones_of
from penstock.group.share.group import ShareGroups
from penstock.group.streams.group import StreamsGroup, StreamsGroups
from penstock.machine import Decision
from penstock.model.error import ErrorCode
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import JoinGroupRequest
from penstock.protocol.messages.leave_group import LeaveGroupRequest
from penstock.protocol.messages.sync_group import SyncGroupRequest


class ClassicRequests:
    __slots__ = (
        "_classic",
        "_config",
        "_consumer",
        "_members",
        "_share_groups",
        "_streams_groups",
    )

    def __init__(
        self,
        config: GroupConfig,
        classic: ClassicCoordinator,
        consumer: ConsumerCoordinator,
        members: ClassicMembers,
        streams_groups: StreamsGroups,
        share_groups: ShareGroups,
    ) -> None:
        self._config = config
        self._classic = classic
        self._consumer = consumer
        self._members = members
        self._streams_groups = streams_groups
        self._share_groups = share_groups

    def decide_join(self, request: JoinGroupRequest, caller: Caller, now_ms: int) -> JoinDecision:
        if self._share_groups.find(request.group_id) is not None:
            error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            return Decision((), join_refused(error, request.member_id))
        streams = self._streams_groups.find(request.group_id)
        if streams is not None:
            return self._join_streams(streams, request, caller, now_ms)
        group = self._consumer.groups.find(request.group_id)
        if group is None:
            return self._classic.decide_join(request, caller, now_ms)
        wrong = join_request_error(request, self._config)
        if wrong is not None:
            return Decision((), join_refused(wrong, request.member_id))
        if not group.is_empty:
            return self._members.decide_join(group, request, caller, now_ms)
        decision = self._classic.decide_join(request, caller, now_ms)
        if not decision.records:
            return decision
        draft = self._consumer.draft(group, now_ms)
        remove_group(draft)
        return decision._replace(records=[*draft.records, *decision.records])

    def _join_streams(
        self, group: StreamsGroup, request: JoinGroupRequest, caller: Caller, now_ms: int
    ) -> JoinDecision:
        """A streams group whose members are gone may become a classic one, as by an application
        that goes back to the protocol it had before."""
        error = join_request_error(request, self._config)
        if error is None and not group.is_empty:
            error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if error is not None:
            return Decision((), join_refused(error, request.member_id))
        decision = self._classic.decide_join(request, caller, now_ms)
        if not decision.records:
            return decision
        return decision._replace(records=[*tombstones_of(group), *decision.records])

    def decide_sync(self, request: SyncGroupRequest, caller: Caller, now_ms: int) -> SyncDecision:
        group = self._consumer.groups.find(request.group_id)
        if group is None:
            return self._classic.decide_sync(request, caller, now_ms)
        error = sync_request_error(request, caller.api_version)
        if error is not None:
            return Decision((), sync_refused(error))
        return self._members.decide_sync(group, request, now_ms)

    def decide_heartbeat(self, request: HeartbeatRequest, now_ms: int) -> HeartbeatDecision:
        group = self._consumer.groups.find(request.group_id)
        if group is None:
            return self._classic.decide_heartbeat(request, now_ms)
        return self._members.decide_heartbeat(group, request, now_ms)

    def decide_leave(
        self, request: LeaveGroupRequest, caller: Caller, now_ms: int
    ) -> LeaveDecision:
        group = self._consumer.groups.find(request.group_id)
        if group is None:
            return self._classic.decide_leave(request, caller, now_ms)
        return self._members.decide_leave(group, request, caller, now_ms)
