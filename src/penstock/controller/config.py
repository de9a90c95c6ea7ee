"""What the controller is told about the broker it serves, and the context its rules work in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from penstock.controller.broker_session import BrokerSessions
from penstock.controller.partition_index import IndexedImage, PartitionIndex
from penstock.metadata.image import ClusterImage
from penstock.metadata.version import METADATA_LEVEL, METADATA_LEVEL_MIN, METADATA_VERSION
from penstock.model.id import TopicId

ELIGIBLE_LEADERS = "eligible.leader.replicas.version"

SUPPORTED_FEATURES: Mapping[str, tuple[int, int]] = {
    METADATA_VERSION: (METADATA_LEVEL_MIN, METADATA_LEVEL),
    "kraft.version": (0, 1),
    ELIGIBLE_LEADERS: (0, 1),
    "group.version": (0, 1),
    "share.version": (0, 1),
    "streams.version": (0, 1),
    "transaction.version": (0, 2),
}
"""Levels a log may name, and that may be chosen while the cluster runs."""

BOOTSTRAP_FEATURES: Mapping[str, int] = {
    METADATA_VERSION: METADATA_LEVEL,
    ELIGIBLE_LEADERS: 1,
    "group.version": 1,
    "share.version": 1,
    "streams.version": 1,
    "transaction.version": 2,
}


class TopicConfigEntry(NamedTuple):
    """One setting in effect for a topic, as CreateTopics answers it."""

    name: str
    value: str | None
    source: int
    is_sensitive: bool = False
    is_read_only: bool = False


class ConfigSchema(Protocol):
    """Which settings exist and what they may be. Checks raise ApiError with Kafka's code."""

    def check_topic(self, values: Mapping[str, str]) -> None: ...

    def check_broker(self, name: str, values: Mapping[str, str], altered: Iterable[str]) -> None:
        """`name` is the broker's id, or "" for all of them; `values` is all that would be set."""
        ...

    def check_other(self, resource_type: int, name: str, values: Mapping[str, str]) -> None:
        """Groups and client metrics."""
        ...

    def is_list(self, resource_type: int, key: str) -> bool: ...

    def default_of(self, resource_type: int, key: str) -> str | None: ...

    def topic_value(self, overrides: Mapping[str, str], key: str) -> Any:
        """The typed value in effect of one setting that has a default."""
        ...

    def describe_topic(
        self, overrides: Mapping[str, str], image: ClusterImage
    ) -> Iterable[TopicConfigEntry]:
        """Every topic setting with the value in effect, sorted by name."""
        ...


@dataclass(frozen=True, slots=True)
class ControllerConfig:
    """Of the settings, what the controller decides by."""

    num_partitions: int = 3
    default_replication_factor: int = 3
    """Of a topic that asks for none: no more than there are brokers, where nobody chose it."""
    replication_factor_chosen: bool = False
    delete_topic_enable: bool = True
    min_insync_replicas: int = 1
    unclean_leader_election_enable: bool = False
    cluster_id: str | None = None
    """None where only this node's own broker registers."""
    broker_session_timeout_ms: int = 9000
    broker_heartbeat_interval_ms: int = 2000
    metadata_max_idle_interval_ms: int = 500
    """Between no-op records, which keep offsets moving in an idle cluster (KIP-835); 0 for none."""
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_check_interval_ms: int = 300_000
    unclean_election_interval_ms: int = 300_000
    elections_per_round_max: int = 1000
    """Of periodic elections; what is left follows at once, in a decision of its own."""
    feature_ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Levels that may be chosen while the cluster runs; other features stay as they are."""
    records_per_batch_max: int = 10_000
    """Past this a decision is written as a metadata transaction of several batches."""
    partitions_per_request_max: int = 10_000
    bootstrap_features: Mapping[str, int] = field(default_factory=lambda: BOOTSTRAP_FEATURES)
    token_secret: str | None = None
    """What delegation tokens are made with; None where there are none."""
    token_lifetime_ms_max: int = 604_800_000
    token_expiry_ms: int = 86_400_000
    token_check_interval_ms: int = 3_600_000
    create_topic_policy: Callable[..., str | None] | None = None
    alter_config_policy: Callable[..., str | None] | None = None
    """What the user's own rules say against it; told by name what is asked for."""


@dataclass(slots=True)
class ControllerQuorum:
    """What the host of the metadata log tells the controller of the quorum; it has no record."""

    voter_ids: frozenset[int] = frozenset()
    kraft_version: int = 0


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """What every rule looks at: the image as it is now, the settings, and a source of new ids."""

    image: ClusterImage
    config: ControllerConfig
    schema: ConfigSchema
    new_id: Callable[[], TopicId]
    sessions: BrokerSessions
    indexed: IndexedImage
    quorum: ControllerQuorum

    @property
    def index(self) -> PartitionIndex:
        return self.indexed.index()

    @property
    def node_count(self) -> int:
        image = self.image
        return len({*image.brokers, *image.controllers, *self.quorum.voter_ids})
