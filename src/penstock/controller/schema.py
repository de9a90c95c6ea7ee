"""Kafka's declared settings as the controller checks changes against them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from penstock.controller.config import (
    SUPPORTED_FEATURES,
    ControllerConfig,
    TopicConfigEntry,
)
from penstock.controller.policy import alter_config_policy, create_topic_policy
from penstock.metadata.config import ResourceType
from penstock.metadata.image import ClusterImage
from penstock.model.error import ApiError, ErrorCode
from penstock.settings.broker import (
    find_broker_key,
    refuse_per_broker,
    validate_broker_overrides,
)
from penstock.settings.client_metrics import CLIENT_METRICS_KEYS, validate_client_metrics
from penstock.settings.config import BrokerConfig
from penstock.settings.describe import describe_topic
from penstock.settings.group import GROUP_KEYS, validate_group_overrides
from penstock.settings.key import LIST, Key
from penstock.settings.relation import RelationProblem, check_relations
from penstock.settings.resolve import topic_value
from penstock.settings.topic import TOPIC_KEYS, validate_topic_overrides


def controller_config(config: BrokerConfig) -> ControllerConfig:
    return ControllerConfig(
        num_partitions=config.get("num.partitions"),
        default_replication_factor=config.get("default.replication.factor"),
        replication_factor_chosen=config.is_set("default.replication.factor"),
        delete_topic_enable=config.get("delete.topic.enable"),
        min_insync_replicas=config.get("min.insync.replicas"),
        unclean_leader_election_enable=config.get("unclean.leader.election.enable"),
        broker_session_timeout_ms=config.get("broker.session.timeout.ms"),
        broker_heartbeat_interval_ms=config.get("broker.heartbeat.interval.ms"),
        metadata_max_idle_interval_ms=config.get("metadata.max.idle.interval.ms"),
        auto_leader_rebalance_enable=config.get("auto.leader.rebalance.enable"),
        leader_imbalance_check_interval_ms=1000
        * config.get("leader.imbalance.check.interval.seconds"),
        unclean_election_interval_ms=config.get("unclean.leader.election.interval.ms"),
        feature_ranges=SUPPORTED_FEATURES,
        token_secret=config.get("delegation.token.secret.key"),
        token_lifetime_ms_max=config.get("delegation.token.max.lifetime.ms"),
        token_expiry_ms=config.get("delegation.token.expiry.time.ms"),
        token_check_interval_ms=config.get("delegation.token.expiry.check.interval.ms"),
        create_topic_policy=create_topic_policy(config),
        alter_config_policy=alter_config_policy(config),
    )


class SettingsSchema:
    """`config` gives the broker's own, as it is now: what a topic does not set, it takes there."""

    def __init__(self, config: Callable[[], BrokerConfig]) -> None:
        self._config = config

    def check_topic(self, values: Mapping[str, str]) -> None:
        validate_topic_overrides(values)

    def check_broker(self, name: str, values: Mapping[str, str], altered: Iterable[str]) -> None:
        """Only what is altered: the rest was accepted once, perhaps by another version."""
        changed = {key: values[key] for key in altered}
        validate_broker_overrides(changed)
        if not name:
            refuse_per_broker(changed)
        now = self._config()
        after = (
            now.with_dynamic(values, now.dynamic_default)
            if name
            else now.with_dynamic(now.dynamic, values)
        )
        try:
            check_relations(after, changed)
        except RelationProblem as problem:
            raise ApiError(ErrorCode.INVALID_REQUEST, str(problem)) from None

    def check_other(self, resource_type: int, name: str, values: Mapping[str, str]) -> None:
        if resource_type == ResourceType.GROUP:
            validate_group_overrides(self._config(), values)
        else:
            validate_client_metrics(values)

    def is_list(self, resource_type: int, key: str) -> bool:
        found = _find(resource_type, key)
        return found is not None and found.type == LIST

    def default_of(self, resource_type: int, key: str) -> str | None:
        found = _find(resource_type, key)
        return None if found is None else found.default

    def topic_value(self, overrides: Mapping[str, str], key: str) -> Any:
        return topic_value(self._config(), overrides, key)

    def describe_topic(
        self, overrides: Mapping[str, str], image: ClusterImage
    ) -> Sequence[TopicConfigEntry]:
        return [
            TopicConfigEntry(one.name, one.value, one.source, one.is_sensitive, one.read_only)
            for one in sorted(
                describe_topic(self._config(), overrides), key=lambda entry: entry.name
            )
        ]


def _find(resource_type: int, key: str) -> Key | None:
    if resource_type == ResourceType.TOPIC:
        return TOPIC_KEYS.get(key)
    if resource_type == ResourceType.GROUP:
        return GROUP_KEYS.get(key)
    if resource_type == ResourceType.CLIENT_METRICS:
        return CLIENT_METRICS_KEYS.get(key)
    return find_broker_key(key) if resource_type == ResourceType.BROKER else None
