"""Partitions that something is wrong with, over the protocol. Prints nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka.admin import ConfigResource

from penstock.cli.cluster import Cluster, unknown_topic
from penstock.cli.config import describe_configs
from penstock.cli.operator.health import Fault, find_faults
from penstock.cli.operator.state import PartitionReplicas, TopicPartition

_MIN_ISR = "min.insync.replicas"


@dataclass(frozen=True, slots=True)
class FaultyPartition:
    place: TopicPartition
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    min_isr: int

    def document(self) -> dict[str, Any]:
        return {
            "topic": self.place.topic,
            "partition": self.place.partition,
            "leader": self.leader,
            "replicas": list(self.replicas),
            "isr": list(self.isr),
            "min_isr": self.min_isr,
        }


def find_topic_faults(
    cluster: Cluster, names: Sequence[str], faults: Sequence[Fault]
) -> list[FaultyPartition]:
    """Of these topics, or of all."""
    topics = cluster.metadata().topics
    for name in names:
        if name not in topics:
            raise unknown_topic(name)
    chosen = {name: each for name, each in topics.items() if not names or name in names}
    partitions = [
        PartitionReplicas(
            TopicPartition(name, each.id),
            leader=each.leader if each.leader >= 0 else None,
            replicas=tuple(each.replicas),
            isr=tuple(each.isrs),
        )
        for name, topic in chosen.items()
        for each in topic.partitions.values()
    ]
    min_isr = _min_isr(cluster, sorted(chosen))
    return [
        FaultyPartition(
            each.place, each.leader, each.replicas, each.isr, min_isr.get(each.place.topic, 1)
        )
        for each in find_faults(partitions, faults, min_isr)
    ]


def _min_isr(cluster: Cluster, topics: Sequence[str]) -> dict[str, int]:
    if not topics:
        return {}
    described = describe_configs(cluster, [ConfigResource("topic", name) for name in topics])
    return {
        resource.name: int(each.value)
        for resource, settings in described.items()
        for each in settings
        if each.name == _MIN_ISR and each.value
    }
