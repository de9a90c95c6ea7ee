"""confluent-kafka's AdminClient behind the suite's admin interface."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from confluent_kafka import ElectionType, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from tests.conformance.clients.admin import (
    SOURCES,
    Change,
    ClusterDescription,
    ConfigValue,
    Partition,
)
from tests.conformance.clients.confluent import as_broker_error
from tests.conformance.clients.record import PATIENCE_SECONDS


def answer(future: Future[Any]) -> Any:
    try:
        return future.result(PATIENCE_SECONDS)
    except KafkaException as failure:
        raise as_broker_error(failure.args[0]) from failure


def _ids(nodes: Sequence[Any]) -> tuple[int, ...]:
    return tuple(node.id for node in nodes)


class ConfluentAdmin:
    name = "confluent-kafka"

    def __init__(self, bootstrap_servers: str) -> None:
        self.client = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})

    def close(self) -> None:
        pass

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        replication: int = 1,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        config: Mapping[str, str] | None = None,
        validate_only: bool = False,
    ) -> None:
        if assignment is None:
            new = NewTopic(name, partitions, replication, config=dict(config or {}))
        else:
            replicas = [list(item) for item in assignment]
            settings = dict(config or {})
            new = NewTopic(name, len(replicas), replica_assignment=replicas, config=settings)
        answer(self.client.create_topics([new], validate_only=validate_only)[name])

    def delete_topic(self, name: str) -> None:
        answer(self.client.delete_topics([name])[name])

    def create_partitions(
        self,
        name: str,
        total: int,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        validate_only: bool = False,
    ) -> None:
        extra = {} if assignment is None else {"replica_assignment": [list(a) for a in assignment]}
        new = NewPartitions(name, total, **extra)
        answer(self.client.create_partitions([new], validate_only=validate_only)[name])

    def topic_names(self) -> set[str]:
        return set(self.client.list_topics(timeout=PATIENCE_SECONDS).topics)

    def describe_topic(self, name: str) -> dict[int, Partition]:
        found = answer(self.client.describe_topics(TopicCollection([name]))[name])
        return {
            p.id: Partition(
                p.leader.id, tuple(r.id for r in p.replicas), tuple(r.id for r in p.isr)
            )
            for p in found.partitions
        }

    def describe_config(self, kind: str, name: str) -> dict[str, ConfigValue]:
        resource = ConfigResource(kind, name)
        found = answer(self.client.describe_configs([resource])[resource])
        return {
            key: ConfigValue(e.value, SOURCES[e.source], e.is_read_only, e.is_sensitive)
            for key, e in found.items()
        }

    def replace_config(self, kind: str, name: str, config: Mapping[str, str]) -> None:
        resource = ConfigResource(kind, name, set_config=dict(config))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            future = self.client.alter_configs([resource])[resource]
        answer(future)

    def change_config(
        self, kind: str, name: str, changes: Sequence[Change], validate_only: bool = False
    ) -> None:
        entries = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType[operation])
            for operation, key, value in changes
        ]
        resource = ConfigResource(kind, name, incremental_configs=entries)
        call = self.client.incremental_alter_configs([resource], validate_only=validate_only)
        answer(call[resource])

    def delete_records(self, topic: str, before: int, partition: int = 0) -> int:
        where = TopicPartition(topic, partition, before)
        return int(answer(self.client.delete_records([where])[where]).low_watermark)

    def list_offset(self, topic: str, spec: str | int, partition: int = 0) -> tuple[int, int]:
        where = TopicPartition(topic, partition)
        wanted = OffsetSpec.for_timestamp(spec) if isinstance(spec, int) else None
        question = {where: wanted or getattr(OffsetSpec, str(spec))()}
        found = answer(self.client.list_offsets(question)[where])
        return found.offset, found.timestamp

    def describe_cluster(self) -> ClusterDescription:
        found = answer(self.client.describe_cluster())
        brokers = {node.id: (node.host, node.port) for node in found.nodes}
        return ClusterDescription(found.cluster_id, found.controller.id, brokers)

    def elect_leader(self, kind: str, topic: str, partition: int = 0) -> int:
        where = TopicPartition(topic, partition)
        found = answer(self.client.elect_leaders(ElectionType[kind], [where]))[where]
        if found is None:
            return 0
        error = found.args[0] if isinstance(found, KafkaException) else found
        return int(error.code())
