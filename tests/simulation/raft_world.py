"""A cluster of raft machines in virtual time: network, disks, crashes and clients from one seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from random import Random
from zlib import crc32

from penstock.model.error import ErrorCode
from penstock.raft import (
    AppendControl,
    AppendFetched,
    LogWork,
    RaftConfig,
    RaftEndpoint,
    RaftMachine,
    Ready,
    ReplicaKey,
    Role,
    SendAnswer,
    SendRequest,
    SnapshotId,
    Truncate,
    VersionRange,
    Voter,
    VoterHistory,
    VoterSet,
    WriteChunk,
)
from penstock.raft.message import (
    AddVoter,
    AskVersions,
    FetchAnswer,
    FetchSnapshotAnswer,
    RaftAnswer,
    RaftRequest,
    RemoveVoter,
    VersionsAnswer,
)
from penstock.raft.voter_history import ControlEntry
from tests.simulation.raft_check import Checker
from tests.simulation.raft_disk import NOTHING, Record, SimDisk, SimLog, Snapshot

CHUNK = 60
RECORDS_PER_FETCH = 4
SETTLE_MS = 40_000


@dataclass(frozen=True)
class Plan:
    """How hard a run is; drawn from its seed."""

    voters: int
    observers: int
    kraft_version: int
    drop: float
    duplicate: float
    slow: float
    fault_every_ms: int
    append_every_ms: int
    faults_for_ms: int
    replaces_disk: bool
    """One node comes back with an empty disk. Voters are not changed by request then: together the
    two could take the majority away for good."""
    haste: int
    """What Kafka's timeouts are divided by: the same faults then meet more elections."""


def plan_of(random: Random) -> Plan:
    return Plan(
        voters=random.randint(3, 7),
        observers=random.randint(0, 2),
        kraft_version=random.randint(0, 1),
        drop=random.choice((0.0, 0.02, 0.1)),
        duplicate=random.choice((0.0, 0.05)),
        slow=random.choice((0.0, 0.02, 0.1)),
        fault_every_ms=random.choice((200, 600, 1500)),
        append_every_ms=random.choice((40, 150, 400)),
        faults_for_ms=random.choice((2000, 4000, 6000)),
        replaces_disk=random.random() < 0.25,
        haste=random.choice((1, 4, 8)),
    )


@dataclass(frozen=True)
class Envelope:
    """A request with its way back."""

    sender: int
    incarnation: int
    request_id: int
    request: RaftRequest


@dataclass(frozen=True)
class Reply:
    answer: RaftAnswer
    records: tuple[Record, ...] = ()
    snapshot: Snapshot | None = None


@dataclass
class SimNode:
    id: int
    directory_id: bytes
    disk: SimDisk
    machine: RaftMachine
    incarnation: int = 0
    is_up: bool = True
    high_watermark: int = 0
    """The last one seen by the checker, in this incarnation."""
    is_syncing: bool = False
    tick_at_ms: int = -1
    replies: dict[int, Reply] = field(default_factory=dict)


def endpoints_of(node_id: int) -> tuple[RaftEndpoint, ...]:
    return (RaftEndpoint("CONTROLLER", f"n{node_id}", 9093),)


def directory_of(node_id: int, disks: int = 0) -> bytes:
    return bytes(14) + bytes([100 + node_id, disks])


def voter_of(node_id: int, kraft_version: int) -> Voter:
    directory = directory_of(node_id) if kraft_version else bytes(16)
    return Voter(ReplicaKey(node_id, directory), endpoints_of(node_id), VersionRange(0, 1))


class World:
    """Runs from seed alone: the same seed, the same `trace`."""

    def __init__(self, seed: int, plan: Plan | None = None) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.plan = plan or plan_of(self.random)
        self.now_ms = 0
        self.trace = 0
        self.steps = 0
        self._sequence = 0
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._cut: set[tuple[int, int]] = set()
        self._is_replaced = not self.plan.replaces_disk
        self._thrown_away: SimNode | None = None
        self._values = 0
        self.has_faults = True
        self.checker = Checker(self)
        self._first = self._first_entries()
        self.nodes: dict[int, SimNode] = {}
        for node_id in range(1, self.plan.voters + self.plan.observers + 1):
            self._make(node_id)

    # Nodes

    def _first_entries(self) -> tuple[ControlEntry, ...]:
        """As formatted: with kraft.version 1 the first snapshot names the voters."""
        if self.plan.kraft_version == 0:
            return ()
        voters = VoterSet(voter_of(one, 1) for one in range(1, self.plan.voters + 1))
        return (ControlEntry(-1, voters, 1),)

    def _make(self, node_id: int) -> None:
        disk = SimDisk()
        if self._first and node_id <= self.plan.voters:
            disk.log.snapshots[NOTHING] = Snapshot(1, self._first)
        directory_id = directory_of(node_id)
        machine = self._machine(node_id, directory_id, disk)
        self.nodes[node_id] = SimNode(node_id, directory_id, disk, machine)

    def _machine(self, node_id: int, directory_id: bytes, disk: SimDisk) -> RaftMachine:
        static = VoterSet(voter_of(one, 0) for one in range(1, self.plan.voters + 1))
        config = RaftConfig(
            node_id,
            directory_id,
            auto_join=self.plan.replaces_disk,
            endpoints=endpoints_of(node_id),
            bootstrap=tuple(voter.node for voter in static.voters),
            election_timeout_ms=1000 // self.plan.haste,
            fetch_timeout_ms=2000 // self.plan.haste,
            election_backoff_max_ms=1000 // self.plan.haste,
            request_timeout_ms=2000 // self.plan.haste,
            retry_backoff_ms=80,
            can_vote=node_id != self.plan.voters + 2,
        )
        history = VoterHistory(static if not self.plan.kraft_version else None, disk.log.entries())
        random = Random(self.random.random())
        return RaftMachine(config, disk.log, disk.election, history, random.random, self.now_ms)

    def log_of(self, voter: Voter) -> SimLog:
        """Also of a disk that was thrown away: what it said it has, it had."""
        node = self.nodes[voter.key.id]
        if voter.key.accepts(ReplicaKey(node.id, node.directory_id)):
            return node.disk.log
        assert self._thrown_away is not None
        return self._thrown_away.disk.log

    def crash(self, node: SimNode) -> None:
        node.is_up = False
        node.incarnation += 1
        node.disk.log.lose_unsynced(self.random)
        self._note("crash", node.id)

    def restart(self, node: SimNode) -> None:
        node.is_up = True
        node.incarnation += 1
        node.is_syncing = False
        node.high_watermark = 0
        node.tick_at_ms = -1
        node.replies.clear()
        node.machine = self._machine(node.id, node.directory_id, node.disk)
        self._note("restart", node.id)
        self._drain(node)

    # Time

    def at(self, delay_ms: int, action: Callable[[], None]) -> None:
        self._sequence += 1
        heappush(self._queue, (self.now_ms + delay_ms, self._sequence, action))

    def run_until(self, end_ms: int, is_over: Callable[[], bool] = lambda: False) -> bool:
        while self._queue and self._queue[0][0] <= end_ms:
            self.now_ms, _, action = heappop(self._queue)
            action()
            if is_over():
                return True
        self.now_ms = end_ms
        return False

    def _note(self, *what: object) -> None:
        self.steps += 1
        self.trace = crc32(repr((self.now_ms, *what)).encode(), self.trace)

    # A node's host

    def step(self, node: SimNode, action: Callable[[RaftMachine], None]) -> None:
        if node.is_up:
            action(node.machine)
            self._drain(node)

    def _drain(self, node: SimNode) -> None:
        while node.is_up:
            self.checker.stepped(node)
            ready = node.machine.take_ready()
            self._carry_out(node, ready)
            if not ready:
                break
        if node.is_up:
            self._sync_later(node)
            self._tick_later(node)

    def _carry_out(self, node: SimNode, ready: Ready) -> None:
        if ready.election is not None:
            self._persist(node, ready)
        if self._power_fails(node, ready):
            return
        for work in ready.log_work:
            self._work(node, work)
        for request in ready.requests:
            self._send(node, request)
        for answer in ready.answers:
            self._answer(node, answer)
        if ready.role is not None:
            self._note(node.id, ready.role)

    def _persist(self, node: SimNode, ready: Ready) -> None:
        assert ready.election is not None
        self.checker.persisted(node, node.disk.election, ready.election)
        node.disk.election = ready.election

    def _power_fails(self, node: SimNode, ready: Ready) -> bool:
        """Between the writing of the vote and its sending, now and then."""
        if ready.election is None or not self.has_faults or self.random.random() > 0.01:
            return False
        self.crash(node)
        self.at(self.random.randint(1, 3000), lambda: self._come_back(node))
        return True

    def _work(self, node: SimNode, work: LogWork) -> None:
        log, machine = node.disk.log, node.machine
        match work:
            case AppendControl():
                if work.voters is not None and work.leader_change is None:
                    self.checker.changes_voters(node, work.voters)
                value = f"control {node.id} {work.epoch}"
                entries = log.append(Record(work.epoch, value, work.voters, work.kraft_version))
                machine.log_appended(self.now_ms, entries)
            case AppendFetched():
                reply = node.replies.pop(work.request_id)
                machine.log_appended(self.now_ms, log.append(*reply.records))
            case Truncate():
                self.checker.truncated(node, work.end_offset)
                log.truncate(work.end_offset)
                machine.log_truncated(self.now_ms)
            case WriteChunk():
                kept = node.replies.pop(work.request_id).snapshot
                assert kept is not None
                if work.last:
                    log.install(work.snapshot, kept)
                    machine.snapshot_installed(work.snapshot, kept.entries, self.now_ms)

    def _sync_later(self, node: SimNode) -> None:
        log = node.disk.log
        if node.is_syncing or log.synced_offset >= log.end_offset:
            return
        node.is_syncing = True
        incarnation, target = node.incarnation, log.end_offset

        def synced() -> None:
            if node.incarnation == incarnation:
                node.is_syncing = False
                log.synced_offset = max(log.synced_offset, min(target, log.end_offset))
                self.step(node, lambda machine: machine.log_flushed(self.now_ms))

        slow = self.has_faults and self.random.random() < self.plan.slow
        self.at(self.random.randint(50, 2500) if slow else self.random.randint(0, 5), synced)

    def _tick_later(self, node: SimNode) -> None:
        due_ms = max(node.machine.next_deadline_ms, self.now_ms + 1)
        if self.now_ms < node.tick_at_ms <= due_ms:
            return
        node.tick_at_ms = due_ms
        incarnation = node.incarnation

        def tick() -> None:
            if node.incarnation == incarnation and node.tick_at_ms == self.now_ms:
                self.step(node, lambda machine: machine.tick(self.now_ms))

        self.at(due_ms - self.now_ms, tick)

    # The network

    def _deliver(self, sender: int, receiver: int, action: Callable[[], None]) -> None:
        for _ in range(self._copies()):
            if (sender, receiver) not in self._cut:
                slow = self.has_faults and self.random.random() < self.plan.slow
                delay_ms = self.random.randint(30, 4000) if slow else self.random.randint(1, 10)
                self.at(delay_ms, action)

    def _copies(self) -> int:
        if not self.has_faults:
            return 1
        chance = self.random.random()
        if chance < self.plan.drop:
            return 0
        return 2 if chance > 1 - self.plan.duplicate else 1

    def _send(self, node: SimNode, sent: SendRequest) -> None:
        envelope = Envelope(node.id, node.incarnation, sent.request_id, sent.request)
        receiver = self.nodes[sent.node.id]
        self._deliver(node.id, receiver.id, lambda: self._arrive(receiver, envelope))

    def _arrive(self, receiver: SimNode, envelope: Envelope) -> None:
        self._note(envelope.sender, receiver.id, envelope.request)
        if not receiver.is_up:
            if self.random.random() < 0.5:
                self._reply(receiver.id, envelope, None)
        elif isinstance(envelope.request, AskVersions):
            answer = VersionsAnswer(ErrorCode.NONE, VersionRange(0, 1))
            self._reply(receiver.id, envelope, Reply(answer))
        else:
            request = envelope.request
            self.step(receiver, lambda machine: machine.receive(request, envelope, self.now_ms))

    def _answer(self, node: SimNode, sent: SendAnswer) -> None:
        envelope = sent.token
        if not isinstance(envelope, Envelope):
            return
        self.checker.answered(node, envelope.request, sent.answer)
        self._reply(node.id, envelope, self._fill(node, sent.answer))

    def _fill(self, node: SimNode, answer: RaftAnswer) -> Reply:
        """With what the host reads from its disk."""
        log = node.disk.log
        if isinstance(answer, FetchAnswer) and answer.has_records:
            count = min(RECORDS_PER_FETCH, answer.end_offset - answer.offset)
            return Reply(answer, log.read(answer.offset, count))
        if isinstance(answer, FetchSnapshotAnswer) and answer.error is ErrorCode.NONE:
            length = min(CHUNK, answer.size - answer.position)
            kept = log.snapshots[answer.snapshot]
            return Reply(answer._replace(length=length), snapshot=kept)
        return Reply(answer)

    def _reply(self, sender: int, envelope: Envelope, reply: Reply | None) -> None:
        receiver = self.nodes[envelope.sender]

        def arrive() -> None:
            if receiver.is_up and receiver.incarnation == envelope.incarnation:
                self._take_reply(receiver, envelope.request_id, reply)

        self._deliver(sender, receiver.id, arrive)

    def _take_reply(self, node: SimNode, request_id: int, reply: Reply | None) -> None:
        if reply is None:
            self.step(node, lambda machine: machine.request_failed(request_id, self.now_ms))
        else:
            self._note(node.id, reply.answer)
            node.replies[request_id] = reply
            answer = reply.answer
            self.step(node, lambda machine: machine.receive_answer(request_id, answer, self.now_ms))
            node.replies.pop(request_id, None)

    # Clients

    def leaders(self) -> Iterator[SimNode]:
        for node in self.nodes.values():
            if node.is_up and node.machine.view.role is Role.LEADER:
                yield node

    def append(self, node: SimNode) -> str:
        self._values += 1
        value = f"value {self._values}"
        node.disk.log.append(Record(node.machine.view.epoch, value))
        self.step(node, lambda machine: machine.log_appended(self.now_ms))
        return value

    def client(self) -> None:
        for node in list(self.leaders()):
            self.append(node)
        self.at(self.random.randint(1, 2 * self.plan.append_every_ms), self.client)

    # Faults

    def fault(self) -> None:
        if not self.has_faults:
            return
        node = self.random.choice(list(self.nodes.values()))
        choice = self.random.choice(
            [self._stop, self._stop_leader, self._isolate, self._split, self._heal, self._resign]
            + [self._change] * 3
            + [self._replace_disk, self._upgrade]
        )
        choice(node)
        self.at(self.random.randint(1, 2 * self.plan.fault_every_ms), self.fault)

    def snapshots(self) -> None:
        self._snapshot(self.random.choice(list(self.nodes.values())))
        self.at(self.random.randint(1, 600), self.snapshots)

    def _stop(self, node: SimNode) -> None:
        if node.is_up:
            self.crash(node)
            self.at(self.random.randint(1, 2500), lambda: self._come_back(node))

    def _stop_leader(self, node: SimNode) -> None:
        self._stop(next(self.leaders(), node))

    def _come_back(self, node: SimNode) -> None:
        if not node.is_up:
            self.restart(node)

    def _isolate(self, node: SimNode) -> None:
        """In one direction or both."""
        how = self.random.randint(1, 3)
        for other in self.nodes:
            if how & 1:
                self._cut.add((node.id, other))
            if how & 2:
                self._cut.add((other, node.id))
        self._note("isolate", node.id, how)

    def _split(self, _: SimNode) -> None:
        side = {one for one in self.nodes if self.random.random() < 0.5}
        self._cut = {
            (one, other)
            for one in self.nodes
            for other in self.nodes
            if (one in side) != (other in side)
        }
        self._note("split", sorted(side))

    def _heal(self, _: SimNode | None = None) -> None:
        self._cut.clear()

    def _snapshot(self, node: SimNode) -> None:
        """Of what the node has applied; half of the time the log is trimmed, too."""
        log, machine = node.disk.log, node.machine
        end = machine.high_watermark or 0
        last = log.at(end - 1)
        if not node.is_up or last is None:
            return
        snapshot = SnapshotId(end, last.epoch)
        entries: tuple[ControlEntry, ...] = ()
        if machine.history.kraft_version_before(end):
            voters = machine.history.voters_before(end)
            entries = (ControlEntry(end - 1, voters, machine.history.kraft_version_before(end)),)
        log.snapshots[snapshot] = Snapshot(self.random.randint(1, 3 * CHUNK), entries)
        if self.random.random() < 0.7:
            log.trim(self.random.choice([one for one in log.snapshots if one > NOTHING]))
            machine.log_trimmed()
        self._note("snapshot", node.id, snapshot, log.start_offset)

    def _change(self, node: SimNode) -> None:
        leader = next(self.leaders(), None)
        if leader is None or self.plan.replaces_disk or node.id == self.plan.voters + 2:
            return
        request: RaftRequest
        if leader.machine.voters.get(node.id) is None:
            request = AddVoter(voter_of(node.id, 1), self.random.choice((5, 2000)))
        else:
            request = RemoveVoter(ReplicaKey(node.id, directory_of(node.id)))
        self.step(leader, lambda machine: machine.receive(request, None, self.now_ms))
        self._note("change", request)

    def _replace_disk(self, node: SimNode) -> None:
        """Only where the voters are known by their directories: without, nobody notices."""
        if self._is_replaced or not self.plan.kraft_version or node.id > self.plan.voters:
            return
        self._is_replaced = True
        self.crash(node)
        self._thrown_away = replace(node)
        node.directory_id = directory_of(node.id, 1)
        node.disk = SimDisk()
        self.at(self.random.randint(1, 1000), lambda: self._come_back(node))

    def _upgrade(self, _: SimNode) -> None:
        for leader in list(self.leaders()):
            self.step(leader, lambda one: one.upgrade_kraft_version(1, None, self.now_ms))

    def _resign(self, node: SimNode) -> None:
        epoch = node.machine.view.epoch
        self.step(node, lambda machine: machine.resign(epoch, self.now_ms))

    # A run

    def run(self) -> None:
        for node in list(self.nodes.values()):
            self._drain(node)
        self.at(1, self.client)
        self.at(1, self.fault)
        self.at(1, self.snapshots)
        self.run_until(self.plan.faults_for_ms)
        self.settle()

    def settle(self) -> None:
        """The faults are over: within bounded time a leader commits, and everybody has it."""
        self.has_faults = False
        self._heal()
        for node in self.nodes.values():
            self._come_back(node)
        before = self.checker.commits
        if not self.run_until(self.now_ms + SETTLE_MS, lambda: self._has_settled(before)):
            roles = {node.id: node.machine.view for node in self.nodes.values()}
            self.checker.fail(f"nothing was committed for {SETTLE_MS} ms: {roles}")
        self.checker.ended()

    def _has_settled(self, before: int) -> bool:
        end = len(self.checker.committed)
        if self.checker.commits < before + 2:
            return False
        return all((node.machine.high_watermark or 0) >= end for node in self.nodes.values())
