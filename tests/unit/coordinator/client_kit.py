"""Producers and group members of the kit's cluster: they look for their coordinator, and try again
where Kafka's clients would."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from penstock.handlers.call import ClientState
from penstock.model.error import RETRIABLE, ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from penstock.protocol.messages.describe_transactions import DescribeTransactionsRequest
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from penstock.records.builder import build_batch
from penstock.records.control import EndMarker, parse_end_marker
from penstock.records.header import iter_batches
from penstock.records.record import Record, iter_records
from penstock.replication.partition import READ_COMMITTED, Partition
from tests.unit.coordinator.cluster_kit import DATA, KitCluster, KitNode, leader_of

GROUP, TRANSACTION = 0, 1
PAUSE_S = 0.02


async def retried(ask: Callable[[], Coroutine[Any, Any, int]], times: int = 500) -> ErrorCode:
    """The first code that no client would try again after."""
    for _ in range(times):
        code = ErrorCode(await ask())
        if code not in RETRIABLE:
            return code
        await asyncio.sleep(PAUSE_S)
    return code


async def coordinator(cluster: KitCluster, kind: int, key: str) -> KitNode:
    node = next(one for one in cluster.nodes.values() if not one.is_deaf)
    while True:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
        (found,) = (await node.ask(request, 4)).coordinators
        if not found.error_code:
            assert found.host == f"host{found.node_id}"
            return cluster.nodes[found.node_id]
        assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        await asyncio.sleep(PAUSE_S)


class TxnProducer:
    """Of transaction version 2, which leaves adding partitions to brokers, or before."""

    def __init__(self, cluster: KitCluster, name: str = "tx", version: int = 2) -> None:
        self.cluster = cluster
        self.name = name
        self.is_new = version == 2
        self.producer_id = self.epoch = -1
        self.sequences: dict[TopicPartition, int] = {}
        self.connections: dict[int, ClientState] = {}

    async def coordinator(self) -> KitNode:
        return await coordinator(self.cluster, TRANSACTION, self.name)

    async def init(self, version: int = 5) -> ErrorCode:
        async def ask() -> int:
            request = InitProducerIdRequest(
                transactional_id=self.name, transaction_timeout_ms=60_000
            )
            answer = await (await self.coordinator()).ask(request, version)
            if not answer.error_code:
                self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
                self.sequences.clear()
            return int(answer.error_code)

        return await retried(ask)

    async def add(self, index: int = 0) -> ErrorCode:
        async def ask() -> int:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.name,
                v3_and_below_producer_id=self.producer_id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=[AddPartitionsToTxnTopic(name=DATA, partitions=[index])],
            )
            answer = await (await self.coordinator()).ask(request, 3)
            (topic,) = answer.results_by_topic_v3_and_below
            return int(topic.results_by_partition[0].partition_error_code)

        return await retried(ask)

    async def produce(self, *values: bytes, index: int = 0, patient: bool = True) -> ErrorCode:
        """A batch of them; once, where it is not patient."""
        key = TopicPartition(DATA, index)
        sequence = self.sequences.get(key, 0)
        self.sequences[key] = sequence + len(values)

        async def ask() -> int:
            return await self.produce_at(sequence, *values, index=index)

        return await retried(ask, 500 if patient else 1)

    async def produce_at(self, sequence: int, *values: bytes, index: int = 0) -> int:
        node = leader_of(self.cluster, DATA, index)
        now_ms = node.clock.now_ms()
        data = build_batch(
            [Record(at, now_ms, None, value, []) for at, value in enumerate(values)],
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        request = ProduceRequest(
            transactional_id=self.name,
            acks=-1,
            timeout_ms=5000,
            topic_data=[
                TopicProduceData(
                    name=DATA,
                    partition_data=[PartitionProduceData(index=index, records=memoryview(data))],
                )
            ],
        )
        connection = self.connections.setdefault(node.id, ClientState("127.0.0.1:2"))
        answer = await node.ask(request, 12 if self.is_new else 11, connection)
        return int(answer.responses[0].partition_responses[0].error_code)

    async def commit_offset(self, group: str, offset: int) -> ErrorCode:
        async def ask() -> int:
            one = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
            request = TxnOffsetCommitRequest(
                transactional_id=self.name,
                group_id=group,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                topics=[TxnOffsetCommitRequestTopic(name=DATA, partitions=[one])],
            )
            node = await coordinator(self.cluster, GROUP, group)
            answer = await node.ask(request, 5 if self.is_new else 4)
            return int(answer.topics[0].partitions[0].error_code)

        return await retried(ask)

    def end_request(self, commit: bool) -> EndTxnRequest:
        return EndTxnRequest(
            transactional_id=self.name,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=commit,
        )

    async def end(self, commit: bool = True) -> ErrorCode:
        async def ask() -> int:
            answer = await (await self.coordinator()).ask(
                self.end_request(commit), 5 if self.is_new else 4
            )
            if not answer.error_code and self.is_new:
                self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
                self.sequences.clear()
            return int(answer.error_code)

        return await retried(ask)

    async def state(self) -> str:
        request = DescribeTransactionsRequest(transactional_ids=[self.name])
        while True:
            (found,) = (await (await self.coordinator()).ask(request, 0)).transaction_states
            if found.error_code not in RETRIABLE:
                return str(found.transaction_state)
            await asyncio.sleep(PAUSE_S)

    async def wait_complete(self) -> str:
        for _ in range(1000):
            state = await self.state()
            if state.startswith("Complete"):
                return state
            await asyncio.sleep(PAUSE_S)
        return state


def commit_request(group: str, offset: int, member: str = "", generation: int = -1) -> Any:
    one = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    return OffsetCommitRequest(
        group_id=group,
        member_id=member,
        generation_id_or_member_epoch=generation,
        topics=[OffsetCommitRequestTopic(name=DATA, partitions=[one])],
    )


async def commit_offset(cluster: KitCluster, group: str, offset: int) -> ErrorCode:
    async def ask() -> int:
        node = await coordinator(cluster, GROUP, group)
        answer = await node.ask(commit_request(group, offset), 8)
        return int(answer.topics[0].partitions[0].error_code)

    return await retried(ask)


async def committed_offset(
    cluster: KitCluster, group: str, require_stable: bool = False
) -> tuple[int, int]:
    """Offset and error code, once there is a coordinator that has it."""
    asked = OffsetFetchRequestGroup(
        group_id=group, topics=[OffsetFetchRequestTopics(name=DATA, partition_indexes=[0])]
    )
    request = OffsetFetchRequest(groups=[asked], require_stable=require_stable)
    while True:
        node = await coordinator(cluster, GROUP, group)
        (found,) = (await node.ask(request, 8)).groups
        if found.error_code not in RETRIABLE:
            (partition,) = found.topics[0].partitions
            return partition.committed_offset, partition.error_code
        await asyncio.sleep(PAUSE_S)


def batches(partition: Partition) -> list[Any]:
    log = partition.log
    found = []
    for part in log.read(0, 1 << 20, log.end_offset).slices:
        data = memoryview(part.read())
        for position, header in iter_batches(data, 0, len(data)):
            found.append((header, data[position : position + header.size]))
    return found


def markers(partition: Partition) -> list[EndMarker]:
    return [
        marker
        for header, data in batches(partition)
        if header.is_control
        for marker in map(parse_end_marker, iter_records(data))
        if marker is not None
    ]


def values(partition: Partition) -> list[bytes | None]:
    return [
        record.value
        for header, data in batches(partition)
        if not header.is_control
        for record in iter_records(data)
    ]


def is_stable(partition: Partition) -> bool:
    """Whether nothing holds readers of committed records back."""
    return partition.bound(READ_COMMITTED) == partition.log.end_offset
