"""What raft nodes say to each other, as values.

Owns no wire format: the host translates to and from Kafka's messages, compares cluster ids before
anything comes here, and moves the bytes of records and snapshots itself. Every answer names the
leader and the epoch that its sender knows; without them a Kafka node ignores it.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.model.error import ErrorCode
from penstock.raft.log_view import EpochEnd, SnapshotId
from penstock.raft.voter import Endpoints, ReplicaKey, VersionRange, Voter

NO_WAKE = (1 << 63) - 1
"""The high watermark of a fetch that is not to be answered for the high watermark alone."""


class CurrentLeader(NamedTuple):
    leader_id: int | None
    epoch: int
    endpoints: Endpoints = ()


class Vote(NamedTuple):
    epoch: int
    candidate: ReplicaKey
    last_epoch: int
    last_offset: int
    pre_vote: bool = False
    voter: ReplicaKey | None = None


class BeginQuorumEpoch(NamedTuple):
    epoch: int
    leader_id: int
    endpoints: Endpoints = ()
    voter: ReplicaKey | None = None


class EndQuorumEpoch(NamedTuple):
    epoch: int
    leader_id: int
    endpoints: Endpoints = ()
    candidates: tuple[ReplicaKey, ...] = ()
    """The one who should stand first, and those after it."""


class Fetch(NamedTuple):
    epoch: int
    """CurrentLeaderEpoch: the one the sender knows."""
    replica: ReplicaKey
    offset: int
    last_epoch: int
    high_watermark: int = NO_WAKE
    """-1 for a sender that has none."""
    max_wait_ms: int = 0


class FetchSnapshot(NamedTuple):
    epoch: int
    replica: ReplicaKey
    snapshot: SnapshotId
    position: int


class AddVoter(NamedTuple):
    voter: Voter
    """Its version range is asked of the newcomer itself and not looked at here."""
    timeout_ms: int = 30_000
    ack_when_committed: bool = True


class RemoveVoter(NamedTuple):
    voter: ReplicaKey


class UpdateVoter(NamedTuple):
    epoch: int
    voter: Voter


class AskVersions(NamedTuple):
    """ApiVersions of a node that wants to vote: which kraft.version does it support?"""


RaftRequest = (
    Vote
    | BeginQuorumEpoch
    | EndQuorumEpoch
    | Fetch
    | FetchSnapshot
    | AddVoter
    | RemoveVoter
    | UpdateVoter
    | AskVersions
)


class VoteAnswer(NamedTuple):
    error: ErrorCode
    leader: CurrentLeader
    granted: bool = False


class QuorumEpochAnswer(NamedTuple):
    """To BeginQuorumEpoch and EndQuorumEpoch."""

    error: ErrorCode
    leader: CurrentLeader


class FetchAnswer(NamedTuple):
    """One of `diverging`, `snapshot` and records, or nothing.

    To send it, the host reads batches from `offset` on, whole ones, the first whatever its size, up
    to what the request allows and never from `end_offset` on. Received, the two tell only whether
    records came (`end_offset > offset`); any larger `end_offset` will do.
    """

    error: ErrorCode
    leader: CurrentLeader
    high_watermark: int = -1
    log_start_offset: int = 0
    diverging: EpochEnd | None = None
    snapshot: SnapshotId | None = None
    offset: int = 0
    end_offset: int = 0

    @property
    def has_records(self) -> bool:
        return self.end_offset > self.offset


class FetchSnapshotAnswer(NamedTuple):
    """To send it, the host reads the snapshot's bytes from `position`, as many as are allowed, and
    fills in `length` (what it received) when it comes from the wire."""

    error: ErrorCode
    leader: CurrentLeader
    snapshot: SnapshotId = SnapshotId(0, 0)
    position: int = 0
    size: int = 0
    length: int = 0


class VoterChangeAnswer(NamedTuple):
    """To AddVoter, RemoveVoter and UpdateVoter; only the last carries the leader on the wire."""

    error: ErrorCode
    leader: CurrentLeader
    message: str | None = None


class VersionsAnswer(NamedTuple):
    """kraft.version as the newcomer supports it; 0-0 if it does not say."""

    error: ErrorCode
    kraft_versions: VersionRange = VersionRange()


RaftAnswer = (
    VoteAnswer
    | QuorumEpochAnswer
    | FetchAnswer
    | FetchSnapshotAnswer
    | VoterChangeAnswer
    | VersionsAnswer
)
