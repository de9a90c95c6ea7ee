"""DescribeQuorum: the leader's view of everybody who follows the log."""

from __future__ import annotations

from penstock.model.error import ErrorCode
from penstock.raft.core import Core
from penstock.raft.progress import Progress, view
from penstock.raft.role import Leader
from penstock.raft.view import QuorumView, ReplicaView
from penstock.raft.voter import ReplicaKey, Voter


def describe(core: Core, now_ms: int) -> QuorumView | ErrorCode:
    role = core.role
    if not isinstance(role, Leader):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    voters = core.voters.voters
    role.replicas.forget(voters, now_ms - core.config.observer_session_ms)
    return QuorumView(
        core.config.node_id,
        core.epoch,
        -1 if role.high_watermark is None else role.high_watermark,
        tuple(_voter_view(core, role, voter, now_ms) for voter in voters),
        role.replicas.observers(voters) + _own_view(core, now_ms),
        core.voters,
    )


def _voter_view(core: Core, leader: Leader, voter: Voter, now_ms: int) -> ReplicaView:
    if voter.key.accepts(core.key):
        return _view_of_self(core, voter.key, now_ms)
    return view(voter.key, leader.replicas.of_voter(voter))


def _own_view(core: Core, now_ms: int) -> tuple[ReplicaView, ...]:
    """A leader that was removed is an observer of its own log until that is committed."""
    return () if core.is_voter else (_view_of_self(core, core.key, now_ms),)


def _view_of_self(core: Core, key: ReplicaKey, now_ms: int) -> ReplicaView:
    return view(key, Progress(core.log.end_offset, now_ms, now_ms))
