"""What a raft node is told once, at start."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.id import ZERO_ID
from penstock.raft.voter import DirectoryId, Endpoints, Node, ReplicaKey, VersionRange

KRAFT_VERSIONS = VersionRange(0, 1)


@dataclass(frozen=True, slots=True)
class RaftConfig:
    """Times as in Kafka's `controller.quorum.*`."""

    node_id: int
    directory_id: DirectoryId = ZERO_ID
    can_vote: bool = True
    """Whether the node has the controller role. A broker alone only ever observes."""
    endpoints: Endpoints = ()
    """Of its own controller listeners; the first is the default one. Brokers have none."""
    kraft_versions: VersionRange = KRAFT_VERSIONS
    bootstrap: tuple[Node, ...] = ()
    """Where to ask for the leader while it is not known, besides the voters."""
    auto_join: bool = False
    election_timeout_ms: int = 1000
    fetch_timeout_ms: int = 2000
    election_backoff_max_ms: int = 1000
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    fetch_max_wait_ms: int = 500
    observer_session_ms: int = 300_000
    """How long an observer that stopped fetching is still listed."""

    @property
    def key(self) -> ReplicaKey:
        return ReplicaKey(self.node_id, self.directory_id)

    @property
    def check_quorum_ms(self) -> int:
        return self.fetch_timeout_ms * 3 // 2

    @property
    def begin_quorum_ms(self) -> int:
        return self.fetch_timeout_ms // 2
