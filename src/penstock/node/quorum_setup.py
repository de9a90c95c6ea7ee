"""This node's part in the quorum, from its identity, its place in the cluster and its settings."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.metadata.broker import Endpoint
from penstock.node.cluster_config import ClusterConfig
from penstock.node.identity import Identity
from penstock.quorum.config import QuorumConfig
from penstock.raft import Node, RaftConfig, RaftEndpoint, ReplicaKey, Voter, VoterSet
from penstock.settings.config import BrokerConfig

FIRST_BOOTSTRAP_ID = -2


def quorum_config(
    identity: Identity,
    cluster: ClusterConfig | None,
    own: Iterable[Endpoint],
    config: BrokerConfig,
) -> QuorumConfig:
    """`own`: this node's controller listeners, as others reach them."""
    return _alone(identity) if cluster is None else _among_others(identity, cluster, own, config)


def _alone(identity: Identity) -> QuorumConfig:
    """The only voter of a cluster that nobody else joins."""
    key = ReplicaKey(identity.node_id, identity.directory_id)
    return QuorumConfig(
        identity.cluster_id,
        RaftConfig(key.id, key.directory_id),
        VoterSet([Voter(key)]),
        alone=True,
        # Nobody else reads the log: what a snapshot holds is needed nowhere else.
        retained_bytes=0,
    )


def _among_others(
    identity: Identity,
    cluster: ClusterConfig,
    own: Iterable[Endpoint],
    config: BrokerConfig,
) -> QuorumConfig:
    listener = cluster.controller_listener
    raft = RaftConfig(
        identity.node_id,
        identity.directory_id,
        can_vote=cluster.is_controller,
        endpoints=tuple(RaftEndpoint(each.name, each.host, each.port) for each in own),
        bootstrap=tuple(
            Node(FIRST_BOOTSTRAP_ID - place, (RaftEndpoint(listener, server.host, server.port),))
            for place, server in enumerate(cluster.bootstrap_servers)
        ),
        auto_join=bool(config.get("controller.quorum.auto.join.enable")),
        election_timeout_ms=int(config.get("controller.quorum.election.timeout.ms")),
        fetch_timeout_ms=int(config.get("controller.quorum.fetch.timeout.ms")),
        election_backoff_max_ms=int(config.get("controller.quorum.election.backoff.max.ms")),
        request_timeout_ms=int(config.get("controller.quorum.request.timeout.ms")),
        retry_backoff_ms=int(config.get("controller.quorum.retry.backoff.ms")),
    )
    voters = VoterSet(
        Voter(ReplicaKey(each.id), (RaftEndpoint(listener, each.address.host, each.address.port),))
        for each in cluster.voters
    )
    return QuorumConfig(
        identity.cluster_id,
        raft,
        voters,
        listener=listener,
        fetch_bytes_max=int(config.get("controller.quorum.fetch.max.bytes")),
        snapshot_bytes=int(config.get("metadata.log.max.record.bytes.between.snapshots")),
        snapshot_interval_ms=int(config.get("metadata.log.max.snapshot.interval.ms")),
        retained_bytes=int(config.get("metadata.max.retention.bytes")),
    )
