"""Answering fetches as leader: what a replica may have, whether it must turn back, or wait.

Owns parked fetches. Whoever diverged or needs a snapshot is told at once; only a replica that is at
the end of the log waits. A parked fetch is judged anew when it is woken: the role, the epoch or the
log may have changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from penstock.model.error import ErrorCode
from penstock.raft.core import Core
from penstock.raft.leadership import Leadership
from penstock.raft.log_view import SnapshotId
from penstock.raft.message import Fetch, FetchAnswer, FetchSnapshot, FetchSnapshotAnswer
from penstock.raft.role import NEVER_MS, Leader, ParkedFetch

_FORMATTED = SnapshotId(0, 0)


class FetchService:
    def __init__(self, core: Core, leadership: Leadership) -> None:
        self._core = core
        self._leadership = leadership

    def receive(self, request: Fetch, token: Hashable) -> None:
        answer = self._judge(request)
        role = self._core.role
        if isinstance(role, Leader) and answer.error is ErrorCode.NONE:
            self._note(role, request, answer)
            if self._leadership.count(role):
                answer = self._judge(request)
            if self._must_wait(request, answer):
                self._park(role, request, token)
                return
        self._core.answer(token, answer)

    def _park(self, leader: Leader, request: Fetch, token: Hashable) -> None:
        deadline_ms = self._core.now_ms + request.max_wait_ms
        leader.parked.append(ParkedFetch(token, request, deadline_ms))
        leader.wake_at_ms = min(leader.wake_at_ms, deadline_ms)

    def _note(self, leader: Leader, request: Fetch, answer: FetchAnswer) -> None:
        """Only a replica whose log is a beginning of this one holds what its offset says."""
        if request.replica.id < 0 or request.replica.id == self._core.config.node_id:
            return
        self._leadership.heard(leader, request.replica)
        if answer.diverging is None and answer.snapshot is None:
            end_offset = self._core.log.end_offset
            leader.replicas.fetched(request.replica, request.offset, end_offset, self._core.now_ms)

    def _judge(self, request: Fetch) -> FetchAnswer:
        core = self._core
        error = self._problem(request)
        if error is not ErrorCode.NONE or not isinstance(core.role, Leader):
            return FetchAnswer(error, core.current_leader())
        high_watermark = core.role.high_watermark
        answer = FetchAnswer(
            error,
            core.current_leader(),
            -1 if high_watermark is None else high_watermark,
            core.log.start_offset,
            offset=request.offset,
            end_offset=request.offset,
        )
        if self._needs_snapshot(request):
            return answer._replace(snapshot=core.log.latest_snapshot)
        end = core.log.end_of_epoch(request.last_epoch)
        if end.epoch != request.last_epoch or end.end_offset < request.offset:
            return answer._replace(diverging=end)
        return answer._replace(end_offset=core.log.end_offset)

    def _problem(self, request: Fetch) -> ErrorCode:
        if request.offset < 0 or not 0 <= request.last_epoch <= request.epoch:
            return ErrorCode.INVALID_REQUEST
        return self._leader_problem(request.epoch)

    def _leader_problem(self, epoch: int) -> ErrorCode:
        core = self._core
        if epoch < core.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if epoch > core.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if not isinstance(core.role, Leader):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE

    def _needs_snapshot(self, request: Fetch) -> bool:
        """An empty log is filled from a snapshot even where all records are still there."""
        log = self._core.log
        if log.latest_snapshot is None or log.latest_snapshot == _FORMATTED:
            return False
        if request.offset == 0 or request.offset < log.start_offset:
            return True
        first = log.earliest_snapshot
        if first is None:
            return False
        at_start = request.offset == log.start_offset and request.last_epoch != first.epoch
        return at_start or request.last_epoch < first.epoch

    def _must_wait(self, request: Fetch, answer: FetchAnswer) -> bool:
        if answer.error is not ErrorCode.NONE or request.max_wait_ms <= 0:
            return False
        if answer.diverging is not None or answer.snapshot is not None or answer.has_records:
            return False
        return answer.high_watermark <= request.high_watermark

    def wake(self, leader: Leader) -> None:
        """Answer those who need not wait any longer. Looked at only when something changed: every
        broker has a fetch parked here."""
        offered = (self._core.log.end_offset, leader.high_watermark)
        is_news = offered != leader.offered
        if not is_news and self._core.now_ms < leader.wake_at_ms:
            return
        leader.offered = offered
        waiting, leader.parked = leader.parked, []
        for parked in waiting:
            if not self._wake_one(parked, is_news):
                leader.parked.append(parked)
        leader.wake_at_ms = min((one.deadline_ms for one in leader.parked), default=NEVER_MS)

    def _wake_one(self, parked: ParkedFetch, is_news: bool) -> bool:
        is_over = self._core.now_ms >= parked.deadline_ms
        if not is_over and not is_news:
            return False
        answer = self._judge(parked.request)
        if not is_over and self._must_wait(parked.request, answer):
            return False
        self._core.answer(parked.token, answer)
        return True

    def dismiss(self, parked: Iterable[ParkedFetch]) -> None:
        """The office is lost: say so, with whoever is known to lead now."""
        for one in parked:
            self._core.answer(one.token, self._judge(one.request))

    def receive_snapshot(self, request: FetchSnapshot, token: Hashable) -> None:
        core = self._core
        error = self._leader_problem(request.epoch)
        answer = FetchSnapshotAnswer(
            error, core.current_leader(), request.snapshot, request.position
        )
        if isinstance(core.role, Leader) and error is ErrorCode.NONE:
            self._leadership.heard(core.role, request.replica)
            answer = self._located(request, answer)
        core.answer(token, answer)

    def _located(self, request: FetchSnapshot, answer: FetchSnapshotAnswer) -> FetchSnapshotAnswer:
        size = self._core.log.snapshot_size(request.snapshot)
        if size is None or request.snapshot == _FORMATTED:
            return answer._replace(error=ErrorCode.SNAPSHOT_NOT_FOUND)
        if not 0 <= request.position < size:
            return answer._replace(error=ErrorCode.POSITION_OUT_OF_RANGE)
        return answer._replace(size=size)
