"""A cluster as it describes itself: brokers, controller, features. Prints nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from penstock.cli.cluster import Cluster, is_internal
from penstock.cli.failure import Failure
from penstock.cli.wire_call import api_versions

_METADATA_VERSION = "metadata.version"
_RELEASES = (
    (30, "4.3"),
    (28, "4.2"),
    (26, "4.1"),
    (22, "4.0"),
    (21, "3.9"),
    (20, "3.8"),
    (15, "3.7"),
    (12, "3.6"),
    (9, "3.5"),
    (8, "3.4"),
    (4, "3.3"),
)
"""The first metadata level of each release of Kafka."""


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    id: int
    host: str
    port: int
    rack: str | None
    controller: bool


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    cluster_id: str
    controller: int | None
    """The active one; None where there is none, or none that may be asked for."""
    kafka_version: str | None
    """The release whose metadata level the cluster has; None where it does not say."""
    brokers: list[BrokerAddress]
    topics: int
    partitions: int
    internal_topics: int
    internal_partitions: int
    features: dict[str, int] = field(default_factory=dict)
    """Finalized levels by name."""

    def document(self) -> dict[str, Any]:
        return asdict(self)


def describe_cluster(cluster: Cluster) -> ClusterInfo:
    with cluster.explaining():
        future = cluster.admin().describe_cluster(request_timeout=cluster.timeout_s)
        described = cluster.answer_of(future)
    controller = _controller(cluster)
    brokers = [
        BrokerAddress(each.id, each.host, each.port, each.rack or None, each.id == controller)
        for each in sorted(described.nodes, key=lambda node: node.id)
    ]
    counts = {name: len(each.partitions) for name, each in cluster.metadata().topics.items()}
    internal = {name: count for name, count in counts.items() if is_internal(name)}
    features = _features(cluster, brokers)
    return ClusterInfo(
        cluster_id=described.cluster_id,
        controller=controller,
        kafka_version=release(features.get(_METADATA_VERSION)),
        brokers=brokers,
        topics=len(counts) - len(internal),
        partitions=sum(counts.values()) - sum(internal.values()),
        internal_topics=len(internal),
        internal_partitions=sum(internal.values()),
        features=features,
    )


def _controller(cluster: Cluster) -> int | None:
    """The active one, of the quorum: what brokers call the controller to clients is any broker
    that forwards to it (KIP-590)."""
    from penstock.cli.operator.broker_view import known_quorum
    from penstock.cli.operator.link import Link

    quorum = known_quorum(Link(cluster))
    return quorum.leader if quorum is not None and quorum.leader >= 0 else None


def _features(cluster: Cluster, brokers: list[BrokerAddress]) -> dict[str, int]:
    """confluent-kafka has no call for them. Of the first broker that answers: they are the
    cluster's."""
    for each in brokers:
        try:
            answer = api_versions(cluster.connect, each.host, each.port)
        except Failure:
            continue
        return {each.name: each.max_version_level for each in answer.finalized_features}
    return {}


def release(level: int | None) -> str | None:
    """The release of Kafka that a metadata level came with; None for one older than 3.3."""
    for first, name in _RELEASES:
        if level is not None and level >= first:
            return name
    return None
