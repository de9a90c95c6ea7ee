"""One decision in the making.

Owns a private copy of one classic group, and the records, timers and answers that shall follow.
Nothing of it is visible outside before the decision is adopted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.member import Member
from penstock.group.classic.state import GroupEvent
from penstock.group.classic.stored import stored_value
from penstock.group.config import GroupConfig
from penstock.group.record import GroupEntry, GroupRecord, group_metadata_record
from penstock.group.timer import SessionTimer
from penstock.machine import Decision, Parked, TimerCancel, TimerChange, TimerKey, TimerSet
from penstock.model.error import ErrorCode
from penstock.protocol.messages.join_group import JoinGroupResponse
from penstock.protocol.messages.sync_group import SyncGroupResponse

ReplyT = TypeVar("ReplyT")


class Turn:
    __slots__ = ("_adopt", "answers", "config", "group", "now_ms", "records", "timers")

    def __init__(
        self,
        group: ClassicGroup,
        config: GroupConfig,
        now_ms: int,
        adopt: Callable[[ClassicGroup], None],
    ) -> None:
        self.group = group.copy()
        self.config = config
        self.now_ms = now_ms
        self.records: list[GroupRecord] = []
        self.timers: list[TimerChange] = []
        self.answers: list[tuple[int, object]] = []
        self._adopt = adopt

    def decision(self, reply: ReplyT | Parked) -> Decision[GroupEntry, ReplyT]:
        return Decision(self.records, reply, self.timers, self.answers, self.adopt)

    def adopt(self) -> None:
        self._adopt(self.group)

    def move(self, event: GroupEvent) -> None:
        self.group.move(event, self.now_ms)

    def store(self) -> None:
        self.records.append(group_metadata_record(self.group.group_id, stored_value(self.group)))

    # --- timers ---

    def start(self, key: TimerKey, delay_ms: int) -> None:
        self.timers.append(TimerSet(key, self.now_ms + delay_ms))

    def cancel(self, key: TimerKey) -> None:
        self.timers.append(TimerCancel(key))

    def start_session(self, member: Member) -> None:
        self.start(self._session(member.member_id), member.session_timeout_ms)

    def start_pending_session(self, member_id: str, timeout_ms: int) -> None:
        self.start(self._session(member_id), timeout_ms)

    def end_session(self, member_id: str) -> None:
        self.cancel(self._session(member_id))

    def _session(self, member_id: str) -> SessionTimer:
        return SessionTimer(self.group.group_id, member_id)

    # --- parked requests ---

    def park_join(self, member_id: str, ticket: int) -> None:
        """A member that asks again while parked lost its connection: the old request is let go."""
        self.answer_join(
            member_id,
            JoinGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member_id),
        )
        self.group.join_tickets[member_id] = ticket

    def park_sync(self, member_id: str, ticket: int) -> None:
        self.answer_sync(member_id, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
        self.group.sync_tickets[member_id] = ticket

    def answer_join(self, member_id: str, response: JoinGroupResponse) -> bool:
        ticket = self.group.join_tickets.pop(member_id, None)
        if ticket is not None:
            self.answers.append((ticket, response))
        return ticket is not None

    def answer_sync(self, member_id: str, response: SyncGroupResponse) -> bool:
        ticket = self.group.sync_tickets.pop(member_id, None)
        if ticket is not None:
            self.answers.append((ticket, response))
        return ticket is not None

    def expel(self, member_id: str, error: ErrorCode = ErrorCode.UNKNOWN_MEMBER_ID) -> None:
        """Remove a member, telling whatever request of it is still parked to join anew."""
        self.answer_join(member_id, JoinGroupResponse(error_code=error))
        self.answer_sync(member_id, SyncGroupResponse(error_code=error))
        self.end_session(member_id)
        self.group.remove(member_id)
