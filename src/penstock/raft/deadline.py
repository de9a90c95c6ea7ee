"""When a node has to look at the clock again."""

from __future__ import annotations

from penstock.raft.core import Core
from penstock.raft.joining import Joining
from penstock.raft.role import Follower, Leader


def next_deadline_ms(core: Core, joining: Joining) -> int:
    deadlines = core.outbox.deadlines(core.now_ms)
    role = core.role
    if isinstance(role, Leader):
        deadlines += _of_leader(core, role)
    elif isinstance(role, Follower):
        deadlines += _of_follower(core, role, joining)
    else:
        deadlines.append(role.election_deadline_ms)
    return min(deadlines, default=core.now_ms + core.config.fetch_timeout_ms)


def _of_follower(core: Core, role: Follower, joining: Joining) -> list[int]:
    deadlines = [role.fetch_deadline_ms] if core.may_stand else []
    joining_ms = joining.next_deadline_ms()
    return deadlines if joining_ms is None else [*deadlines, joining_ms]


def _of_leader(core: Core, leader: Leader) -> list[int]:
    deadlines = [leader.wake_at_ms]
    ids = core.voters.ids
    deadlines += [at_ms for voter_id, at_ms in leader.begin_at_ms.items() if voter_id in ids]
    if not core.is_only_voter:
        deadlines.append(leader.check_quorum_deadline_ms)
    if leader.change is not None:
        deadlines.append(leader.change.deadline_ms)
    return deadlines
