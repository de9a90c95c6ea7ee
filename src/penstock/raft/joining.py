"""A follower's own place among the voters: telling the leader where it listens, joining by itself.

Owns when that is asked for. The leader decides.
"""

from __future__ import annotations

from penstock.model.error import ErrorCode
from penstock.raft.adoption import adopt_from_answer
from penstock.raft.core import Core
from penstock.raft.message import AddVoter, RemoveVoter, UpdateVoter, VoterChangeAnswer
from penstock.raft.outbox import InFlight
from penstock.raft.role import Follower
from penstock.raft.voter import Node, Voter

_LANE = "voter"

VoterRequest = AddVoter | RemoveVoter | UpdateVoter


class Joining:
    def __init__(self, core: Core) -> None:
        self._core = core

    def poll(self) -> None:
        core = self._core
        role = core.role
        if not isinstance(role, Follower) or not role.has_fetched or core.is_shutting_down:
            return
        lane = (_LANE, role.leader_id)
        if core.now_ms < role.voter_update_at_ms or not core.outbox.is_free(lane, core.now_ms):
            return
        request = self._wish(role)
        if request is None:
            return
        role.voter_update_at_ms = core.now_ms + core.config.fetch_timeout_ms
        core.outbox.send(lane, Node(role.leader_id, role.endpoints), request, core.now_ms)

    def next_deadline_ms(self) -> int | None:
        role = self._core.role
        if not isinstance(role, Follower) or not role.has_fetched or self._wish(role) is None:
            return None
        is_free = self._core.outbox.is_free((_LANE, role.leader_id), self._core.now_ms)
        return max(role.voter_update_at_ms, self._core.now_ms + 1) if is_free else None

    def _wish(self, role: Follower) -> VoterRequest | None:
        core = self._core
        mine = Voter(core.key, core.config.endpoints, core.config.kraft_versions)
        if not core.config.can_vote or not core.config.endpoints:
            return None
        if core.is_voter:
            if core.kraft_version == 0:
                return None if role.told_endpoints else UpdateVoter(core.epoch, mine)
            changed = core.voters.get(core.config.node_id) != mine
            return UpdateVoter(core.epoch, mine) if changed else None
        return self._entry(mine) if core.config.auto_join and core.kraft_version > 0 else None

    def _entry(self, mine: Voter) -> VoterRequest:
        """A voter with this id and another directory is what this node was before its disk was
        replaced: it leaves first."""
        before = self._core.voters.get(self._core.config.node_id)
        if before is not None:
            return RemoveVoter(before.key)
        return AddVoter(mine, ack_when_committed=False)

    def receive_answer(
        self, sent: InFlight, request: VoterRequest, answer: VoterChangeAnswer
    ) -> None:
        core = self._core
        before = core.role
        adopt_from_answer(core, answer.error, answer.leader)
        settled = answer.error in (ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION)
        if isinstance(before, Follower) and before is core.role and settled:
            before.told_endpoints = True

    def request_failed(self, sent: InFlight, unsupported: bool) -> None:
        role = self._core.role
        if isinstance(role, Follower) and unsupported:
            role.told_endpoints = True
