"""A client of several nodes: it creates topics, looks for leaders, writes and reads.

Never believes metadata of an earlier leader epoch than it has heard of, as clients of Kafka do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.peer.error import PeerError
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.records.builder import build_batch
from penstock.records.header import iter_batches
from penstock.records.record import Record, iter_records
from penstock.testing.simulation.cluster import SimulatedCluster
from tests.node.wire_kit import NOW_MS, fetch, fetched, part, produce, produced, records

CALL_S = 3.0
REPLICAS = 3
OVER_EVERY_S = 0.2


class Refused(PeerError):
    """An answer that says no."""

    def __init__(self, code: int) -> None:
        super().__init__(ErrorCode(code).name)
        self.code = ErrorCode(code)


class Known(NamedTuple):
    leader_id: int
    leader_epoch: int


class ClusterClient:
    """Node ids are the places of the names, from 1 on."""

    def __init__(self, cluster: SimulatedCluster, names: Sequence[str]) -> None:
        self.cluster = cluster
        self.names = list(names)
        self._peers = {number: cluster.peer(name) for number, name in enumerate(names, 1)}
        self._leaders: dict[TopicPartition, Known] = {}
        self._epochs: dict[TopicPartition, int] = {}

    # Topics

    async def create(self, topic: str, partitions: int, **configs: str) -> None:
        """Until it is there."""
        while True:
            with suppress(PeerError):
                await self.try_create(topic, partitions, **configs)
                return
            await asyncio.sleep(OVER_EVERY_S)

    async def try_create(self, topic: str, partitions: int, **configs: str) -> None:
        wanted = CreatableTopic(
            name=topic,
            num_partitions=partitions,
            replication_factor=REPLICAS,
            configs=[
                CreatableTopicConfig(name=name.replace("_", "."), value=value)
                for name, value in configs.items()
            ],
        )
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=5000)
        response: Any = await self.any().call(request, timeout_s=10)
        code = response.topics[0].error_code
        if code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            raise Refused(code)

    async def partition(self, topic: str, index: int) -> Any:
        """What some node says of it; None if it cannot be asked."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
        with suppress(PeerError):
            response: Any = await self.any().call(request, timeout_s=CALL_S)
            for one in response.topics[0].partitions:
                if one.partition_index == index:
                    return one
        return None

    async def wait_in_sync(self, topics: Iterable[TopicPartition]) -> None:
        for topic, index in topics:
            while True:
                one = await self.partition(topic, index)
                # More, where a move was called off that had taken the place of another.
                wanted = REPLICAS if one is None else max(len(one.replica_nodes), REPLICAS)
                if one is not None and one.leader_id > 0 and len(one.isr_nodes) == wanted:
                    break
                await asyncio.sleep(OVER_EVERY_S)

    # Leaders

    async def leader(self, where: TopicPartition) -> Known:
        """PeerError where none is known."""
        known = self._leaders.get(where)
        if known is None:
            found = await self.partition(*where)
            if found is None or found.leader_id < 1:
                raise PeerError("no leader is known")
            if found.leader_epoch < self._epochs.get(where, -1):
                raise PeerError("only an earlier leader is known")
            self._epochs[where] = found.leader_epoch
            known = self._leaders[where] = Known(found.leader_id, found.leader_epoch)
        return known

    def forget_leader(self, where: TopicPartition) -> None:
        self._leaders.pop(where, None)

    async def ask_leader(self, where: TopicPartition, request: Any) -> Any:
        """The answer of whoever leads the partition; PeerError without one that counts."""
        known = await self.leader(where)
        try:
            return await self._peers[known.leader_id].call(request, version=12, timeout_s=CALL_S)
        except PeerError:
            self.forget_leader(where)
            raise

    def any(self) -> Any:
        return self._peers[self.cluster.random.randint(1, len(self.names))]

    def peer(self, node_id: int) -> Any:
        return self._peers[node_id]

    # Records

    async def send(
        self, where: TopicPartition, *contents: bytes, acks: int = -1, **options: Any
    ) -> int:
        """The offset of the first; options are those of a batch."""
        timed = records(contents, NOW_MS + int(1000 * self.cluster.now_s))
        data = build_batch(timed, **options)
        request = produce(where.topic, data, where.partition, acks)
        answer = produced(await self.ask_leader(where, request))
        if answer.error_code:
            self.forget_leader(where)
            raise Refused(answer.error_code)
        return int(answer.base_offset)

    async def send_until_taken(self, where: TopicPartition, content: bytes) -> None:
        while True:
            with suppress(PeerError):
                await self.send(where, content)
                return
            await asyncio.sleep(OVER_EVERY_S)

    async def poll(
        self, where: TopicPartition, offset: int, wait_ms: int = 0
    ) -> tuple[list[Record], int]:
        """Records from there on, and the high watermark."""
        known = await self.leader(where)
        wanted = part(where.partition, offset, 100_000, current_leader_epoch=known.leader_epoch)
        request = fetch({where.topic: [wanted]}, max_wait_ms=wait_ms)
        one = fetched(await self.ask_leader(where, request))[where.topic, where.partition]
        if one.error_code:
            self.forget_leader(where)
            raise Refused(one.error_code)
        return [each for each in records_of(one) if each.offset >= offset], one.high_watermark

    async def read_all(self, where: TopicPartition, timeout_s: float = 120.0) -> list[Record]:
        """Up to the high watermark, once there is somebody who tells it."""
        found: list[Record] = []
        offset = 0
        until = self.cluster.now_s + timeout_s
        while self.cluster.now_s < until:
            with suppress(PeerError):
                more, high_watermark = await self.poll(where, offset)
                found += more
                offset = found[-1].offset + 1 if found else 0
                if offset >= high_watermark:
                    return found
                continue
            await asyncio.sleep(0.1)
        raise AssertionError(f"{where} cannot be read")


def records_of(fetched_partition: Any) -> list[Record]:
    """Of every whole batch; a last one that was cut off is left out."""
    data = memoryview(fetched_partition.records or b"")
    found: list[Record] = []
    for position, header in iter_batches(data, 0, len(data)):
        if position + header.size <= len(data) and not header.is_control:
            found += iter_records(data[position : position + header.size])
    return found
