"""AddPartitionsToTxn between its wire forms and additions: one transaction up to version 3, sent
by clients, many from version 4 on, sent from broker to broker.

The transactions of one request may belong to different shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from penstock.transaction.addition import Addition, AdditionResult
from penstock.transaction.config import EPOCH_BUMP_SINCE
from penstock.transaction.context import fenced_code

_MANY_SINCE = 4
_FENCED_SINCE = 2
_CODES = {int(code): code for code in ErrorCode}


def additions_request(additions: Iterable[Addition]) -> AddPartitionsToTxnRequest:
    """As a broker asks, from version 4 on."""
    return AddPartitionsToTxnRequest(
        transactions=[
            AddPartitionsToTxnTransaction(
                transactional_id=one.transactional_id,
                producer_id=one.producer_id,
                producer_epoch=one.producer_epoch,
                verify_only=one.verify_only,
                topics=[
                    AddPartitionsToTxnTopic(name=name, partitions=indexes)
                    for name, indexes in _by_topic(one.partitions).items()
                ],
            )
            for one in additions
        ]
    )


def additions_results(response: AddPartitionsToTxnResponse) -> dict[str, AdditionResult]:
    """By transactional id, as a broker is answered; nothing where all of it was refused."""
    if response.error_code:
        return {}
    return {
        one.transactional_id: {
            TopicPartition(topic.name, partition.partition_index): _CODES.get(
                partition.partition_error_code, ErrorCode.UNKNOWN_SERVER_ERROR
            )
            for topic in one.topic_results
            for partition in topic.results_by_partition
        }
        for one in response.results_by_transaction
    }


def additions(request: AddPartitionsToTxnRequest, version: int) -> list[Addition]:
    if version < _MANY_SINCE:
        one = Addition(
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            _partitions(request.v3_and_below_topics),
            transaction_version=0,
        )
        return [one]
    return [
        Addition(
            one.transactional_id,
            one.producer_id,
            one.producer_epoch,
            _partitions(one.topics),
            one.verify_only,
            EPOCH_BUMP_SINCE,
        )
        for one in request.transactions
    ]


def additions_response(
    results: Iterable[tuple[str, AdditionResult]], version: int
) -> AddPartitionsToTxnResponse:
    """From the results of each transactional id."""
    if version < _MANY_SINCE:
        topics = [topic for _, result in results for topic in _topics(result, version)]
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=topics)
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(
                transactional_id=transactional_id, topic_results=_topics(result, version)
            )
            for transactional_id, result in results
        ]
    )


def additions_echo(
    request: AddPartitionsToTxnRequest, code: ErrorCode, version: int
) -> AddPartitionsToTxnResponse:
    """To a client: the same for everything, in the order and as often as it was named."""
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results_by_partition=[_partition(one, code, version) for one in topic.partitions],
            )
            for topic in request.v3_and_below_topics
        ]
    )


def _partitions(topics: Sequence[AddPartitionsToTxnTopic]) -> tuple[TopicPartition, ...]:
    return tuple(
        TopicPartition(topic.name, partition) for topic in topics for partition in topic.partitions
    )


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    by_topic: dict[str, list[int]] = {}
    for topic, index in partitions:
        by_topic.setdefault(topic, []).append(index)
    return by_topic


def _topics(result: AdditionResult, version: int) -> list[AddPartitionsToTxnTopicResult]:
    by_topic: dict[str, list[AddPartitionsToTxnPartitionResult]] = {}
    for (topic, partition), code in result.items():
        by_topic.setdefault(topic, []).append(_partition(partition, code, version))
    return [
        AddPartitionsToTxnTopicResult(name=topic, results_by_partition=partitions)
        for topic, partitions in by_topic.items()
    ]


def _partition(partition: int, code: ErrorCode, version: int) -> AddPartitionsToTxnPartitionResult:
    return AddPartitionsToTxnPartitionResult(
        partition_index=partition, partition_error_code=fenced_code(code, version, _FENCED_SINCE)
    )
