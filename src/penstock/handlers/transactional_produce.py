"""Produces inside a transaction: no record gets into a partition that is not part of it.

Records of a transaction that nobody knows of would never see a marker and hold back every reader
(KIP-890). Clients of version 2 leave adding the partition to the broker; for older ones the
coordinator is asked whether they did.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.handlers.broker import Broker
from penstock.handlers.call import Call
from penstock.model.error import ApiError, ErrorCode, StorageError
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
from penstock.storage.producer.verification import Guard

IMPLICIT_ADD_FROM = 12
ABORTABLE_FROM = 11
TOPIC_IDS_FROM = 13

Key = tuple[int, int]
Unknown = tuple[Key, Partition, BatchHeader]


def lacks_id(request: ProduceRequest) -> bool:
    """Whether there are records of a transaction, and nothing says of which."""
    return request.transactional_id is None and has_transactional_records(request)


def has_transactional_records(request: ProduceRequest) -> bool:
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
    refused: dict[Key, ApiError] = {}
    for identity, unknown in _by_producer(_unknown(broker, request, version)).items():
        refused |= await _join(broker, request.transactional_id or "", *identity, unknown, version)
    return refused


def _by_producer(found: Iterator[Unknown]) -> dict[tuple[int, int], list[Unknown]]:
    """Nearly always one: its partitions are asked about together."""
    by_producer: dict[tuple[int, int], list[Unknown]] = {}
    for one in found:
        header = one[2]
        by_producer.setdefault((header.producer_id, header.producer_epoch), []).append(one)
    return by_producer


async def _join(
    broker: Broker,
    transactional_id: str,
    producer_id: int,
    epoch: int,
    unknown: list[Unknown],
    version: int,
) -> dict[Key, ApiError]:
    from penstock.handlers.transaction_call import join_transaction
    from penstock.transaction import Addition

    guards = [_guard(broker, partition, header) for _, partition, header in unknown]
    names = [TopicPartition(partition.topic, partition.index) for _, partition, _ in unknown]
    addition = Addition(
        transactional_id,
        producer_id,
        epoch,
        tuple(dict.fromkeys(names)),
        verify_only=version < IMPLICIT_ADD_FROM,
    )
    result = await join_transaction(broker, addition)
    refused: dict[Key, ApiError] = {}
    for (key, partition, _), name, guard in zip(unknown, names, guards, strict=True):
        error = _refusal(result[name], version) if result[name] else None
        if error is None:
            error = lapsed(partition, producer_id, guard, addition.verify_only)
        if error is not None:
            refused[key] = error
    return refused


def _guard(broker: Broker, partition: Partition, header: BatchHeader) -> Guard:
    producers = partition.log.producers
    if producers.get(header.producer_id) is None:
        producers.verifications.note(
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
            broker.clock.now_ms(),
        )
    return guard_of(partition)


def guard_of(partition: Partition) -> Guard:
    return Guard(partition.leader_epoch, partition.log.end_offset)


def lapsed(
    partition: Partition, producer_id: int, guard: Guard, verify_only: bool
) -> ApiError | None:
    """Why the answer says nothing any more: the transaction may have ended while it was on its
    way, and then nothing would ever end what is written now. Not so where partitions are added:
    in version 2 every end raises the epoch, and what comes behind it is refused for that."""
    if not partition.is_led:
        return ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if not verify_only:
        return None
    ended = partition.log.producers.has_ended_since(producer_id, guard.end_offset)
    if ended or partition.leader_epoch != guard.leader_epoch:
        return ApiError(
            ErrorCode.INVALID_TXN_STATE if ended else ErrorCode.NOT_ENOUGH_REPLICAS,
            "The transaction may have ended while it was verified",
        )
    return None


def check_open(partition: Partition, records: memoryview, guard: Guard, version: int) -> None:
    """For a batch that was looked at elsewhere since it was found to be part of a transaction."""
    header = parse_header(records)
    if header.is_transactional:
        verify_only = version < IMPLICIT_ADD_FROM
        error = lapsed(partition, header.producer_id, guard, verify_only)
        if error is not None:
            raise error


def _unknown(broker: Broker, request: ProduceRequest, version: int) -> Iterator[Unknown]:
    """Partitions whose log does not show that they are part of the transaction already."""
    for topic in request.topic_data:
        for data in topic.partition_data:
            if data.records is None or len(data.records) < BATCH_OVERHEAD:
                continue
            header = parse_header(data.records)
            if not header.is_transactional:
                continue
            try:
                partition = _find(broker, topic, data, version)
                is_known = partition.log.producers.is_in_transaction(
                    header.producer_id, header.producer_epoch
                )
            except (ApiError, StorageError):
                # The append says why.
                continue
            if not is_known:
                yield (id(topic), data.index), partition, header


def _find(
    broker: Broker, topic: TopicProduceData, data: PartitionProduceData, version: int
) -> Partition:
    if version >= TOPIC_IDS_FROM:
        return broker.partitions.by_id(topic.topic_id, data.index)
    return broker.partitions.by_name(topic.name, data.index)


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
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.REQUEST_TIMED_OUT,
    ):
        # A code that every producer takes for "try again in a moment".
        return ApiError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"Unable to verify the partition has been added to the transaction: {code.name}",
        )
    return ApiError(code)
