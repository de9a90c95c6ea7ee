"""Writes records to a topic that brokers themselves write, to the leader wherever that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from penstock.coordinator.brokers import NoAnswer, NotSpoken
from penstock.coordinator.journal import acknowledged
from penstock.coordinator.topic import CoordinatorTopic
from penstock.handlers.broker import Broker
from penstock.metadata.topic import TopicImage
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.protocol.entity import Entity
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.compression import NONE
from penstock.records.record import Record

PRODUCE_VERSION_MIN = 9
PRODUCE_TIMEOUT_MS = 30_000


class UnwrittenError(Exception):
    """What was to be written is to be written again later."""


class Brokers(Protocol):
    async def call(self, node_id: int, request: Entity, min_version: int) -> Any: ...


class TopicWriter:
    """`topic` says what it is made like, if it is not there yet."""

    def __init__(
        self,
        name: str,
        topic: Callable[[], CoordinatorTopic],
        broker: Broker,
        brokers: Brokers,
        codec: int = NONE,
    ) -> None:
        self._name = name
        self._made_like = topic
        self._broker = broker
        self._brokers = brokers
        self._codec = codec

    async def write(
        self, values: Sequence[bytes], partition: int = 0, key: bytes | None = None
    ) -> None:
        """All of them, or UnwrittenError."""
        try:
            topic = await self._topic()
            now_ms = self._broker.clock.now_ms()
            records = (Record(at, now_ms, key, value) for at, value in enumerate(values))
            batch = build_batch(records, codec=self._codec)
            if partition not in topic.partitions:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"no partition {partition}")
            leader = topic.partitions[partition].leader
            if leader == self._broker.node_id:
                await self._append(partition, batch, now_ms)
            else:
                await self._send(leader, topic, partition, batch)
        except (ApiError, NoAnswer, NotSpoken, StorageError) as error:
            raise UnwrittenError(f"{self._name}: {error}") from error

    async def _topic(self) -> TopicImage:
        topics = self._broker.image.topics
        topic = topics.get(self._name)
        if topic is None:
            await self._broker.controller.create_internal_topic(self._made_like())
            topic = topics.get(self._name)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "not created yet")
        return topic

    async def _append(self, index: int, batch: bytearray, now_ms: int) -> None:
        partition = self._broker.partitions.by_name(self._name, index)
        try:
            result = partition.append(memoryview(batch), now_ms)
        except StorageError as error:
            self._broker.log_dirs.fail(TopicPartition(self._name, index), error)
            raise
        if not partition.is_acknowledged(result.last_offset + 1):
            await acknowledged(partition, result.last_offset + 1)

    async def _send(self, leader: int, topic: TopicImage, index: int, batch: bytearray) -> None:
        data = PartitionProduceData(index=index, records=memoryview(batch))
        request = ProduceRequest(
            acks=-1,
            timeout_ms=PRODUCE_TIMEOUT_MS,
            topic_data=[
                TopicProduceData(name=topic.name, topic_id=topic.id, partition_data=[data])
            ],
        )
        response = await self._brokers.call(leader, request, PRODUCE_VERSION_MIN)
        code = response.responses[0].partition_responses[0].error_code
        if code:
            raise ApiError(ErrorCode(code), f"node {leader} refused it")
