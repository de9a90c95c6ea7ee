"""What must hold at every step of a simulated cluster, whatever is broken in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.model.error import ErrorCode
from penstock.raft import ElectionState, Role, VoterSet
from penstock.raft.message import (
    AddVoter,
    RaftAnswer,
    RaftRequest,
    RemoveVoter,
    Vote,
    VoteAnswer,
)
from tests.simulation.raft_disk import Record, SimLog

if TYPE_CHECKING:
    from tests.simulation.raft_world import SimNode, World


_BY_ADMINS = (AddVoter, RemoveVoter)


class Violation(AssertionError):
    """The seed that leads here is part of the message."""


class Checker:
    """Knows what every node knows: who led, who voted for whom, what is committed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.leaders: dict[int, int] = {}
        self.votes: dict[tuple[int, bytes, int], int] = {}
        self.committed: list[Record] = []
        self.commits = 0

    def fail(self, what: str) -> None:
        raise Violation(f"seed {self._world.seed}, {self._world.now_ms} ms: {what}")

    def persisted(self, node: SimNode, before: ElectionState, after: ElectionState) -> None:
        if after.epoch < before.epoch:
            self.fail(f"node {node.id} went back from epoch {before.epoch} to {after.epoch}")
        if after.epoch == before.epoch and before.voted not in (None, after.voted):
            self.fail(f"node {node.id} changed its vote in epoch {after.epoch}")

    def answered(self, node: SimNode, request: RaftRequest, answer: RaftAnswer) -> None:
        """A Kafka node that is told INVALID_REQUEST about raft stops, so nobody may give cause."""
        if answer.error is ErrorCode.INVALID_REQUEST and not isinstance(request, _BY_ADMINS):
            self.fail(f"node {node.id} was asked for nonsense: {request}")
        if isinstance(request, Vote) and isinstance(answer, VoteAnswer):
            self._answered_vote(node, request, answer)

    def _answered_vote(self, node: SimNode, request: Vote, answer: VoteAnswer) -> None:
        if not answer.granted or request.pre_vote:
            return
        election = node.disk.election
        if (election.epoch, election.voted) != (request.epoch, request.candidate):
            self.fail(f"node {node.id} gave a vote that is not on disk: {request}")
        key = (node.id, node.directory_id, request.epoch)
        if self.votes.setdefault(key, request.candidate.id) != request.candidate.id:
            self.fail(f"node {node.id} voted twice in epoch {request.epoch}")

    def stepped(self, node: SimNode) -> None:
        self._check_leader(node)
        self._check_high_watermark(node)

    def _check_leader(self, node: SimNode) -> None:
        view = node.machine.view
        if view.role is not Role.LEADER:
            return
        if self.leaders.get(view.epoch) == node.id:
            return
        if view.epoch in self.leaders:
            self.fail(f"epoch {view.epoch} is led by {self.leaders[view.epoch]} and {node.id}")
        self.leaders[view.epoch] = node.id
        self._check_complete(node)

    def _check_complete(self, node: SimNode) -> None:
        """A leader holds whatever was ever committed."""
        end = len(self.committed)
        if end and not self._holds(node.disk.log, end - 1, node.disk.log.end_offset):
            self.fail(f"leader {node.id} of epoch {node.machine.view.epoch} lacks {end - 1}")

    def _check_high_watermark(self, node: SimNode) -> None:
        high_watermark = node.machine.high_watermark or 0
        log = node.disk.log
        if high_watermark < node.high_watermark:
            self.fail(f"node {node.id} took its high watermark back to {high_watermark}")
        if high_watermark > log.end_offset:
            self.fail(f"node {node.id} has committed {high_watermark} of {log.end_offset}")
        if high_watermark == node.high_watermark:
            return
        if high_watermark > len(self.committed):
            self._check_majority(node, high_watermark)
        for offset in range(max(node.high_watermark, log.start_offset), high_watermark):
            self._check_committed(node, offset)
        if high_watermark > len(self.committed):
            self.fail(f"node {node.id} committed up to {high_watermark} over a gap")
        node.high_watermark = high_watermark

    def _check_committed(self, node: SimNode, offset: int) -> None:
        record = node.disk.log.at(offset)
        if record is None:
            self.fail(f"node {node.id} has no record {offset}")
        elif offset == len(self.committed):
            self.committed.append(record)
            self.commits += record.voters is None
        elif offset > len(self.committed) or self.committed[offset] != record:
            self.fail(f"node {node.id} has {record} at {offset}, committed is another")

    def _check_majority(self, node: SimNode, high_watermark: int) -> None:
        """On disk of more than half of the voters, synced."""
        voters = node.machine.voters
        record = node.disk.log.at(high_watermark - 1)
        if record is not None and record.epoch != node.machine.view.epoch:
            self.fail(f"node {node.id} committed {high_watermark} by counting an older epoch")
        holding = 0
        for voter in voters.voters:
            log = self._world.log_of(voter)
            held = log.at(high_watermark - 1) if high_watermark <= log.synced_offset else None
            holding += held == record or log.start_offset >= high_watermark
        if holding < voters.majority:
            self.fail(f"node {node.id} committed {high_watermark} held by {holding} of {voters}")

    def _holds(self, log: SimLog, offset: int, end_offset: int) -> bool:
        if offset >= end_offset:
            return False
        return offset < log.start_offset or log.at(offset) == self.committed[offset]

    def changes_voters(self, node: SimNode, voters: VoterSet) -> None:
        """Two sets in a row share a majority only if they differ by one, and the first counts."""
        machine = node.machine
        before = set(machine.voters.ids)
        if len(before ^ set(voters.ids)) > 1:
            self.fail(f"node {node.id} changes {before} to {voters} at once")
        if machine.history.voters_offset >= len(self.committed):
            self.fail(f"node {node.id} changes voters before the last change is committed")

    def truncated(self, node: SimNode, end_offset: int) -> None:
        if end_offset < (node.machine.high_watermark or 0):
            self.fail(f"node {node.id} truncated to {end_offset}, below its high watermark")

    def ended(self) -> None:
        """After all faults: everybody has everything that was committed."""
        for node in self._world.nodes.values():
            log = node.disk.log
            for offset in range(log.start_offset, len(self.committed)):
                if log.at(offset) != self.committed[offset]:
                    self.fail(f"in the end node {node.id} has another {offset} than committed")
