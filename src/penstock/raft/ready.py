"""What a step leaves to be done, in the order in which the host does it.

1. write and sync `election`; 2. do `log_work`, in order; 3. send `requests` and `answers`; 4. take
over `high_watermark` and `role`. The next input comes after 1 and 2. Syncing the log may go on
beside: see `LogView.flushed_offset`.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import NamedTuple

from penstock.raft.election_state import ElectionState
from penstock.raft.log_view import SnapshotId
from penstock.raft.message import RaftAnswer, RaftRequest
from penstock.raft.voter import Node, VoterSet


class Role(Enum):
    UNATTACHED = "unattached"
    FOLLOWER = "follower"
    PROSPECTIVE = "prospective"
    CANDIDATE = "candidate"
    LEADER = "leader"
    RESIGNED = "resigned"


class RoleView(NamedTuple):
    role: Role
    epoch: int
    leader_id: int | None


class LeaderChange(NamedTuple):
    leader_id: int
    voters: tuple[int, ...]
    granting: tuple[int, ...]


class AppendControl(NamedTuple):
    """Append one control batch of `epoch` with the records that are not None, in this order; then
    call `log_appended` with its entries."""

    epoch: int
    leader_change: LeaderChange | None = None
    kraft_version: int | None = None
    voters: VoterSet | None = None


class AppendFetched(NamedTuple):
    """Append the batches that came with the answer to this request; then call `log_appended`, also
    if none of them was good."""

    request_id: int


class Truncate(NamedTuple):
    """Drop every record from `end_offset` on, and sync that before anything is appended; then call
    `log_truncated`."""

    end_offset: int


class WriteChunk(NamedTuple):
    """Write the bytes that came with the answer to this request at `position` of the snapshot.

    Position 0 begins it anew, whatever was there of it. After the last: sync it, drop the log,
    start it at the snapshot's end, call `snapshot_installed`. A snapshot that turns out bad: drop
    it and call `snapshot_refused`.
    """

    request_id: int
    snapshot: SnapshotId
    position: int
    last: bool


LogWork = AppendControl | AppendFetched | Truncate | WriteChunk


class SendRequest(NamedTuple):
    request_id: int
    node: Node
    request: RaftRequest


class SendAnswer(NamedTuple):
    token: Hashable
    answer: RaftAnswer


class Ready(NamedTuple):
    election: ElectionState | None = None
    log_work: tuple[LogWork, ...] = ()
    requests: tuple[SendRequest, ...] = ()
    answers: tuple[SendAnswer, ...] = ()
    high_watermark: int | None = None
    """Set when it moved; records below may be applied."""
    role: RoleView | None = None
    """Set when role, epoch or leader changed."""

    def __bool__(self) -> bool:
        return any(part is not None and part != () for part in self)
