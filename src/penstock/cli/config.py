"""Settings of topics and brokers over the protocol: describe, set, unset. Prints nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
)

from penstock.cli.cluster import Cluster, reason, unknown_topic
from penstock.cli.failure import Failure

_SOURCES = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG: "topic",
    ConfigSource.DYNAMIC_BROKER_CONFIG: "broker",
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG: "all brokers",
    ConfigSource.STATIC_BROKER_CONFIG: "start",
    ConfigSource.DEFAULT_CONFIG: "default",
}


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    value: str | None
    source: str
    """Where the value comes from: topic, broker, all brokers, start (file or --set), default."""
    own: bool
    """Set on the very resource that was asked for."""
    read_only: bool
    sensitive: bool

    def document(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": self.value,
            "source": self.source,
            "read_only": self.read_only,
            "sensitive": self.sensitive,
        }


def check_broker(cluster: Cluster, broker: str) -> None:
    """Each broker answers for itself, so that one that is not there would answer nothing."""
    known = sorted(cluster.metadata().brokers)
    if int(broker) not in known:
        there = ", ".join(map(str, known))
        what = "is only broker" if len(known) == 1 else "are brokers"
        raise Failure(f"there is no broker {int(broker)}; in this cluster {what} {there}")


def describe_configs(
    cluster: Cluster, resources: Sequence[ConfigResource]
) -> dict[ConfigResource, list[Setting]]:
    settings = {}
    futures = cluster.admin().describe_configs(list(resources), request_timeout=cluster.timeout_s)
    for resource, future in futures.items():
        entries = _result(cluster, resource, future)
        kind = resource.restype
        settings[resource] = sorted(
            (_setting(each, kind) for each in entries.values()), key=lambda each: each.name
        )
    return settings


def describe_topic_settings(cluster: Cluster, topic: str) -> dict[str, str]:
    """Those that it has of its own."""
    resource = ConfigResource("topic", topic)
    found = describe_configs(cluster, [resource])[resource]
    return {each.name: each.value for each in found if each.own and each.value is not None}


def _setting(entry: ConfigEntry, kind: Any) -> Setting:
    source = ConfigSource(entry.source)
    if kind == ConfigResource.Type.TOPIC:
        own = source == ConfigSource.DYNAMIC_TOPIC_CONFIG
    else:
        own = source not in (ConfigSource.DEFAULT_CONFIG, ConfigSource.UNKNOWN_CONFIG)
    return Setting(
        name=entry.name,
        value=entry.value,
        source=_SOURCES.get(source, source.name.lower()),
        own=own,
        read_only=bool(entry.is_read_only),
        sensitive=bool(entry.is_sensitive),
    )


def alter_configs(
    cluster: Cluster,
    kind: str,
    name: str,
    *,
    assign: Mapping[str, str],
    remove: Sequence[str] = (),
) -> None:
    """Change only what is named; everything else stays."""
    entries = [
        ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        for key, value in assign.items()
    ]
    entries += [
        ConfigEntry(key, None, incremental_operation=AlterConfigOpType.DELETE) for key in remove
    ]
    resource = ConfigResource(kind, name, incremental_configs=entries)
    futures = cluster.admin().incremental_alter_configs(
        [resource], request_timeout=cluster.timeout_s
    )
    for altered, future in futures.items():
        _result(cluster, altered, future)


def _result(cluster: Cluster, resource: ConfigResource, future: Any) -> Any:
    try:
        return cluster.answer_of(future)
    except KafkaException as error:
        cause = error.args[0]
        if cause.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise unknown_topic(resource.name) from error
        if cause.code() > 0:
            raise Failure(f"{resource.name or 'brokers'}: {reason(cause)}") from error
        raise cluster.explain(error) from error
