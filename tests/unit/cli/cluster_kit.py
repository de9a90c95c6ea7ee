"""Cluster states for tests of plans, made from a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.cli.operator.state import (
    BrokerNode,
    ClusterState,
    PartitionReplicas,
    QuorumReplica,
    QuorumState,
    TopicPartition,
)


def brokers(
    racks: Mapping[int, str | None], fenced: Sequence[int] = (), cordoned: Sequence[int] = ()
) -> dict[int, BrokerNode]:
    return {
        each: BrokerNode(each, "h", 1, rack, each in fenced, each in cordoned)
        for each, rack in racks.items()
    }


def partition(
    place: str,
    replicas: Sequence[int],
    *,
    isr: Sequence[int] | None = None,
    leader: int | None = -1,
    adding: Sequence[int] = (),
    removing: Sequence[int] = (),
) -> PartitionReplicas:
    topic, _, number = place.partition(":")
    in_sync = tuple(replicas if isr is None else isr)
    return PartitionReplicas(
        TopicPartition(topic, int(number)),
        leader=replicas[0] if leader == -1 else leader,
        replicas=tuple(replicas),
        isr=in_sync,
        adding=tuple(adding),
        removing=tuple(removing),
    )


def cluster(nodes: Mapping[int, BrokerNode], *partitions: PartitionReplicas) -> ClusterState:
    return ClusterState(nodes, {each.place: each for each in partitions})


def quorum(leader: int, ends: Mapping[int, int], caught_up: Mapping[int, int]) -> QuorumState:
    voters = [
        QuorumReplica(each, end, caught_up.get(each), caught_up.get(each))
        for each, end in ends.items()
    ]
    return QuorumState(leader, 5, min(ends.values()), voters, [])
