"""Following: fetching from the leader, turning back where the logs part, loading its snapshot.

Owns when a follower or a node without a leader asks whom. The next fetch says what this node holds,
so it waits until the log is synced. Nothing below the high watermark is ever given up.
"""

from __future__ import annotations

from penstock.model.error import ErrorCode
from penstock.raft.adoption import adopt_from_answer
from penstock.raft.core import Core
from penstock.raft.log_view import EpochEnd, SnapshotId
from penstock.raft.message import Fetch, FetchAnswer, FetchSnapshot, FetchSnapshotAnswer
from penstock.raft.outbox import FETCH_LANE, InFlight
from penstock.raft.ready import AppendFetched, Truncate, WriteChunk
from penstock.raft.role import AnyRole, Follower, SnapshotFetch, Unattached
from penstock.raft.voter import Node


class Following:
    def __init__(self, core: Core) -> None:
        self._core = core

    def poll(self) -> None:
        """Fetch, if that is what comes next."""
        core = self._core
        if not core.outbox.is_free(FETCH_LANE, core.now_ms) or core.is_shutting_down:
            return
        role = core.role
        if isinstance(role, Unattached):
            self._ask_anybody(None)
        elif isinstance(role, Follower) and not role.is_writing:
            self._fetch(role)

    def _fetch(self, role: Follower) -> None:
        core = self._core
        if core.log.flushed_offset < core.log.end_offset:
            return
        if role.leader_failed:
            role.leader_failed = False
            if self._ask_anybody(role.leader_id):
                return
        node = Node(role.leader_id, role.endpoints)
        if role.fetching is not None:
            wanted = role.fetching
            request = FetchSnapshot(core.epoch, core.key, wanted.snapshot, wanted.position)
            core.outbox.send(FETCH_LANE, node, request, core.now_ms)
        else:
            core.outbox.send(FETCH_LANE, node, self._request(), core.now_ms)

    def _ask_anybody(self, but_not: int | None) -> bool:
        core = self._core
        known = (*core.config.bootstrap, *(voter.node for voter in core.voters.voters))
        nodes = [node for node in known if node.id not in (core.config.node_id, but_not)]
        if not nodes or core.log.flushed_offset < core.log.end_offset:
            return False
        node = nodes[int(core.random() * len(nodes))]
        core.outbox.send(FETCH_LANE, node, self._request(), core.now_ms)
        return True

    def _request(self) -> Fetch:
        core = self._core
        return Fetch(
            core.epoch,
            core.key,
            core.log.end_offset,
            core.log.last_epoch,
            -1 if core.high_watermark is None else core.high_watermark,
            core.config.fetch_max_wait_ms,
        )

    def receive_answer(
        self, request_id: int, sent: InFlight, request: Fetch, answer: FetchAnswer
    ) -> None:
        core = self._core
        before = core.role
        is_current = adopt_from_answer(core, answer.error, answer.leader)
        role = core.role
        if (
            not is_current
            or answer.error is not ErrorCode.NONE
            or not isinstance(role, Follower)
            or answer.leader.leader_id != role.leader_id
            or request.epoch != core.epoch
        ):
            self._refused(sent, before)
        elif (request.offset, request.last_epoch) == (core.log.end_offset, core.log.last_epoch):
            self._heard_from_leader(role)
            self._take(request_id, role, answer)

    def _refused(self, sent: InFlight, before: AnyRole) -> None:
        """Ask again at once only if the answer named a leader that was not known."""
        role = self._core.role
        if isinstance(role, Follower) and role is not before:
            return
        self.request_failed(sent, refused=False)

    def _heard_from_leader(self, role: Follower) -> None:
        role.has_fetched = True
        role.leader_failed = False
        role.fetch_deadline_ms = self._core.fetch_deadline_ms()

    def _take(self, request_id: int, role: Follower, answer: FetchAnswer) -> None:
        core = self._core
        if answer.snapshot is not None:
            self._load(role, answer.snapshot)
            return
        role.fetching = None
        if answer.diverging is not None:
            self._turn_back(role, answer.diverging)
        else:
            role.leader_high_watermark = answer.high_watermark
            if answer.has_records:
                role.is_writing = True
                core.log_work.append(AppendFetched(request_id))
            else:
                self.count(role)

    def count(self, role: Follower) -> None:
        """Never from an answer that says the logs differ: what is below it there is other here."""
        if role.leader_high_watermark >= 0:
            end_offset = self._core.log.end_offset
            self._core.advance_high_watermark(min(end_offset, role.leader_high_watermark))

    def _turn_back(self, role: Follower, leader_end: EpochEnd) -> None:
        core = self._core
        own_end = core.log.end_of_epoch(leader_end.epoch)
        target = own_end.end_offset
        if own_end.epoch == leader_end.epoch:
            target = min(target, leader_end.end_offset)
        if target < (core.high_watermark or 0) or target < core.log.start_offset:
            self.pause()
            return
        role.is_writing = True
        core.history.truncate(target)
        core.log_work.append(Truncate(target))

    def _load(self, role: Follower, snapshot: SnapshotId) -> None:
        core = self._core
        if snapshot.end_offset < (core.high_watermark or 0) or snapshot.epoch < 0:
            role.fetching = None
            self.pause()
        elif role.fetching is None or role.fetching.snapshot != snapshot:
            role.fetching = SnapshotFetch(snapshot)

    def pause(self) -> None:
        """Something is wrong that will not pass by asking again at once."""
        core = self._core
        core.outbox.back_off(FETCH_LANE, core.now_ms, core.config.fetch_max_wait_ms)

    def end_snapshot(self) -> None:
        role = self._core.role
        if isinstance(role, Follower):
            role.fetching = None
            role.is_writing = False

    def receive_chunk(self, request_id: int, sent: InFlight, answer: FetchSnapshotAnswer) -> None:
        core = self._core
        before = core.role
        is_current = adopt_from_answer(core, answer.error, answer.leader)
        role = core.role
        if not is_current or not isinstance(role, Follower) or role.fetching is None:
            self._refused(sent, before)
            return
        wanted = role.fetching
        is_wanted = (answer.snapshot, answer.position) == (wanted.snapshot, wanted.position)
        if answer.error is not ErrorCode.NONE or not is_wanted or answer.length <= 0:
            role.fetching = None
            core.outbox.back_off(FETCH_LANE, core.now_ms)
            return
        self._heard_from_leader(role)
        wanted.position += answer.length
        is_last = wanted.position >= answer.size
        role.is_writing = is_last
        core.log_work.append(WriteChunk(request_id, wanted.snapshot, answer.position, is_last))

    def request_failed(self, sent: InFlight, refused: bool) -> None:
        """`refused`: no process listens there any more."""
        core = self._core
        role = core.role
        core.outbox.back_off(FETCH_LANE, core.now_ms)
        if isinstance(role, Follower) and sent.node.id == role.leader_id:
            role.leader_failed = True
            if refused and core.may_stand:
                core.to_leaderless()
