"""What DescribeQuorum tells, as values."""

from __future__ import annotations

from typing import NamedTuple

from penstock.raft.voter import ReplicaKey, VoterSet


class ReplicaView(NamedTuple):
    key: ReplicaKey
    end_offset: int
    """-1 while it has not fetched in this epoch."""
    last_fetch_ms: int
    last_caught_up_ms: int
    """Both -1 where not known."""


class QuorumView(NamedTuple):
    leader_id: int
    epoch: int
    high_watermark: int
    voters: tuple[ReplicaView, ...]
    observers: tuple[ReplicaView, ...]
    voter_set: VoterSet
