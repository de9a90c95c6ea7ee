"""Leading: telling voters so, counting what they hold, noticing that they are gone.

Owns the high watermark of an epoch. The leader counts itself only with what it has synced, and not
at all once it is no voter; nothing is committed before a record of its own epoch is, because what
older epochs left behind may still be replaced.
"""

from __future__ import annotations

from collections.abc import Hashable

from penstock.model.error import ErrorCode
from penstock.raft.adoption import adopt, adopt_from_answer, contradicts
from penstock.raft.core import Core
from penstock.raft.message import (
    BeginQuorumEpoch,
    CurrentLeader,
    EndQuorumEpoch,
    QuorumEpochAnswer,
)
from penstock.raft.outbox import InFlight
from penstock.raft.progress import majority_offset
from penstock.raft.role import Follower, Leader, Resigned
from penstock.raft.voter import ReplicaKey, Voter

_BEGIN_LANE = "begin"
_END_LANE = "end"


class Leadership:
    def __init__(self, core: Core) -> None:
        self._core = core

    def poll(self) -> None:
        role = self._core.role
        if isinstance(role, Leader):
            self._poll_leader(role)
        elif isinstance(role, Resigned):
            self._poll_resigned(role)

    def _poll_leader(self, leader: Leader) -> None:
        core = self._core
        if core.now_ms >= leader.check_quorum_deadline_ms and not core.is_only_voter:
            self.resign()
            return
        for voter in core.voters.others(core.config.node_id):
            if core.now_ms >= leader.begin_at_ms.get(voter.key.id, core.now_ms):
                self._begin(leader, voter)

    def _begin(self, leader: Leader, voter: Voter) -> None:
        core = self._core
        lane = (_BEGIN_LANE, voter.key.id)
        leader.begin_at_ms[voter.key.id] = core.now_ms + core.config.begin_quorum_ms
        if not core.outbox.is_free(lane, core.now_ms):
            return
        request = BeginQuorumEpoch(
            core.epoch, core.config.node_id, core.config.endpoints, voter.key
        )
        core.outbox.send(lane, voter.node, request, core.now_ms)

    def _poll_resigned(self, role: Resigned) -> None:
        core = self._core
        if core.now_ms >= role.election_deadline_ms:
            core.to_unattached(core.epoch + 1)
            return
        for voter in core.voters.others(core.config.node_id):
            lane = (_END_LANE, voter.key.id)
            if voter.key.id not in role.acknowledged and core.outbox.is_free(lane, core.now_ms):
                request = EndQuorumEpoch(
                    core.epoch, core.config.node_id, core.config.endpoints, role.candidates
                )
                core.outbox.send(lane, voter.node, request, core.now_ms)

    def resign(self) -> None:
        """Named first: the voter with the longest log, since it is sure to be electable."""
        core = self._core
        if isinstance(core.role, Leader):
            replicas = core.role.replicas
            others = core.voters.others(core.config.node_id)
            best = sorted(others, key=lambda voter: -replicas.of_voter(voter).end_offset)
            core.to_resigned(tuple(voter.key for voter in best))

    def heard(self, leader: Leader, key: ReplicaKey) -> None:
        """Fetch, FetchSnapshot or UpdateRaftVoter of a voter; a majority of them keeps the office.

        A leader that is a voter is one of that majority.
        """
        core = self._core
        if not core.voters.includes(key) or key.id == core.config.node_id:
            return
        leader.begin_at_ms[key.id] = core.now_ms + core.config.begin_quorum_ms
        leader.heard.add(key)
        still_voters = {one.id for one in leader.heard if core.voters.includes(one)}
        if len(still_voters) + core.is_voter >= core.voters.majority:
            leader.heard.clear()
            leader.check_quorum_deadline_ms = core.now_ms + core.config.check_quorum_ms

    def voters_changed(self, leader: Leader) -> None:
        """The new ones have the usual time to be heard of."""
        leader.heard.clear()
        leader.check_quorum_deadline_ms = self._core.now_ms + self._core.config.check_quorum_ms

    def count(self, leader: Leader) -> bool:
        """Whether the high watermark moved."""
        core = self._core
        offset = majority_offset(self._held(leader, voter) for voter in core.voters.voters)
        known = leader.high_watermark if leader.high_watermark is not None else -1
        if offset <= leader.epoch_start_offset or offset <= known:
            return False
        leader.high_watermark = offset
        core.advance_high_watermark(offset)
        return True

    def _held(self, leader: Leader, voter: Voter) -> int:
        if voter.key.id == self._core.config.node_id:
            return self._core.log.flushed_offset if self._core.is_voter else -1
        return leader.replicas.of_voter(voter).end_offset

    def resign_if_removed(self, leader: Leader) -> None:
        """Not before the record that says so is committed: until then nobody else might know it."""
        core = self._core
        committed = leader.high_watermark is not None and (
            leader.high_watermark > core.history.voters_offset
        )
        if committed and not core.is_voter:
            self.resign()

    def receive_begin(self, request: BeginQuorumEpoch, token: Hashable) -> None:
        leader = CurrentLeader(request.leader_id, request.epoch, request.endpoints)
        error = self._take_over(leader, request.voter)
        role = self._core.role
        if error is ErrorCode.NONE and isinstance(role, Follower):
            role.fetch_deadline_ms = self._core.fetch_deadline_ms()
        self._core.answer(token, QuorumEpochAnswer(error, self._core.current_leader()))

    def receive_end(self, request: EndQuorumEpoch, token: Hashable) -> None:
        leader = CurrentLeader(request.leader_id, request.epoch, request.endpoints)
        error = self._take_over(leader, None)
        role = self._core.role
        if error is ErrorCode.NONE and isinstance(role, Follower):
            # It is known to be gone, so others may be helped into its place from now on.
            role.has_fetched = False
            pause_ms = self._pause_before_standing(request)
            role.fetch_deadline_ms = min(role.fetch_deadline_ms, self._core.now_ms + pause_ms)
        self._core.answer(token, QuorumEpochAnswer(error, self._core.current_leader()))

    def _take_over(self, leader: CurrentLeader, voter: ReplicaKey | None) -> ErrorCode:
        core = self._core
        if leader.epoch < core.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if leader.leader_id is None or leader.leader_id < 0 or contradicts(core, leader):
            return ErrorCode.INVALID_REQUEST
        adopt(core, leader)
        if voter is not None and not voter.accepts(core.key):
            return ErrorCode.INVALID_VOTER_KEY
        return ErrorCode.NONE

    def _pause_before_standing(self, request: EndQuorumEpoch) -> int:
        """None for the first, doubling for those behind it; whoever is not named waits longest."""
        longest_ms = self._core.config.election_backoff_max_ms
        places = [key.accepts(self._core.key) for key in request.candidates]
        if True not in places:
            return longest_ms
        place = places.index(True)
        if place == 0:
            return 0
        return min(longest_ms, (longest_ms >> (len(places) - 1)) << (place - 1))

    def receive_answer(self, sent: InFlight, answer: QuorumEpochAnswer) -> None:
        core = self._core
        if not adopt_from_answer(core, answer.error, answer.leader):
            return
        if isinstance(core.role, Resigned) and sent.lane[0] == _END_LANE:
            core.role.acknowledged.add(sent.node.id)

    def request_failed(self, sent: InFlight) -> None:
        """A voter that could not be told who leads is told again at the usual time."""
        self._core.outbox.back_off(sent.lane, self._core.now_ms)
