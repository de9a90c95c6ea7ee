"""Asking for votes and giving them (KIP-595, pre-vote: KIP-996).

A vote given is in the election state, which the host has on disk before the answer leaves. Votes
are asked for only when the own log is synced: a voter that gave one gives it again without looking
at the log, so what was claimed must still be there after a crash.
"""

from __future__ import annotations

from collections.abc import Hashable

from penstock.model.error import ErrorCode
from penstock.raft.adoption import adopt_from_answer
from penstock.raft.core import Core
from penstock.raft.log_view import EpochEnd
from penstock.raft.message import Vote, VoteAnswer
from penstock.raft.outbox import InFlight
from penstock.raft.role import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from penstock.raft.voter import ReplicaKey

_LANE = "vote"


class Election:
    def __init__(self, core: Core) -> None:
        self._core = core

    def receive(self, request: Vote, token: Hashable) -> None:
        error = self._problem(request)
        granted = error is ErrorCode.NONE and self._grant(request)
        self._core.answer(token, VoteAnswer(error, self._core.current_leader(), granted))

    def _problem(self, request: Vote) -> ErrorCode:
        core = self._core
        if request.epoch < core.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if not _makes_sense(request):
            return ErrorCode.INVALID_REQUEST
        if request.epoch > core.epoch:
            core.to_unattached(request.epoch)
        if request.voter is not None and not request.voter.accepts(core.key):
            return ErrorCode.INVALID_VOTER_KEY
        return ErrorCode.NONE

    def _grant(self, request: Vote) -> bool:
        if request.pre_vote:
            return self._may_stand(request)
        if not self._may_have_vote(request):
            return False
        if self._core.election.voted is None:
            self._core.vote_for(request.candidate)
        return True

    def _may_stand(self, request: Vote) -> bool:
        """A follower that hears from its leader helps nobody into its place."""
        role = self._core.role
        if isinstance(role, Leader) or (isinstance(role, Follower) and role.has_fetched):
            return False
        return self._is_up_to_date(request)

    def _may_have_vote(self, request: Vote) -> bool:
        core = self._core
        if not isinstance(core.role, Unattached | Prospective):
            return False
        if core.election.voted is not None:
            return _is_same(core.election.voted, request.candidate)
        return core.election.leader_id is None and self._is_up_to_date(request)

    def _is_up_to_date(self, request: Vote) -> bool:
        log = self._core.log
        claimed = EpochEnd(request.last_epoch, request.last_offset)
        return claimed >= EpochEnd(log.last_epoch, log.end_offset)

    def stand(self) -> None:
        """Ask whether a candidacy would succeed, before it costs the others an epoch."""
        self._core.to_prospective()
        self._settle()

    def poll(self) -> None:
        self._pass_time()
        self._poll_election()

    def _pass_time(self) -> None:
        """Whoever waited long enough for a leader stands for election, if it may."""
        core = self._core
        role = core.role
        if isinstance(role, Unattached | Resigned) and core.is_only_voter and core.may_stand:
            self.stand()
        elif isinstance(role, Unattached) and core.now_ms >= role.election_deadline_ms:
            if core.may_stand:
                self.stand()
            else:
                role.election_deadline_ms = core.election_deadline_ms()
        elif (
            isinstance(role, Follower) and core.now_ms >= role.fetch_deadline_ms and core.may_stand
        ):
            self.stand()

    def _poll_election(self) -> None:
        core = self._core
        role = core.role
        if not isinstance(role, Prospective | Candidate):
            return
        if not core.may_stand:
            core.to_unattached(core.epoch)
        elif role.ballot.is_won:
            self._settle()
        elif core.now_ms >= role.election_deadline_ms:
            self._timed_out()
        elif core.log.flushed_offset >= core.log.end_offset:
            self._send_requests(role)

    def _timed_out(self) -> None:
        if isinstance(self._core.role, Candidate):
            self.stand()
        else:
            self._lose_pre_vote()

    def _send_requests(self, role: Prospective | Candidate) -> None:
        core = self._core
        for voter_id in role.ballot.silent:
            voter = role.ballot.voters.get(voter_id)
            lane = (_LANE, voter_id)
            if voter is not None and core.outbox.is_free(lane, core.now_ms):
                core.outbox.send(lane, voter.node, self._request(role, voter.key), core.now_ms)

    def _request(self, role: Prospective | Candidate, voter: ReplicaKey) -> Vote:
        core = self._core
        return Vote(
            core.epoch,
            core.key,
            core.log.last_epoch,
            core.log.end_offset,
            isinstance(role, Prospective),
            voter,
        )

    def receive_answer(self, sent: InFlight, answer: VoteAnswer) -> None:
        core = self._core
        if not adopt_from_answer(core, answer.error, answer.leader):
            return
        role = core.role
        if isinstance(role, Prospective | Candidate):
            # An error (another disk stands in the voter's place) is a vote that will not come.
            role.ballot.record(sent.node.id, answer.granted)
            self._settle()

    def request_failed(self, sent: InFlight, request: Vote, unsupported: bool) -> None:
        """A voter that does not know pre-votes would never grant one: stand without."""
        core = self._core
        if unsupported and request.pre_vote and isinstance(core.role, Prospective):
            core.to_candidate()
            self._settle()
        else:
            core.outbox.back_off(sent.lane, core.now_ms)

    def _settle(self) -> None:
        core = self._core
        role = core.role
        if isinstance(role, Prospective):
            if role.ballot.is_won:
                core.to_candidate()
                self._settle()
            elif role.ballot.is_lost:
                self._lose_pre_vote()
        elif isinstance(role, Candidate) and role.ballot.is_won:
            core.to_leader(role.ballot.granting)

    def _lose_pre_vote(self) -> None:
        """A candidate that lost waits its timeout out; a pre-vote that is lost ends at once."""
        core = self._core
        leader_id, endpoints = core.election.leader_id, core.leader_endpoints()
        if leader_id is not None and leader_id != core.config.node_id and endpoints:
            core.to_follower(core.epoch, leader_id, endpoints)
        else:
            core.to_unattached(core.epoch)


def _makes_sense(request: Vote) -> bool:
    """A candidate stands in an epoch after its log's, a prospective one still asks in the last."""
    if request.last_epoch < 0 or request.last_offset < 0 or request.candidate.id < 0:
        return False
    if request.pre_vote:
        return request.last_epoch <= request.epoch
    return request.last_epoch < request.epoch


def _is_same(voted: ReplicaKey, candidate: ReplicaKey) -> bool:
    return voted.accepts(candidate) or candidate.accepts(voted)
