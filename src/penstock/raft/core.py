"""The state of one node and the moves between its roles.

Owns epoch, vote and leader (`ElectionState`), the role, and the high watermark of the node. Every
move sets the election state first, so that whatever is answered afterwards is answered from the new
one, and `take_ready` hands it out before any answer. When to move is for the other modules to say.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from penstock.raft.ballot import Ballot
from penstock.raft.config import RaftConfig
from penstock.raft.election_state import ElectionState
from penstock.raft.log_view import LogView
from penstock.raft.message import CurrentLeader, RaftAnswer
from penstock.raft.outbox import Outbox
from penstock.raft.ready import AppendControl, LeaderChange, LogWork, RoleView, SendAnswer
from penstock.raft.role import (
    AnyRole,
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Unattached,
)
from penstock.raft.voter import Endpoints, ReplicaKey, Voter, VoterSet
from penstock.raft.voter_history import VoterHistory

LEADERLESS_SHARE = 0.05
"""Of the election timeout: long enough for one of several to be first."""


class Core:
    def __init__(
        self,
        config: RaftConfig,
        log: LogView,
        state: ElectionState,
        history: VoterHistory,
        random: Callable[[], float],
        now_ms: int,
    ) -> None:
        self.config = config
        self.key = config.key
        self.log = log
        self.history = history
        self.random = random
        self.now_ms = now_ms
        self.outbox = Outbox(config)
        self.high_watermark: int | None = None
        if log.latest_snapshot is not None and log.latest_snapshot.end_offset > 0:
            self.high_watermark = log.latest_snapshot.end_offset
        self.is_shutting_down = False
        self.election = state
        self.log_work: list[LogWork] = []
        self.answers: list[SendAnswer] = []
        self.role: AnyRole = self._first_role(state)

    def _first_role(self, state: ElectionState) -> AnyRole:
        """Whoever led does not lead on: unsynced records of its epoch may be gone, and the offsets
        must not be written a second time in that epoch."""
        if state.epoch < self.log.last_epoch:
            self.election = ElectionState(self.log.last_epoch)
        elif state.leader_id == self.config.node_id:
            return Resigned(self.election_deadline_ms())
        elif state.leader_id is not None:
            endpoints = self.voters.endpoints_of(state.leader_id)
            if endpoints:
                return Follower(state.leader_id, endpoints, self.fetch_deadline_ms())
        elif self.may_stand and state.voted is not None and state.voted.id == self.config.node_id:
            return Candidate(self.election_deadline_ms(), self._ballot())
        return Unattached(self.election_deadline_ms())

    @property
    def epoch(self) -> int:
        return self.election.epoch

    @property
    def voters(self) -> VoterSet:
        return self.history.voters

    @property
    def kraft_version(self) -> int:
        return self.history.kraft_version

    @property
    def is_voter(self) -> bool:
        return self.config.can_vote and self.voters.includes(self.key)

    @property
    def may_stand(self) -> bool:
        """Also a voter whose removal may not be committed: its log can be the longest, and then the
        others cannot elect one of them without first getting that record from it."""
        if self.is_shutting_down:
            return False
        return self.is_voter or self._is_removal_open()

    def _is_removal_open(self) -> bool:
        offset = self.history.voters_offset
        if not self.config.can_vote or offset < (self.high_watermark or 0):
            return False
        return self.history.voters_before(offset).includes(self.key)

    @property
    def is_only_voter(self) -> bool:
        return self.is_voter and len(self.voters) == 1

    @property
    def view(self) -> RoleView:
        return RoleView(self.role.kind, self.epoch, self.election.leader_id)

    def current_leader(self) -> CurrentLeader:
        """For answers. A leader without a known address is not named: a Kafka node would stop."""
        endpoints = self.leader_endpoints()
        return CurrentLeader(self.election.leader_id if endpoints else None, self.epoch, endpoints)

    def leader_endpoints(self) -> Endpoints:
        if self.election.leader_id is None:
            return ()
        if self.election.leader_id == self.config.node_id:
            return self.config.endpoints
        if isinstance(self.role, Follower):
            return self.role.endpoints
        if isinstance(self.role, Prospective) and self.role.leader_endpoints:
            return self.role.leader_endpoints
        return self.voters.endpoints_of(self.election.leader_id)

    def election_deadline_ms(self) -> int:
        timeout_ms = self.config.election_timeout_ms
        return self.now_ms + timeout_ms + int(self.random() * timeout_ms)

    def fetch_deadline_ms(self) -> int:
        return self.now_ms + self.config.fetch_timeout_ms

    def answer(self, token: Hashable, answer: RaftAnswer) -> None:
        self.answers.append(SendAnswer(token, answer))

    def advance_high_watermark(self, offset: int) -> None:
        if self.high_watermark is None or offset > self.high_watermark:
            self.high_watermark = offset

    def to_unattached(self, epoch: int, leader_id: int | None = None) -> None:
        deadline_ms = self._unattached_deadline_ms()
        if epoch > self.epoch:
            self.election = ElectionState(epoch, leader_id)
        elif leader_id is not None:
            self.election = self.election._replace(leader_id=leader_id)
        self._become(Unattached(deadline_ms))

    def to_leaderless(self) -> None:
        """The leader's process has ended: there is nothing to wait for but the others, who find it
        out about now as well. Whoever is first asks them before it costs an epoch (pre-vote)."""
        soon_ms = int(self.config.election_timeout_ms * LEADERLESS_SHARE)
        self._become(Unattached(self.now_ms + soon_ms + int(self.random() * soon_ms)))

    def vote_for(self, candidate: ReplicaKey) -> None:
        """The election timeout begins anew: the candidate has at least as good a chance."""
        self.election = self.election._replace(voted=candidate)
        self._become(Unattached(self.election_deadline_ms()))

    def to_follower(self, epoch: int, leader_id: int, endpoints: Endpoints) -> None:
        known = endpoints or self.voters.endpoints_of(leader_id)
        if leader_id == self.config.node_id:
            self._to_own_past(epoch)
        elif not known:
            self.to_unattached(epoch, leader_id)
        else:
            voted = self.election.voted if epoch == self.epoch else None
            self.election = ElectionState(epoch, leader_id, voted)
            self._become(Follower(leader_id, known, self.fetch_deadline_ms()))

    def _to_own_past(self, epoch: int) -> None:
        """Others know this node as leader, it does not itself: its disk was lost. It must neither
        lead nor vote in that epoch."""
        self.election = ElectionState(epoch, self.config.node_id, self.key)
        self._become(Resigned(self.election_deadline_ms()))

    def to_prospective(self) -> None:
        endpoints = self.leader_endpoints()
        self._become(Prospective(self.election_deadline_ms(), self._ballot(), endpoints))

    def to_candidate(self) -> None:
        self.election = ElectionState(self.epoch + 1, None, self.key)
        self._become(Candidate(self.election_deadline_ms(), self._ballot()))

    def to_leader(self, granting: set[int]) -> None:
        self.election = self.election._replace(leader_id=self.config.node_id)
        check_at_ms = self.now_ms + self.config.check_quorum_ms
        self._become(Leader(self.log.end_offset, check_at_ms))
        change = LeaderChange(self.config.node_id, self.voters.ids, tuple(sorted(granting)))
        voters = self._voters_to_write()
        version = self.history.kraft_version if voters is not None else None
        self.log_work.append(AppendControl(self.epoch, change, version, voters))

    def _voters_to_write(self) -> VoterSet | None:
        """With the leader change: voters that only the first snapshot names, or that name this node
        otherwise than it is."""
        if self.history.kraft_version == 0:
            return None
        mine = Voter(self.key, self.config.endpoints, self.config.kraft_versions)
        named = self.voters.get(self.config.node_id)
        if named is not None and named != mine and self.config.endpoints:
            return self.voters.with_voter(mine)
        return self.voters if self.history.voters_offset < 0 else None

    def to_resigned(self, candidates: tuple[ReplicaKey, ...]) -> None:
        self._become(Resigned(self.election_deadline_ms(), candidates))

    def _become(self, role: AnyRole) -> None:
        self.outbox.reset()
        self.role = role

    def _ballot(self) -> Ballot:
        return Ballot(self.voters, self.key)

    def _unattached_deadline_ms(self) -> int:
        """A node that waits for an election goes on waiting; a higher epoch does not put it off."""
        role = self.role
        if isinstance(role, Unattached | Candidate | Resigned):
            return role.election_deadline_ms
        if isinstance(role, Prospective) and not role.ballot.is_lost:
            return role.election_deadline_ms
        return self.election_deadline_ms()
