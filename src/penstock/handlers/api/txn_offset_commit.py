"""TxnOffsetCommit: a group's place as part of a transaction, visible when that commits."""

from __future__ import annotations

from penstock.group import txn_commit_refused
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.group_call import ask
from penstock.handlers.transaction_call import add_partitions
from penstock.model.error import ApiError, ErrorCode
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
    code = await _join_transaction(broker, request, version)
    if code:
        response = txn_commit_refused(request.topics, code)
    else:
        response = await ask(
            broker,
            request.group_id,
            lambda shard, now_ms: shard.offsets.decide_txn_commit(request, now_ms),
            lambda code: txn_commit_refused(request.topics, code),
        )
    response.topics += unknown
    return response


async def _join_transaction(
    broker: Broker, request: TxnOffsetCommitRequest, version: int
) -> ErrorCode:
    try:
        partition = await broker.groups.wait_partition_of(request.group_id)
    except ApiError as error:
        return error.code
    addition = Addition(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        (partition,),
        verify_only=version < IMPLICIT_ADD_FROM,
    )
    return _refusal((await add_partitions(broker, addition))[partition], version)


def _refusal(code: ErrorCode, version: int) -> ErrorCode:
    """As Kafka tells producers of each age what their coordinator said."""
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
