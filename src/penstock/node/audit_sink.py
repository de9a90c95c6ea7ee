"""Where the audit log goes: a file, a topic, or both. Each has a backlog of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from penstock.coordinator.brokers import NoAnswer, NotSpoken
from penstock.coordinator.journal import acknowledged
from penstock.coordinator.topic import MIN_ISR, CoordinatorTopic
from penstock.handlers.controller_link import ControllerLink
from penstock.metadata.image import ClusterImage
from penstock.metadata.topic import TopicImage
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode
from penstock.model.internal_topic import AUDIT_TOPIC
from penstock.protocol.entity import Entity
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig

PRODUCE_VERSION_MIN = 9
PRODUCE_TIMEOUT_MS = 30_000


class UnwrittenError(Exception):
    """The lines are to be written again later."""


class Sink(Protocol):
    name: str

    async def write(self, lines: Sequence[bytes]) -> None:
        """All of them, or UnwrittenError."""
        ...


class FileSink:
    """Opened for every write: whoever turns log files over just moves it away."""

    name = "file"

    def __init__(self, path: str) -> None:
        self._path = path

    async def write(self, lines: Sequence[bytes]) -> None:
        try:
            await asyncio.to_thread(self._append, b"".join(line + b"\n" for line in lines))
        except OSError as error:
            raise UnwrittenError(f"{self._path}: {error.strerror or error}") from error

    def _append(self, data: bytes) -> None:
        with open(self._path, "ab") as file:
            file.write(data)


class Brokers(Protocol):
    async def call(self, node_id: int, request: Entity, min_version: int) -> Any: ...


class TopicSink:
    """To the leader of the topic's one partition, on whichever node that is."""

    name = "topic"

    def __init__(
        self,
        node_id: int,
        config: BrokerConfig,
        clock: Clock,
        image: ClusterImage,
        partitions: PartitionSet,
        controller: ControllerLink,
        brokers: Brokers,
    ) -> None:
        self._node_id = node_id
        self._config = config
        self._clock = clock
        self._image = image
        self._partitions = partitions
        self._controller = controller
        self._brokers = brokers

    async def write(self, lines: Sequence[bytes]) -> None:
        try:
            topic = await self._topic()
            now_ms = self._clock.now_ms()
            batch = build_batch(
                Record(place, now_ms, None, line) for place, line in enumerate(lines)
            )
            leader = topic.partitions[0].leader
            if leader == self._node_id:
                await self._append(batch, now_ms)
            else:
                await self._send(leader, topic, batch)
        except ApiError as error:
            raise UnwrittenError(f"{AUDIT_TOPIC}: {error}") from error
        except (NoAnswer, NotSpoken) as error:
            raise UnwrittenError(f"{AUDIT_TOPIC}: {error}") from error

    async def _topic(self) -> TopicImage:
        topic = self._image.topics.get(AUDIT_TOPIC)
        if topic is None:
            await self._controller.create_internal_topic(audit_topic(self._config))
            topic = self._image.topics.get(AUDIT_TOPIC)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "not created yet")
        return topic

    async def _append(self, batch: bytearray, now_ms: int) -> None:
        partition = self._partitions.by_name(AUDIT_TOPIC, 0)
        result = partition.append(memoryview(batch), now_ms)
        if not partition.is_acknowledged(result.last_offset + 1):
            await acknowledged(partition, result.last_offset + 1)

    async def _send(self, leader: int, topic: TopicImage, batch: bytearray) -> None:
        data = PartitionProduceData(index=0, records=memoryview(batch))
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


def audit_topic(config: BrokerConfig) -> CoordinatorTopic:
    return CoordinatorTopic(
        AUDIT_TOPIC,
        1,
        int(config.get("penstock.audit.topic.replication.factor")),
        {
            "cleanup.policy": "delete",
            "compression.type": "zstd",
            "retention.ms": str(config.get("penstock.audit.topic.retention.ms")),
            MIN_ISR: "1",
        },
    )
