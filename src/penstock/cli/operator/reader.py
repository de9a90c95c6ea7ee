"""A cluster's state over the protocol. Prints nothing, changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from penstock.cli.failure import Failure
from penstock.cli.operator.link import Link, check
from penstock.cli.operator.state import (
    BrokerNode,
    ClusterState,
    PartitionReplicas,
    QuorumReplica,
    QuorumState,
    TopicPartition,
)
from penstock.protocol.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from penstock.protocol.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from penstock.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaState,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
)

METADATA_TOPIC = "__cluster_metadata"


class ReplicaChange(NamedTuple):
    """Of a partition that is being moved, as the controller has it."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


Moves = Mapping[TopicPartition, ReplicaChange]


def read_state(link: Link) -> ClusterState:
    described = _describe(link)
    brokers = _brokers(described)
    for each in brokers.values():
        if not each.fenced:
            link.learn(each.id, each.host, each.port)
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    partitions = _partitions(link.call(request, MetadataResponse), read_moves(link))
    # Replicas may be left on a broker that was unregistered.
    gone = {each for one in partitions.values() for each in one.replicas} - set(brokers)
    brokers |= {each: BrokerNode(each, fenced=True) for each in gone}
    return ClusterState(brokers, partitions, cluster_id=described.cluster_id)


def read_state_at(link: Link, host: str, port: int) -> ClusterState:
    """As one broker sees it; without moves, which the controller knows."""
    described = link.call_at(host, port, DescribeClusterRequest(), DescribeClusterResponse)
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    metadata = link.call_at(host, port, request, MetadataResponse)
    return ClusterState(_brokers(described), _partitions(metadata, {}))


def read_brokers(link: Link) -> dict[int, BrokerNode]:
    return _brokers(_describe(link))


def _describe(link: Link) -> DescribeClusterResponse:
    try:
        request = DescribeClusterRequest(include_fenced_brokers=True)
        described = link.call(request, DescribeClusterResponse)
    except Failure:
        # Before Kafka 4.0 fenced brokers could not be asked for.
        described = link.call(DescribeClusterRequest(), DescribeClusterResponse)
    check(described.error_code, described.error_message)
    return described


def _brokers(described: DescribeClusterResponse) -> dict[int, BrokerNode]:
    return {
        each.broker_id: BrokerNode(
            each.broker_id, each.host, each.port, each.rack or None, each.is_fenced
        )
        for each in described.brokers
    }


def _partitions(
    metadata: MetadataResponse, moves: Moves
) -> dict[TopicPartition, PartitionReplicas]:
    found = {}
    for topic in metadata.topics:
        for each in topic.partitions:
            place = TopicPartition(topic.name or "", each.partition_index)
            found[place] = _partition(place, each, moves.get(place))
    return found


def _partition(
    place: TopicPartition,
    described: MetadataResponsePartition,
    change: ReplicaChange | None,
) -> PartitionReplicas:
    # The broker that described it may not have heard yet that it is being moved.
    change = change or ReplicaChange(tuple(described.replica_nodes), (), ())
    return PartitionReplicas(
        place,
        leader=described.leader_id if described.leader_id >= 0 else None,
        replicas=change.replicas,
        isr=tuple(described.isr_nodes),
        adding=change.adding,
        removing=change.removing,
        offline=tuple(described.offline_replicas),
    )


def read_moves(link: Link) -> Moves:
    request = ListPartitionReassignmentsRequest(timeout_ms=link.timeout_ms, topics=None)
    answer = link.call(request, ListPartitionReassignmentsResponse)
    check(answer.error_code, answer.error_message, "moves under way")
    return {
        TopicPartition(topic.name, each.partition_index): ReplicaChange(
            tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas)
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def read_quorum(link: Link) -> QuorumState:
    topic = RequestTopicData(
        topic_name=METADATA_TOPIC, partitions=[RequestPartitionData(partition_index=0)]
    )
    answer = link.call(DescribeQuorumRequest(topics=[topic]), DescribeQuorumResponse)
    check(answer.error_code, answer.error_message, "quorum")
    described = answer.topics[0].partitions[0]
    check(described.error_code, described.error_message, "quorum")
    return QuorumState(
        leader=described.leader_id,
        epoch=described.leader_epoch,
        high_watermark=described.high_watermark,
        voters=[_quorum_replica(each) for each in described.current_voters],
        observers=[_quorum_replica(each) for each in described.observers],
        addresses={
            node.node_id: (node.listeners[0].host, node.listeners[0].port)
            for node in answer.nodes
            if node.listeners
        },
    )


def _quorum_replica(described: ReplicaState) -> QuorumReplica:
    def known(time_ms: int) -> int | None:
        return time_ms if time_ms >= 0 else None

    return QuorumReplica(
        described.replica_id,
        described.log_end_offset,
        known(described.last_fetch_timestamp),
        known(described.last_caught_up_timestamp),
    )


class BrokerDisk(NamedTuple):
    sizes: Mapping[TopicPartition, int]
    """Bytes of each replica."""
    cordoned: bool
    """It takes no new replicas."""
    total_bytes: int | None = None
    """Of all its directories; None before Kafka 3.3."""
    usable_bytes: int | None = None


Disks = Mapping[int, BrokerDisk]
"""By broker; one that does not answer is left out."""


def read_disks(link: Link, brokers: Iterable[BrokerNode]) -> Disks:
    disks = {}
    for broker in brokers:
        if broker.fenced:
            continue
        try:
            answer = link.call_at(
                broker.host,
                broker.port,
                DescribeLogDirsRequest(topics=None),
                DescribeLogDirsResponse,
            )
        except Failure:
            continue
        if not answer.error_code:
            disks[broker.id] = _disk(answer)
    return disks


def _disk(answer: DescribeLogDirsResponse) -> BrokerDisk:
    sizes = {
        TopicPartition(topic.name, each.partition_index): each.partition_size
        for directory in answer.results
        for topic in directory.topics
        for each in topic.partitions
        if not each.is_future_key
    }
    cordoned = bool(answer.results) and all(each.is_cordoned for each in answer.results)
    total = sum(each.total_bytes for each in answer.results)
    usable = sum(each.usable_bytes for each in answer.results)
    if not answer.results or min(each.total_bytes for each in answer.results) < 0:
        return BrokerDisk(sizes, cordoned)
    return BrokerDisk(sizes, cordoned, total, usable)


def with_disks(state: ClusterState, disks: Disks) -> ClusterState:
    """The largest replica of a partition tells how much there is to copy."""
    largest: dict[TopicPartition, int] = {}
    for disk in disks.values():
        for place, size in disk.sizes.items():
            largest[place] = max(size, largest.get(place, 0))
    brokers = {
        each.id: replace(each, cordoned=each.id in disks and disks[each.id].cordoned)
        for each in state.brokers.values()
    }
    return replace(state, sizes=largest, brokers=brokers)
