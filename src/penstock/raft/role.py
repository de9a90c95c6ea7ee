"""The six states of a node, each with what it alone knows.

Owns no rule: who moves where is in `core` (transitions) and in the modules that drive a role.
Epoch, leader and vote are not here but in `ElectionState`, since they outlive the role.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from penstock.raft.ballot import Ballot
from penstock.raft.log_view import SnapshotId
from penstock.raft.message import Fetch
from penstock.raft.progress import ReplicaTable
from penstock.raft.ready import Role
from penstock.raft.voter import Endpoints, ReplicaKey, Voter

NEVER_MS = 1 << 62


@dataclass(slots=True)
class Unattached:
    """Knows of no leader in this epoch."""

    election_deadline_ms: int
    kind: Role = Role.UNATTACHED


@dataclass(slots=True)
class SnapshotFetch:
    """Of a follower that is too far behind for the log."""

    snapshot: SnapshotId
    position: int = 0


@dataclass(slots=True)
class Follower:
    """Fetches from the leader of this epoch, and stands for election when it is silent."""

    leader_id: int
    endpoints: Endpoints
    fetch_deadline_ms: int
    has_fetched: bool = False
    """Whether this leader has answered a fetch: then no other is helped into its place."""
    fetching: SnapshotFetch | None = None
    is_writing: bool = False
    """The host has log work of ours; the next fetch comes after it."""
    leader_high_watermark: int = -1
    leader_failed: bool = False
    """The last fetch got no answer: ask somebody else next."""
    voter_update_at_ms: int = 0
    told_endpoints: bool = False
    """kraft.version 0: each new leader is told once where this voter listens."""
    kind: Role = Role.FOLLOWER


@dataclass(slots=True)
class Prospective:
    """Asks whether it would be elected, before it raises the epoch for everybody."""

    election_deadline_ms: int
    ballot: Ballot
    leader_endpoints: Endpoints
    kind: Role = Role.PROSPECTIVE


@dataclass(slots=True)
class Candidate:
    """Has voted for itself, and asks the others to."""

    election_deadline_ms: int
    ballot: Ballot
    kind: Role = Role.CANDIDATE


@dataclass(slots=True)
class ParkedFetch:
    """Of a replica that has all there is: answered with the next records."""

    token: Hashable
    request: Fetch
    deadline_ms: int


@dataclass(slots=True)
class VoterChange:
    """One at a time. `offset` is None until its record is in the log; a newcomer to be added is
    `asked` for its versions first."""

    token: Hashable
    deadline_ms: int
    newcomer: Voter | None = None
    request_id: int | None = None
    offset: int | None = None
    ack_when_committed: bool = True
    answered: bool = False


@dataclass(slots=True)
class Leader:
    """Takes records, and knows how far everybody has come."""

    epoch_start_offset: int
    check_quorum_deadline_ms: int
    high_watermark: int | None = None
    replicas: ReplicaTable = field(default_factory=ReplicaTable)
    heard: set[ReplicaKey] = field(default_factory=set)
    begin_at_ms: dict[int, int] = field(default_factory=dict)
    """When each voter is to be told again who leads; unheard of ones are told now."""
    parked: list[ParkedFetch] = field(default_factory=list)
    wake_at_ms: int = NEVER_MS
    """The earliest deadline of a parked fetch."""
    offered: tuple[int, int | None] = (-1, None)
    """Log end and high watermark when parked fetches were last looked at."""
    change: VoterChange | None = None
    updates: dict[int, Voter] = field(default_factory=dict)
    """kraft.version 0: what voters said of themselves, for the day voters move into the log."""
    kind: Role = Role.LEADER


@dataclass(slots=True)
class Resigned:
    """Has led, and tells the others that it does no more."""

    election_deadline_ms: int
    candidates: tuple[ReplicaKey, ...] = ()
    acknowledged: set[int] = field(default_factory=set)
    kind: Role = Role.RESIGNED


AnyRole = Unattached | Follower | Prospective | Candidate | Leader | Resigned
