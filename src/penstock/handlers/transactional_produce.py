"""Produces inside a transaction: no record gets into a partition that is not part of it.

Records of a transaction that nobody knows of would never see a marker and hold back every reader
(KIP-890). Clients of version 2 leave adding the partition to the broker; for older ones the
coordinator is asked whether they did.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.header import (
    ATTRIBUTES,
    BATCH_OVERHEAD,
    TRANSACTIONAL_BIT,
    BatchHeader,
    parse_header,
)
from penstock.replication.partition import Partition

IMPLICIT_ADD_FROM = 12
ABORTABLE_FROM = 11
TOPIC_IDS_FROM = 13

Key = tuple[int, int]
Unknown = tuple[Key, Partition, BatchHeader]


def lacks_id(request: ProduceRequest) -> bool:
    """Whether there are records of a transaction, and nothing says of which."""
    if request.transactional_id is not None:
        return False
    for topic in request.topic_data:
        for data in topic.partition_data:
            records = data.records
            if records is None or len(records) < BATCH_OVERHEAD:
                continue
            if records[ATTRIBUTES + 1] & TRANSACTIONAL_BIT:
                return True
    return False


def must_ask(broker: Broker, request: ProduceRequest, call: Call) -> bool:
    """Whether the coordinator has to be asked first."""
    if request.transactional_id is None:
        return False
    if call.version < IMPLICIT_ADD_FROM and not _verifies(broker):
        return False
    return next(_unknown(broker, request, call.version), None) is not None


def _verifies(broker: Broker) -> bool:
    return bool(broker.config.get("transaction.partition.verification.enable"))


async def join(broker: Broker, request: ProduceRequest, version: int) -> dict[Key, ApiError]:
    """Have every partition of the request in its transaction; which of them may not be."""
    from penstock.handlers.transaction_call import add_partitions
    from penstock.transaction import Addition

    refused: dict[Key, ApiError] = {}
    for key, partition, header in list(_unknown(broker, request, version)):
        name = TopicPartition(partition.topic, partition.index)
        addition = Addition(
            request.transactional_id or "",
            header.producer_id,
            header.producer_epoch,
            (name,),
            verify_only=version < IMPLICIT_ADD_FROM,
        )
        code = (await add_partitions(broker, addition))[name]
        if code:
            refused[key] = _refusal(code, version)
    return refused


def _unknown(broker: Broker, request: ProduceRequest, version: int) -> Iterator[Unknown]:
    """Partitions whose log does not show that they are part of the transaction already."""
    for topic in request.topic_data:
        for data in topic.partition_data:
            if data.records is None or len(data.records) < BATCH_OVERHEAD:
                continue
            header = parse_header(data.records)
            partition = _find(broker, topic, data, version)
            if header.is_transactional and partition is not None:
                entry = partition.log.producers.get(header.producer_id)
                is_part = (
                    entry is not None
                    and entry.txn_first_offset >= 0
                    and entry.epoch == header.producer_epoch
                )
                if not is_part:
                    yield (id(topic), data.index), partition, header


def _find(
    broker: Broker, topic: TopicProduceData, data: PartitionProduceData, version: int
) -> Partition | None:
    try:
        if version >= TOPIC_IDS_FROM:
            return broker.partitions.by_id(topic.topic_id, data.index)
        return broker.partitions.by_name(topic.name, data.index)
    except ApiError:
        return None


def _refusal(code: ErrorCode, version: int) -> ApiError:
    """As Kafka tells producers of each age what their coordinator said."""
    if code == ErrorCode.PRODUCER_FENCED:
        return ApiError(ErrorCode.INVALID_PRODUCER_EPOCH)
    if code == ErrorCode.TRANSACTION_ABORTABLE and version < ABORTABLE_FROM:
        return ApiError(ErrorCode.INVALID_TXN_STATE, "Partition was not added to the transaction")
    if code == ErrorCode.CONCURRENT_TRANSACTIONS and version >= IMPLICIT_ADD_FROM:
        return ApiError(code)
    if code in (
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    ):
        # A code that every producer takes for "try again in a moment".
        return ApiError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"Unable to verify the partition has been added to the transaction: {code.name}",
        )
    return ApiError(code)
