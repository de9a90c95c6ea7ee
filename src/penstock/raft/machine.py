"""One node's part in raft for the metadata partition, as a value machine.

Inputs are what happened, with the time; `take_ready` says what to do about it. Owns the way of an
input to whoever decides about it, and what follows from it in the same moment. It never touches a
clock, a socket, a disk, or the bytes of a record.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from penstock.model.error import ErrorCode
from penstock.raft.config import RaftConfig
from penstock.raft.core import Core
from penstock.raft.deadline import next_deadline_ms
from penstock.raft.describe import describe
from penstock.raft.election import Election
from penstock.raft.election_state import ElectionState
from penstock.raft.fetch_service import FetchService
from penstock.raft.following import Following
from penstock.raft.joining import Joining
from penstock.raft.leadership import Leadership
from penstock.raft.log_view import LogView, SnapshotId
from penstock.raft.message import (
    AddVoter,
    BeginQuorumEpoch,
    EndQuorumEpoch,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    FetchSnapshotAnswer,
    QuorumEpochAnswer,
    RaftAnswer,
    RaftRequest,
    RemoveVoter,
    UpdateVoter,
    VersionsAnswer,
    Vote,
    VoteAnswer,
    VoterChangeAnswer,
)
from penstock.raft.outbox import InFlight
from penstock.raft.ready import Ready, RoleView
from penstock.raft.role import Follower, Leader, Resigned
from penstock.raft.view import QuorumView
from penstock.raft.voter import VoterSet
from penstock.raft.voter_change import VoterChanges
from penstock.raft.voter_history import ControlEntry, VoterHistory


class RaftMachine:
    """After every input the host carries out `take_ready`, as `ready` says, until it is empty."""

    def __init__(
        self,
        config: RaftConfig,
        log: LogView,
        state: ElectionState,
        history: VoterHistory,
        random: Callable[[], float],
        now_ms: int,
    ) -> None:
        self._core = Core(config, log, state, history, random, now_ms)
        self._leadership = Leadership(self._core)
        self._election = Election(self._core)
        self._fetches = FetchService(self._core, self._leadership)
        self._following = Following(self._core)
        self._changes = VoterChanges(self._core, self._leadership)
        self._joining = Joining(self._core)
        self._persisted = state
        self._shown_role: RoleView | None = None
        self._shown_high_watermark: int | None = None
        self._leader: Leader | None = None
        self._settle()

    # What happens

    def receive(self, request: RaftRequest, token: Hashable, now_ms: int) -> None:
        """A request came in; its answer goes out, now or later, under `token`."""
        self._core.now_ms = now_ms
        match request:
            case Vote():
                self._election.receive(request, token)
            case BeginQuorumEpoch():
                self._leadership.receive_begin(request, token)
            case EndQuorumEpoch():
                self._leadership.receive_end(request, token)
            case Fetch():
                self._fetches.receive(request, token)
            case FetchSnapshot():
                self._fetches.receive_snapshot(request, token)
            case AddVoter():
                self._changes.add(request, token)
            case RemoveVoter():
                self._changes.remove(request, token)
            case UpdateVoter():
                self._changes.update(request, token)
            case _:
                raise TypeError(f"not a request to answer here: {request!r}")
        self._settle()

    def receive_answer(self, request_id: int, answer: RaftAnswer, now_ms: int) -> None:
        """An answer to a request that the machine has given up is ignored."""
        self._core.now_ms = now_ms
        sent = self._core.outbox.finish(request_id)
        if sent is not None:
            self._dispatch(request_id, sent, answer)
        self._settle()

    def _dispatch(self, request_id: int, sent: InFlight, answer: RaftAnswer) -> None:
        match sent.request, answer:
            case Vote(), VoteAnswer():
                self._election.receive_answer(sent, answer)
            case ((BeginQuorumEpoch() | EndQuorumEpoch()), QuorumEpochAnswer()):
                self._leadership.receive_answer(sent, answer)
            case Fetch() as request, FetchAnswer():
                self._following.receive_answer(request_id, sent, request, answer)
            case FetchSnapshot(), FetchSnapshotAnswer():
                self._following.receive_chunk(request_id, sent, answer)
            case (AddVoter() | RemoveVoter() | UpdateVoter()) as request, VoterChangeAnswer():
                self._joining.receive_answer(sent, request, answer)
            case _, VersionsAnswer():
                self._changes.receive_versions(request_id, answer)
            case _:
                raise TypeError(f"{answer!r} does not answer {sent.request!r}")

    def request_failed(
        self,
        request_id: int,
        now_ms: int,
        *,
        unsupported: bool = False,
        refused: bool = False,
    ) -> None:
        """No answer will come: connection gone, top-level error. `unsupported`: the other side does
        not know the request, or not in the version that it needs. `refused`: its port is closed,
        so that the process is known to have ended."""
        self._core.now_ms = now_ms
        self._fail(request_id, unsupported, refused)
        self._settle()

    def _fail(self, request_id: int, unsupported: bool, refused: bool = False) -> None:
        sent = self._core.outbox.finish(request_id)
        if sent is None:
            return
        match sent.request:
            case Vote() as request:
                self._election.request_failed(sent, request, unsupported)
            case BeginQuorumEpoch() | EndQuorumEpoch():
                self._leadership.request_failed(sent)
            case Fetch() | FetchSnapshot():
                self._following.request_failed(sent, refused)
            case AddVoter() | RemoveVoter() | UpdateVoter():
                self._joining.request_failed(sent, unsupported)
            case _:
                self._changes.request_failed(sent, request_id)

    def log_appended(self, now_ms: int, entries: Sequence[ControlEntry] = ()) -> None:
        """The log grew, by own records as leader or by fetched ones, and these control records were
        among them."""
        self._core.now_ms = now_ms
        self._core.history.add(entries)
        role = self._core.role
        if isinstance(role, Follower):
            role.is_writing = False
            self._following.count(role)
        elif isinstance(role, Leader) and any(entry.voters is not None for entry in entries):
            self._leadership.voters_changed(role)
        self._settle()

    def log_truncated(self, now_ms: int) -> None:
        self._core.now_ms = now_ms
        if isinstance(self._core.role, Follower):
            self._core.role.is_writing = False
        self._settle()

    def log_flushed(self, now_ms: int) -> None:
        """`flushed_offset` moved."""
        self.tick(now_ms)

    def snapshot_installed(
        self, snapshot: SnapshotId, entries: Sequence[ControlEntry], now_ms: int
    ) -> None:
        """A fetched snapshot took the place of the log."""
        self._core.now_ms = now_ms
        self._core.history.replace(entries)
        self._core.advance_high_watermark(snapshot.end_offset)
        self._following.end_snapshot()
        self._settle()

    def snapshot_refused(self, now_ms: int) -> None:
        """A fetched snapshot was bad: start over, after a pause."""
        self._core.now_ms = now_ms
        self._following.end_snapshot()
        self._following.pause()
        self._settle()

    def log_trimmed(self) -> None:
        """The log starts later than before."""
        self._core.history.trim(self._core.log.start_offset)

    def tick(self, now_ms: int) -> None:
        self._core.now_ms = now_ms
        self._settle()

    # What the node itself wants

    def resign(self, epoch: int, now_ms: int) -> None:
        """The node cannot go on leading `epoch`."""
        self._core.now_ms = now_ms
        if epoch == self._core.epoch:
            self._leadership.resign()
        self._settle()

    def shut_down(self, now_ms: int) -> None:
        """Stand for nothing new; a leader hands over. Go on with inputs until `is_done`."""
        self._core.now_ms = now_ms
        self._core.is_shutting_down = True
        self._leadership.resign()
        self._settle()

    def upgrade_kraft_version(self, version: int, token: Hashable, now_ms: int) -> None:
        """Answered under `token` with a VoterChangeAnswer."""
        self._core.now_ms = now_ms
        self._changes.upgrade(version, token)
        self._settle()

    # What follows

    def _settle(self) -> None:
        for request_id in self._core.outbox.expired(self._core.now_ms):
            self._fail(request_id, unsupported=False)
        before = None
        while before is not self._core.role:
            before = self._core.role
            self._election.poll()
            self._lead()
            self._leadership.poll()
            self._dismiss()
        self._following.poll()
        self._joining.poll()

    def _lead(self) -> None:
        leader = self._core.role
        if isinstance(leader, Leader):
            self._leadership.count(leader)
            self._changes.settle(leader)
            self._fetches.wake(leader)
            self._leadership.resign_if_removed(leader)

    def _dismiss(self) -> None:
        """Whoever waited for a leader that is none any more."""
        role = self._core.role
        if self._leader is not None and self._leader is not role:
            self._fetches.dismiss(self._leader.parked)
            self._changes.dismiss(self._leader.change)
        self._leader = role if isinstance(role, Leader) else None

    def take_ready(self) -> Ready:
        core = self._core
        election = core.election if core.election != self._persisted else None
        self._persisted = core.election
        view = core.view
        role = view if view != self._shown_role else None
        self._shown_role = view
        moved = core.high_watermark != self._shown_high_watermark
        self._shown_high_watermark = core.high_watermark
        log_work, answers = tuple(core.log_work), tuple(core.answers)
        core.log_work.clear()
        core.answers.clear()
        requests = core.outbox.take()
        return Ready(
            election, log_work, requests, answers, core.high_watermark if moved else None, role
        )

    # What is

    @property
    def next_deadline_ms(self) -> int:
        """When to tick, if nothing happens before."""
        return next_deadline_ms(self._core, self._joining)

    @property
    def view(self) -> RoleView:
        return self._core.view

    @property
    def is_done(self) -> bool:
        """After `shut_down`: nobody has still to be told."""
        core = self._core
        if not isinstance(core.role, Resigned):
            return not isinstance(core.role, Leader)
        others = {voter.key.id for voter in core.voters.others(core.config.node_id)}
        return others <= core.role.acknowledged

    @property
    def known_high_watermark(self) -> int | None:
        """The leader's, as far as this node has heard of it; its own log may lack some of it."""
        role = self._core.role
        heard = role.leader_high_watermark if isinstance(role, Follower) else -1
        own = self._core.high_watermark
        return max(heard, own or -1) if heard >= 0 else own

    @property
    def high_watermark(self) -> int | None:
        """Of this node; it never goes back while the node runs."""
        return self._core.high_watermark

    @property
    def leads_committed(self) -> bool:
        """Whether this leader has committed something of its epoch: its log holds everything then,
        and a controller may begin its work."""
        role = self._core.role
        return isinstance(role, Leader) and role.high_watermark is not None

    @property
    def voters(self) -> VoterSet:
        return self._core.voters

    @property
    def history(self) -> VoterHistory:
        """Not to be changed from outside: snapshots are written from it."""
        return self._core.history

    @property
    def kraft_version(self) -> int:
        return self._core.kraft_version

    def describe(self, now_ms: int) -> QuorumView | ErrorCode:
        return describe(self._core, now_ms)
