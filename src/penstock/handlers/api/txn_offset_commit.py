"""TxnOffsetCommit: a group's place as part of a transaction, visible when that commits."""

from __future__ import annotations

from penstock.group import txn_commit_refused
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.coordinator_call import code_for_client
from penstock.handlers.group_call import ask
from penstock.handlers.named_once import answered_once
from penstock.handlers.transaction_call import join_transaction
from penstock.handlers.transactional_produce import guard_of, lapsed
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponseTopic,
)
from penstock.transaction import Addition

IMPLICIT_ADD_FROM = 5
"""Clients of transaction version 2 leave it to us to add the group to the transaction."""
ABORTABLE_FROM = 4


def handle(broker: Broker, request: TxnOffsetCommitRequest, call: Call) -> Answer:
    return _commit(broker, request, call.version)


async def _commit(
    broker: Broker, request: TxnOffsetCommitRequest, version: int
) -> TxnOffsetCommitResponse:
    unknown = _take_out_unknown(broker, request)
    if request.group_id:
        code = await _join(broker, request, version)
    else:
        code = ErrorCode.INVALID_GROUP_ID
    if code:
        response = txn_commit_refused(request.topics, code)
    else:
        response = await ask(
            broker,
            request.group_id,
            lambda shard, now_ms: shard.offsets.decide_txn_commit(request, now_ms),
            lambda code: txn_commit_refused(request.topics, code),
        )
    if unknown:
        response.topics = answered_once(unknown + response.topics)
    return response


async def _join(broker: Broker, request: TxnOffsetCommitRequest, version: int) -> ErrorCode:
    """Have the group's partition in the transaction, unless its log shows that it is."""
    try:
        name = await broker.groups.wait_partition_of(request.group_id)
        partition = broker.partitions.by_name(*name)
        producers = partition.log.producers
    except (ApiError, StorageError) as error:
        return code_for_client(error)
    if producers.is_in_transaction(request.producer_id, request.producer_epoch):
        return ErrorCode.NONE
    guard = guard_of(partition)
    addition = Addition(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        (name,),
        verify_only=version < IMPLICIT_ADD_FROM,
    )
    code = _refusal((await join_transaction(broker, addition))[name], version)
    if code:
        return code
    late = lapsed(partition, request.producer_id, guard, addition.verify_only)
    if late is not None:
        ended = late.code is ErrorCode.INVALID_TXN_STATE
        return late.code if ended else ErrorCode.NOT_COORDINATOR
    return code


_TRIED_AGAIN = frozenset(
    {
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.REQUEST_TIMED_OUT,
    }
)
"""Of the transaction's coordinator: the producer, which asks its group's, must not look for that
one anew."""


def _refusal(code: ErrorCode, version: int) -> ErrorCode:
    """As Kafka tells producers of each age what their coordinator said."""
    if code in _TRIED_AGAIN:
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    if code == ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code == ErrorCode.TRANSACTION_ABORTABLE and version < ABORTABLE_FROM:
        return ErrorCode.INVALID_TXN_STATE
    if code == ErrorCode.CONCURRENT_TRANSACTIONS and version < IMPLICIT_ADD_FROM:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return code


def _take_out_unknown(
    broker: Broker, request: TxnOffsetCommitRequest
) -> list[TxnOffsetCommitResponseTopic]:
    unknown: list[TxnOffsetCommitRequestTopic] = []
    for topic in request.topics:
        image = broker.image.topics.get(topic.name)
        indexes = () if image is None else image.partitions
        missing = [one for one in topic.partitions if one.partition_index not in indexes]
        if missing:
            unknown.append(TxnOffsetCommitRequestTopic(name=topic.name, partitions=missing))
            topic.partitions = [one for one in topic.partitions if one.partition_index in indexes]
    request.topics = [topic for topic in request.topics if topic.partitions]
    return txn_commit_refused(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION).topics
