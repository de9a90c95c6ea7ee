"""Taking over what others say about epoch and leader: the same for requests and answers."""

from __future__ import annotations

from penstock.model.error import ErrorCode
from penstock.raft.core import Core
from penstock.raft.message import CurrentLeader
from penstock.raft.role import Follower, Leader, Resigned, Unattached

_STALE_REQUEST = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def contradicts(core: Core, leader: CurrentLeader) -> bool:
    """Two leaders of one epoch: somebody is mistaken, and no answer of theirs may count."""
    if leader.epoch != core.epoch or leader.leader_id is None:
        return False
    known = core.election.leader_id
    return known is not None and known != leader.leader_id


def adopt(core: Core, leader: CurrentLeader) -> None:
    """Follow a leader of a higher epoch, or of this one if none was known."""
    if leader.epoch < core.epoch or contradicts(core, leader):
        return
    role = core.role
    if leader.epoch > core.epoch:
        if leader.leader_id is None:
            core.to_unattached(leader.epoch)
        else:
            core.to_follower(leader.epoch, leader.leader_id, leader.endpoints)
    elif leader.leader_id is None or isinstance(role, Leader | Resigned):
        return
    elif isinstance(role, Follower):
        role.endpoints = leader.endpoints or role.endpoints
    elif core.election.leader_id is None or leader.endpoints:
        core.to_follower(leader.epoch, leader.leader_id, leader.endpoints)


def adopt_from_answer(core: Core, error: ErrorCode, leader: CurrentLeader) -> bool:
    """Whether the answer itself still means something to whoever asked."""
    if leader.epoch < core.epoch or error is ErrorCode.UNKNOWN_LEADER_EPOCH:
        return False
    if contradicts(core, leader):
        return False
    if leader.epoch > core.epoch or error in _STALE_REQUEST:
        adopt(core, leader)
        return False
    if leader.leader_id is not None and _helps(core, leader):
        adopt(core, leader)
        return error is ErrorCode.NONE
    return True


def _helps(core: Core, leader: CurrentLeader) -> bool:
    """Nobody was known to lead, or somebody whose address was not."""
    if core.election.leader_id is None:
        return True
    return isinstance(core.role, Unattached) and bool(leader.endpoints)
