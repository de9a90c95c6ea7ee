"""The classic protocol's requests and timers, each turned into a decision about one group.

Owns the numbers that parked requests are answered under. Changes no group itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from penstock.group.caller import Caller
from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.group_set import ClassicGroups
from penstock.group.classic.join import join, join_kind, join_request_error
from penstock.group.classic.leave import leave, leave_response, leaving_members, unknown_members
from penstock.group.classic.rebalance import prepare
from penstock.group.classic.reply import join_refused, sync_refused
from penstock.group.classic.session import expire_join, expire_session, expire_sync, heartbeat
from penstock.group.classic.step import JoinDecision, JoinStep, SyncDecision, sync_step
from penstock.group.classic.stored import new_group_value
from penstock.group.classic.sync import sync_leader, sync_request_error
from penstock.group.classic.turn import Turn
from penstock.group.config import GroupConfig
from penstock.group.record import GroupEntry, group_metadata_record
from penstock.group.timer import JoinTimer, SessionTimer, SyncTimer
from penstock.machine import Decision
from penstock.model.error import ErrorCode
from penstock.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.protocol.messages.join_group import JoinGroupRequest
from penstock.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from penstock.protocol.messages.sync_group import SyncGroupRequest

HeartbeatDecision = Decision[GroupEntry, HeartbeatResponse]
LeaveDecision = Decision[GroupEntry, LeaveGroupResponse]


class ClassicCoordinator:
    __slots__ = ("_config", "_groups", "_new_uuid", "_tickets")

    def __init__(
        self, config: GroupConfig, groups: ClassicGroups, new_uuid: Callable[[], str]
    ) -> None:
        self._config = config
        self._groups = groups
        self._new_uuid = new_uuid
        self._tickets = count(1)

    # --- requests ---

    def decide_join(self, request: JoinGroupRequest, caller: Caller, now_ms: int) -> JoinDecision:
        error = join_request_error(request, self._config)
        if error is not None:
            return Decision((), join_refused(error, request.member_id))
        group = self._groups.find(request.group_id)
        if group is None and request.member_id:
            return Decision((), join_refused(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id))
        name = request.group_instance_id or caller.client_id
        ticket = next(self._tickets)

        def draw_id() -> str:
            return f"{name}-{self._new_uuid()}"

        asked = group or ClassicGroup(request.group_id)
        kind = join_kind(asked, request, caller, self._config.group_max_size)
        if group is not None:
            step = JoinStep(group, request, caller, self._config, ticket, now_ms, draw_id)
            decision = step.decide(kind)
            if decision is not None:
                return decision
        turn = self._turn(asked, now_ms)
        reply = join(turn, kind, request, caller, ticket, draw_id)
        if group is None:
            if not turn.timers:
                return Decision((), reply)  # refused: nothing came into being
            turn.records.insert(0, group_metadata_record(request.group_id, new_group_value(now_ms)))
        return turn.decision(reply)

    def decide_sync(self, request: SyncGroupRequest, caller: Caller, now_ms: int) -> SyncDecision:
        error = sync_request_error(request, caller.api_version)
        if error is not None:
            return Decision((), sync_refused(error))
        group = self._groups.find(request.group_id)
        if group is None:
            return Decision((), sync_refused(ErrorCode.UNKNOWN_MEMBER_ID))
        ticket = next(self._tickets)
        step = sync_step(group, request, ticket)
        if step is not None:
            return step
        turn = self._turn(group, now_ms)
        return turn.decision(sync_leader(turn, request, ticket))

    def decide_heartbeat(self, request: HeartbeatRequest, now_ms: int) -> HeartbeatDecision:
        if not request.group_id:
            return Decision((), HeartbeatResponse(error_code=ErrorCode.INVALID_GROUP_ID))
        group = self._groups.find(request.group_id)
        if group is None:
            return Decision((), HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
        return heartbeat(group, request, now_ms)

    def decide_leave(
        self, request: LeaveGroupRequest, caller: Caller, now_ms: int
    ) -> LeaveDecision:
        if not request.group_id:
            return Decision((), LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID))
        leaving = leaving_members(request, caller.api_version)
        group = self._groups.find(request.group_id)
        if group is None:
            return Decision((), leave_response(unknown_members(leaving), caller.api_version))
        turn = self._turn(group, now_ms)
        return turn.decision(leave_response(leave(turn, leaving), caller.api_version))

    # --- timers ---

    def expire(
        self, key: SessionTimer | JoinTimer | SyncTimer, now_ms: int
    ) -> Decision[GroupEntry, None]:
        group = self._groups.find(key.group_id)
        if group is None:
            return Decision((), None)
        turn = self._turn(group, now_ms)
        if isinstance(key, SessionTimer):
            expire_session(turn, key.member_id)
        elif isinstance(key, JoinTimer):
            expire_join(turn)
        else:
            expire_sync(turn)
        return turn.decision(None)

    # --- the partition's coming ---

    def loaded(self, group: ClassicGroup, now_ms: int) -> Turn:
        """Every member gets a whole session to be heard of. A group larger than now allowed is
        rebalanced, which keeps some out."""
        turn = self._turn(group, now_ms)
        for member in turn.group.members.values():
            turn.start_session(member)
        if len(group.members) > self._config.group_max_size:
            prepare(turn)
        return turn

    def _turn(self, group: ClassicGroup, now_ms: int) -> Turn:
        return Turn(group, self._config, now_ms, self._groups.adopt)
