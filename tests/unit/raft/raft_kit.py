"""One machine with a log in memory, and a line for everything it wants done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.model.error import ErrorCode
from penstock.raft import (
    AppendControl,
    AppendFetched,
    ControlEntry,
    ElectionState,
    LogWork,
    Node,
    RaftConfig,
    RaftEndpoint,
    RaftMachine,
    Ready,
    ReplicaKey,
    SendRequest,
    Truncate,
    VersionRange,
    Voter,
    VoterHistory,
    VoterSet,
    WriteChunk,
)
from penstock.raft.message import (
    BeginQuorumEpoch,
    CurrentLeader,
    EndQuorumEpoch,
    Fetch,
    FetchAnswer,
    FetchSnapshot,
    QuorumEpochAnswer,
    RaftAnswer,
    RaftRequest,
    Vote,
    VoteAnswer,
)
from tests.simulation.raft_disk import NOTHING, Record, SimLog, Snapshot


def endpoints(node_id: int) -> tuple[RaftEndpoint, ...]:
    return (RaftEndpoint("CONTROLLER", f"host{node_id}", 9093),)


def directory(node_id: int) -> bytes:
    return bytes(15) + bytes([100 + node_id])


def key(node_id: int) -> ReplicaKey:
    return ReplicaKey(node_id, directory(node_id))


def voter(node_id: int) -> Voter:
    return Voter(key(node_id), endpoints(node_id), VersionRange(0, 1))


def voter_set(*ids: int) -> VoterSet:
    return VoterSet(voter(one) for one in ids)


def leader(node_id: int | None, epoch: int) -> CurrentLeader:
    return CurrentLeader(node_id, epoch, endpoints(node_id) if node_id is not None else ())


def log_of(*epochs: int) -> SimLog:
    """One record per epoch named."""
    log = SimLog([Record(epoch, f"r{place}") for place, epoch in enumerate(epochs)])
    log.synced_offset = log.end_offset
    return log


class Bench:
    """Node 1 among the voters 1 to 3, unless told otherwise. Its clock begins at 0, and every
    random draw is the middle: an election timeout is 1500 ms."""

    def __init__(
        self,
        log: SimLog | None = None,
        election: ElectionState | None = None,
        *,
        voters: Sequence[int] = (1, 2, 3),
        node_id: int = 1,
        kraft_version: int = 1,
        syncs: bool = True,
        can_vote: bool = True,
        auto_join: bool = False,
        bootstrap: tuple[Node, ...] = (),
    ) -> None:
        self.log = log if log is not None else SimLog()
        self.syncs = syncs
        self.now_ms = 0
        self.election = election or ElectionState()
        self.lines: list[str] = []
        self.sent: list[SendRequest] = []
        self.replies: dict[int, tuple[Record, ...]] = {}
        self.answers: dict[object, RaftAnswer] = {}
        self.high_watermarks: list[int] = []
        self.snapshot: Snapshot | None = Snapshot(1, ())
        config = RaftConfig(
            node_id,
            directory(node_id),
            endpoints=endpoints(node_id),
            bootstrap=bootstrap,
            can_vote=can_vote,
            auto_join=auto_join,
        )
        history = self._history(voters, kraft_version)
        self.machine = RaftMachine(
            config, self.log, self.election, history, lambda: 0.5, self.now_ms
        )
        self._drain()

    def _history(self, voters: Sequence[int], kraft_version: int) -> VoterHistory:
        if kraft_version == 0:
            static = (voter(one)._replace(key=ReplicaKey(one)) for one in voters)
            return VoterHistory(VoterSet(static))
        entries = (ControlEntry(-1, voter_set(*voters), 1),)
        if NOTHING not in self.log.snapshots and self.log.start_offset == 0:
            self.log.snapshots[NOTHING] = Snapshot(1, entries)
        return VoterHistory(None, entries)

    # Inputs: each returns the lines it caused

    def step(self, action: Callable[[RaftMachine], None]) -> list[str]:
        before = len(self.lines)
        action(self.machine)
        self._drain()
        return self.lines[before:]

    def wait(self, delay_ms: int) -> list[str]:
        """Tick whenever the machine asked for it."""
        end_ms = self.now_ms + delay_ms
        before = len(self.lines)
        for _ in range(10_000):
            self.now_ms = max(self.now_ms, min(end_ms, self.machine.next_deadline_ms))
            self.step(lambda machine: machine.tick(self.now_ms))
            if self.now_ms >= end_ms and self.machine.next_deadline_ms > end_ms:
                return self.lines[before:]
        raise AssertionError("the machine asks for ticks without end")

    def ask(self, request: RaftRequest, token: str = "ask") -> RaftAnswer | None:
        """None if it waits."""
        self.answers.pop(token, None)
        self.step(lambda machine: machine.receive(request, token, self.now_ms))
        return self.answers.get(token)

    def vote(self, request: Vote) -> tuple[ErrorCode, bool]:
        answer = self.ask(request)
        assert isinstance(answer, VoteAnswer)
        return answer.error, answer.granted

    def fetch(self, request: Fetch) -> FetchAnswer:
        answer = self.ask(request._replace(max_wait_ms=0))
        assert isinstance(answer, FetchAnswer)
        return answer

    def pending(self, node_id: int, kind: type) -> SendRequest:
        fitting = [
            one for one in self.sent if one.node.id == node_id and isinstance(one.request, kind)
        ]
        assert fitting, f"no {kind.__name__} to {node_id} in {self.lines}"
        return fitting[-1]

    def reply(self, node_id: int, kind: type, answer: RaftAnswer, *records: Record) -> list[str]:
        request_id = self.pending(node_id, kind).request_id
        self.replies[request_id] = records
        return self.step(lambda machine: machine.receive_answer(request_id, answer, self.now_ms))

    def fail(self, node_id: int, kind: type, *, unsupported: bool = False) -> list[str]:
        request_id = self.pending(node_id, kind).request_id
        return self.step(
            lambda machine: machine.request_failed(request_id, self.now_ms, unsupported=unsupported)
        )

    def append(self, *values: str) -> list[str]:
        """As leader."""
        epoch = self.machine.view.epoch
        self.log.append(*(Record(epoch, value) for value in values))
        return self.step(lambda machine: machine.log_appended(self.now_ms))

    def sync(self) -> list[str]:
        self.log.synced_offset = self.log.end_offset
        return self.step(lambda machine: machine.log_flushed(self.now_ms))

    # Ways to a role

    def lead(self) -> Bench:
        """Elected by node 2, in the next epoch."""
        self.wait(1500)
        self.grant(2)
        self.grant(2)
        assert self.role == f"leader {self.machine.view.epoch}", self.lines
        return self

    def grant(self, node_id: int, granted: bool = True) -> list[str]:
        answer = VoteAnswer(ErrorCode.NONE, leader(None, self.machine.view.epoch), granted)
        return self.reply(node_id, Vote, answer)

    def follow(self, node_id: int = 2, epoch: int = 1) -> list[str]:
        before = len(self.lines)
        self.ask(BeginQuorumEpoch(epoch, node_id, endpoints(node_id)))
        return self.lines[before:]

    def fetched(self, high_watermark: int = -1, *records: Record) -> list[str]:
        """The leader answers the fetch that is on its way."""
        view = self.machine.view
        assert view.leader_id is not None
        offset = self.log.end_offset
        answer = FetchAnswer(
            ErrorCode.NONE,
            leader(view.leader_id, view.epoch),
            high_watermark,
            offset=offset,
            end_offset=offset + len(records),
        )
        return self.reply(view.leader_id, Fetch, answer, *records)

    def hold(self, node_id: int, offset: int, **changes: object) -> FetchAnswer:
        """Another node fetches from this one, at `offset`, with a log like this one's."""
        last = self.log.at(offset - 1)
        request = Fetch(self.machine.view.epoch, key(node_id), offset, last.epoch if last else 0)
        return self.fetch(request._replace(**changes))  # type: ignore[arg-type]

    @property
    def role(self) -> str:
        return f"{self.machine.view.role.value} {self.machine.view.epoch}"

    # The host

    def _drain(self) -> None:
        while ready := self.machine.take_ready():
            self._carry_out(ready)

    def _carry_out(self, ready: Ready) -> None:
        if ready.election is not None:
            self.election = ready.election
            voted = ready.election.voted
            self.lines.append(
                f"persist {ready.election.epoch} leader {ready.election.leader_id}"
                f" voted {voted.id if voted else None}"
            )
        for work in ready.log_work:
            self._work(work)
        for sent in ready.requests:
            self.sent.append(sent)
            self.lines.append(f"to {sent.node.id}: {render(sent.request)}")
        for token, answer in ready.answers:
            self.answers[token] = answer
            self.lines.append(f"answer {token}: {answer.error.name}")
        if ready.high_watermark is not None:
            self.high_watermarks.append(ready.high_watermark)
            self.lines.append(f"high watermark {ready.high_watermark}")
        if ready.role is not None:
            self.lines.append(f"{ready.role.role.value} {ready.role.epoch}")
        if self.syncs and self.log.synced_offset < self.log.end_offset:
            self.sync()

    def _work(self, work: LogWork) -> None:
        match work:
            case AppendControl():
                named = list(work.voters.ids) if work.voters else None
                self.lines.append(f"append {work.leader_change and 'leader change'} {named}")
                record = Record(work.epoch, "control", work.voters, work.kraft_version)
                self.machine.log_appended(self.now_ms, self.log.append(record))
            case AppendFetched():
                records = self.replies[work.request_id]
                self.lines.append(f"append {[record.value for record in records]}")
                self.machine.log_appended(self.now_ms, self.log.append(*records))
            case Truncate():
                self.lines.append(f"truncate {work.end_offset}")
                self.log.truncate(work.end_offset)
                self.machine.log_truncated(self.now_ms)
            case WriteChunk():
                self.lines.append(f"chunk {work.position}{' last' if work.last else ''}")
                if work.last and self.snapshot is None:
                    self.machine.snapshot_refused(self.now_ms)
                elif work.last and self.snapshot is not None:
                    self.log.install(work.snapshot, self.snapshot)
                    entries = self.snapshot.entries
                    self.machine.snapshot_installed(work.snapshot, entries, self.now_ms)


def render(request: RaftRequest) -> str:
    match request:
        case Vote():
            kind = "pre-vote" if request.pre_vote else "vote"
            return f"{kind} {request.epoch} log {request.last_epoch}/{request.last_offset}"
        case Fetch():
            return f"fetch {request.epoch} at {request.last_epoch}/{request.offset}"
        case FetchSnapshot():
            return f"fetch snapshot {tuple(request.snapshot)} at {request.position}"
        case BeginQuorumEpoch():
            return f"begin {request.epoch}"
        case EndQuorumEpoch():
            return f"end {request.epoch} next {[one.id for one in request.candidates]}"
        case _:
            return type(request).__name__


def acknowledged(epoch: int, node_id: int | None) -> QuorumEpochAnswer:
    return QuorumEpochAnswer(ErrorCode.NONE, leader(node_id, epoch))
