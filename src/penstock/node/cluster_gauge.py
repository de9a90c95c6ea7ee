"""What a node can tell about its cluster: its replicas, the controllers, the metadata it goes by.

What is about all brokers and partitions is told by the active controller alone, and is 0 elsewhere:
a sum over the nodes is the cluster's.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import NO_LEADER
from penstock.node.metadata_plane import MetadataPlane
from penstock.node.partition_keeper import PartitionKeeper
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.replication.tally import ReplicaTally
from penstock.telemetry.metric import Gauge

Count = Callable[[], float]


def cluster_gauges(
    metadata: MetadataPlane, partitions: PartitionSet, keeper: PartitionKeeper
) -> list[Gauge]:
    image, repairs = metadata.image, keeper.repairs
    return [
        *_replica_gauges(image, partitions),
        *_tally_gauges(keeper.tally),
        ("penstock_damaged_replicas", "Found damaged, not repaired yet", lambda: len(repairs)),
        (
            "penstock_repaired_replicas",
            "Damaged replicas that fetch what they lack from others since then, since start",
            lambda: repairs.repaired,
        ),
        *_controller_gauges(image, lambda: metadata.controller.is_active),
        ("penstock_metadata_offset", "Next offset of the metadata", lambda: image.next_offset),
        (
            "penstock_metadata_lag",
            "Committed metadata records not known here yet",
            lambda: metadata.quorum.lag,
        ),
    ]


def _replica_gauges(image: ClusterImage, partitions: PartitionSet) -> list[Gauge]:
    def led(holds: Callable[[Partition], bool]) -> Count:
        return lambda: sum(each.is_led and holds(each) for each in partitions)

    def is_under_replicated(partition: Partition) -> bool:
        known = image.topics.partition(partition.topic, partition.index)
        if known is None:
            return False
        # Those that a move adds are not missed yet.
        return any(
            each not in known.isr and each not in known.adding_replicas for each in known.replicas
        )

    def is_under_min_isr(partition: Partition) -> bool:
        leader = partition.leader
        return leader is not None and not leader.may_append(partition.min_isr)

    return [
        (
            "penstock_under_replicated_partitions",
            "Partitions led here with replicas that are not in sync",
            led(is_under_replicated),
        ),
        (
            "penstock_under_min_isr_partitions",
            "Partitions led here that take no acks=all writes for want of replicas in sync",
            led(is_under_min_isr),
        ),
        ("penstock_led_partitions", "Partitions that this node leads", led(lambda _: True)),
        (
            "penstock_replica_lag_max",
            "Records that the last of the followers of partitions led here lacks",
            lambda: max((_lag(each) for each in partitions), default=0),
        ),
    ]


def _lag(partition: Partition) -> int:
    leader = partition.leader
    if leader is None or not partition.is_open:
        return 0
    end_offset = partition.log.end_offset
    lags = (end_offset - max(each.end_offset, 0) for each in leader.followers())
    return max(lags, default=0)


def _tally_gauges(tally: ReplicaTally) -> list[Gauge]:
    return [
        ("penstock_isr_shrinks", "Of partitions led here, since start", lambda: tally.isr_shrinks),
        ("penstock_isr_expands", "Of partitions led here, since start", lambda: tally.isr_expands),
        (
            "penstock_leader_elections",
            "Partitions that came to be led here since start",
            lambda: tally.elections,
        ),
        (
            "penstock_unclean_leader_elections",
            "Of those, by a replica that was not in sync",
            lambda: tally.unclean_elections,
        ),
    ]


def _controller_gauges(image: ClusterImage, is_active: Callable[[], bool]) -> list[Gauge]:
    def told(count: Count) -> Count:
        return lambda: count() if is_active() else 0

    def leaderless() -> float:
        return sum(
            each.leader == NO_LEADER for topic in image.topics for each in topic.partitions.values()
        )

    def fenced() -> float:
        return sum(each.fenced for each in image.brokers.values())

    return [
        ("penstock_active_controller", "1 where it is this node", told(lambda: 1)),
        (
            "penstock_offline_partitions",
            "Partitions of the cluster without a leader, told by the controller",
            told(leaderless),
        ),
        (
            "penstock_fenced_brokers",
            "Brokers that are registered and down, told by the controller",
            told(fenced),
        ),
        (
            "penstock_active_brokers",
            "Brokers in service, told by the controller",
            told(lambda: len(image.active_brokers)),
        ),
    ]
