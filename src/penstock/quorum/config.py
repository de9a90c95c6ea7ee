"""What a quorum is told once, at start, beyond what raft itself is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.raft import RaftConfig, VoterSet


@dataclass(frozen=True, slots=True)
class QuorumConfig:
    """The same for as long as the node runs."""

    cluster_id: str
    raft: RaftConfig
    voters: VoterSet = field(default_factory=VoterSet)
    """As configured; they count until the log names others."""
    alone: bool = False
    """Whether this node is the whole quorum: a log that names other voters is refused."""
    listener: str = "CONTROLLER"
    """Whose endpoint of another node is called."""
    fetch_bytes_max: int = 1 << 20
    snapshot_bytes: int = 20 << 20
    """A snapshot is due after so many bytes of records,"""
    snapshot_interval_ms: int = 3_600_000
    """or after so long, if there is anything new; 0: never for that."""
    retained_bytes: int = 100 << 20
    """Log and snapshots beyond that are dropped, as far as the newest snapshot allows."""
