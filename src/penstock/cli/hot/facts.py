"""What two looks at a cluster tell of its load: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.cli.operator.state import ClusterState, TopicPartition
from penstock.cli.quota_top import Usage


class PartitionRate(NamedTuple):
    place: TopicPartition
    leader: int | None
    records_s: float
    bytes_s: float


class KeyShare(NamedTuple):
    key: bytes | None
    records: int
    share: float
    """Of the bytes that were sampled."""


class KeySample(NamedTuple):
    place: TopicPartition
    records: int
    """As many were looked at."""
    keys: tuple[KeyShare, ...]
    """Those that make most of it."""


class ProducerRate(NamedTuple):
    place: TopicPartition
    producer_id: int
    records_s: float


class GroupRate(NamedTuple):
    group: str
    topic: str
    records_s: float
    """By what it committed."""


@dataclass(frozen=True, slots=True)
class HotFacts:
    state: ClusterState
    rates: tuple[PartitionRate, ...]
    """The busiest first."""
    samples: Mapping[TopicPartition, KeySample] = field(default_factory=dict)
    producers: tuple[ProducerRate, ...] = ()
    """Of the busiest partitions, those that are idempotent."""
    groups: tuple[GroupRate, ...] = ()
    clients: tuple[Usage, ...] | None = None
    """None where no broker tells: no metrics were named."""

    def of_broker(self, broker: int) -> list[PartitionRate]:
        """That it leads: what producers send it."""
        return [each for each in self.rates if each.leader == broker]

    def of_topic(self, topic: str) -> list[PartitionRate]:
        return [each for each in self.rates if each.place.topic == topic]
