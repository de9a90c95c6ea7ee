"""The internal topics behind coordinators, and which of their partitions a name belongs to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from penstock.settings.config import BrokerConfig

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_STATE = "__share_group_state"
MIN_ISR = "min.insync.replicas"
NAMES_KEPT = 20_000
"""Names whose partition is remembered: every request of a coordinator asks for it."""


@dataclass(frozen=True, slots=True)
class CoordinatorTopic:
    """As it is made when the first name is asked for."""

    name: str
    partition_count: int
    replication_factor: int
    configs: dict[str, str]

    def fitted(self, brokers: int) -> CoordinatorTopic:
        """With no more replicas than brokers, and no more of them asked to be in sync than that:
        whoever watches over a cluster would see every partition below its minimum."""
        replicas = max(1, min(self.replication_factor, brokers))
        configs = dict(self.configs)
        if MIN_ISR in configs:
            configs[MIN_ISR] = str(min(int(configs[MIN_ISR]), replicas))
        return replace(self, replication_factor=replicas, configs=configs)


def consumer_offsets(config: BrokerConfig) -> CoordinatorTopic:
    return CoordinatorTopic(
        CONSUMER_OFFSETS,
        int(config.get("offsets.topic.num.partitions")),
        int(config.get("offsets.topic.replication.factor")),
        {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(config.get("offsets.topic.segment.bytes")),
        },
    )


def transaction_state(config: BrokerConfig) -> CoordinatorTopic:
    return CoordinatorTopic(
        TRANSACTION_STATE,
        int(config.get("transaction.state.log.num.partitions")),
        int(config.get("transaction.state.log.replication.factor")),
        {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "segment.bytes": str(config.get("transaction.state.log.segment.bytes")),
            MIN_ISR: str(config.get("transaction.state.log.min.isr")),
            "unclean.leader.election.enable": "false",
        },
    )


def share_state(config: BrokerConfig) -> CoordinatorTopic:
    """Not compacted: an update counts on top of others of its key. Its coordinator knows which
    records are of no use any more, and cuts them off."""
    return CoordinatorTopic(
        SHARE_STATE,
        int(config.get("share.coordinator.state.topic.num.partitions")),
        int(config.get("share.coordinator.state.topic.replication.factor")),
        {
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "retention.ms": "-1",
            "segment.bytes": str(config.get("share.coordinator.state.topic.segment.bytes")),
            MIN_ISR: str(config.get("share.coordinator.state.topic.min.isr")),
        },
    )


COORDINATOR_TOPICS = {
    CONSUMER_OFFSETS: consumer_offsets,
    TRANSACTION_STATE: transaction_state,
    SHARE_STATE: share_state,
}


@lru_cache(maxsize=NAMES_KEPT)
def partition_of(name: str, partition_count: int) -> int:
    """Java's `String.hashCode` of the name, made positive: where Kafka would look for it too."""
    digest = 0
    units = name.encode("utf-16-be")
    for i in range(0, len(units), 2):
        digest = (31 * digest + (units[i] << 8 | units[i + 1])) & 0xFFFFFFFF
    if digest >= 0x80000000:
        digest -= 0x100000000
    positive = 0 if digest == -0x80000000 else abs(digest)
    return positive % partition_count
