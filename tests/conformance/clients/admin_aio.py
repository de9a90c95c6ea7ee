"""aiokafka's admin client behind the suite's admin interface, with the calls it has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError

from tests.conformance.clients.admin import (
    SOURCES,
    ClusterDescription,
    ConfigValue,
    Partition,
)
from tests.conformance.clients.aio import as_broker_error
from tests.conformance.clients.record import BrokerError


def raise_for(code: int, message: object) -> None:
    if code:
        raise BrokerError(code, str(message))


class AioAdmin:
    name = "aiokafka"

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap = bootstrap_servers

    def close(self) -> None:
        pass

    def _call(self, use: Callable[[AIOKafkaAdminClient], Awaitable[Any]]) -> Any:
        try:
            return asyncio.run(self._connected(use))
        except KafkaError as error:
            raise as_broker_error(error) from error

    async def _connected(self, use: Callable[[AIOKafkaAdminClient], Awaitable[Any]]) -> Any:
        client = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        try:
            await client.start()
            return await use(client)
        finally:
            await client.close()

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
        settings = dict(config or {})
        if assignment is None:
            new = NewTopic(name, partitions, replication, topic_configs=settings)
        else:
            replicas = {n: list(item) for n, item in enumerate(assignment)}
            new = NewTopic(name, -1, -1, replica_assignments=replicas, topic_configs=settings)
        found = self._call(lambda c: c.create_topics([new], validate_only=validate_only))
        for _, code, message, *_ in found.topic_errors:
            raise_for(code, message)

    def delete_topic(self, name: str) -> None:
        found = self._call(lambda c: c.delete_topics([name]))
        for topic, code, *_ in found.topic_error_codes:
            raise_for(code, topic)

    def create_partitions(
        self,
        name: str,
        total: int,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        validate_only: bool = False,
    ) -> None:
        replicas = None if assignment is None else [list(item) for item in assignment]
        wanted = {name: NewPartitions(total, replicas)}
        self._call(lambda c: c.create_partitions(wanted, validate_only=validate_only))

    def topic_names(self) -> set[str]:
        return set(self._call(lambda c: c.list_topics()))

    def describe_topic(self, name: str) -> dict[int, Partition]:
        (found,) = self._call(lambda c: c.describe_topics([name]))
        raise_for(found["error_code"], name)
        return {
            p["partition"]: Partition(p["leader"], tuple(p["replicas"]), tuple(p["isr"]))
            for p in found["partitions"]
        }

    def describe_config(self, kind: str, name: str) -> dict[str, ConfigValue]:
        resource = ConfigResource(ConfigResourceType[kind], name)
        (answer,) = self._call(lambda c: c.describe_configs([resource]))
        ((code, message, _, _, entries),) = answer.resources
        raise_for(code, message)
        return {
            key: ConfigValue(value, SOURCES[source], read_only, sensitive)
            for key, value, read_only, source, sensitive, *_ in entries
        }

    def replace_config(self, kind: str, name: str, config: Mapping[str, str]) -> None:
        resource = ConfigResource(ConfigResourceType[kind], name, dict(config))
        answers = self._call(lambda c: c.alter_configs([resource]))
        for answer in answers:
            for code, message, *_ in answer.resources:
                raise_for(code, message)

    def delete_records(self, topic: str, before: int, partition: int = 0) -> int:
        where = TopicPartition(topic, partition)
        wanted = {where: RecordsToDelete(before)}
        return int(self._call(lambda c: c.delete_records(wanted))[where])

    def describe_cluster(self) -> ClusterDescription:
        found = self._call(lambda c: c.describe_cluster())
        brokers = {b["node_id"]: (b["host"], b["port"]) for b in found["brokers"]}
        return ClusterDescription(found["cluster_id"], found["controller_id"], brokers)
