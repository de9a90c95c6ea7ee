"""Everything a cluster serves, as plain values: two clusters with the same view are the same."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource

_log = logging.getLogger("penstock.testing")
_TIMEOUT_S = 30.0
TOPIC_SOURCE = 1
"""Where a setting comes from that the topic itself has, in the protocol's numbers."""

Row = tuple[int, int, int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]
"""offset, timestamp type, timestamp, key, value, headers"""


@dataclass
class PartitionView:
    earliest: int
    latest: int
    rows: list[Row]
    committed_rows: list[Row]


@dataclass
class View:
    ids: dict[str, str] = field(default_factory=dict)
    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    partitions: dict[tuple[str, int], PartitionView] = field(default_factory=dict)
    group_offsets: dict[str, dict[tuple[str, int], tuple[int, str | None]]] = field(
        default_factory=dict
    )


def view(servers: str, groups: list[str]) -> View:
    admin = AdminClient({"bootstrap.servers": servers}, logger=_log)
    names = sorted(
        name for name in admin.list_topics(timeout=_TIMEOUT_S).topics if not name.startswith("__")
    )
    seen = View(configs=_configs(admin, names))
    found: list[tuple[str, int]] = []
    for name, future in admin.describe_topics(TopicCollection(names)).items():
        topic = future.result(_TIMEOUT_S)
        seen.ids[name] = str(topic.topic_id)
        found += [(name, partition.id) for partition in topic.partitions]
    seen.partitions = _partitions(servers, sorted(found))
    for (name, _), partition in seen.partitions.items():
        if seen.configs[name].get("cleanup.policy") == "compact":
            partition.rows = _last_of_each_key(partition.rows)
            partition.committed_rows = _last_of_each_key(partition.committed_rows)
    seen.group_offsets = {group: _group(admin, group) for group in groups}
    return seen


def _last_of_each_key(rows: list[Row]) -> list[Row]:
    """All that compaction, which may run at any moment, leaves untouched."""
    last = {row[3]: row for row in rows}
    return sorted(row for row in last.values() if row[4] is not None)


def _configs(admin: AdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    resources = [ConfigResource("topic", name) for name in names]
    found: dict[str, dict[str, str]] = {}
    for resource, future in admin.describe_configs(resources).items() if resources else ():
        entries = future.result(_TIMEOUT_S).values()
        found[resource.name] = {
            each.name: each.value for each in entries if each.source == TOPIC_SOURCE
        }
    return found


def _group(admin: AdminClient, group: str) -> dict[tuple[str, int], tuple[int, str | None]]:
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        future = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group]
        try:
            answer = future.result(_TIMEOUT_S)
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
            continue
        return {
            (each.topic, each.partition): (each.offset, each.metadata or None)
            for each in answer.topic_partitions
        }


def _partitions(servers: str, names: list[tuple[str, int]]) -> dict[tuple[str, int], PartitionView]:
    rows = _read(servers, names, "read_uncommitted")
    committed = _read(servers, names, "read_committed")
    consumer = _consumer(servers, "read_uncommitted")
    try:
        return {
            name: PartitionView(
                *consumer.get_watermark_offsets(TopicPartition(*name), timeout=_TIMEOUT_S),
                rows[name],
                committed[name],
            )
            for name in names
        }
    finally:
        consumer.close()


def _consumer(servers: str, isolation: str) -> Any:
    settings = {
        "bootstrap.servers": servers,
        "group.id": "view",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "isolation.level": isolation,
        "fetch.wait.max.ms": 20,
        "check.crcs": True,
    }
    return Consumer(settings, logger=_log)


def _read(
    servers: str, names: list[tuple[str, int]], isolation: str
) -> dict[tuple[str, int], list[Row]]:
    consumer = _consumer(servers, isolation)
    rows: dict[tuple[str, int], list[Row]] = {name: [] for name in names}
    unfinished = set(names)
    try:
        consumer.assign([TopicPartition(*name, -2) for name in names])
        while unfinished:
            message = consumer.poll(_TIMEOUT_S)
            assert message is not None, f"{unfinished} do not come to their end"
            if message.error() is None:
                rows[message.topic(), message.partition()].append(_row(message))
            elif message.error().code() == KafkaError._PARTITION_EOF:
                unfinished.discard((message.topic(), message.partition()))
            else:
                raise AssertionError(message.error())
        return rows
    finally:
        consumer.close()


def _row(message: Any) -> Row:
    kind, timestamp = message.timestamp()
    headers = tuple(message.headers() or ())
    return message.offset(), kind, timestamp, message.key(), message.value(), headers
