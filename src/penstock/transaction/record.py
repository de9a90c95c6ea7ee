"""The records of `__transaction_state` as the shard writes and replays them.

Owns how a transaction becomes the value of a record and comes back. Encoding is the journal's
business.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.model.id import TopicPartition
from penstock.protocol.messages.records.transaction_log import (
    PartitionsSchema,
    TransactionLogValue,
)
from penstock.transaction.state import TransactionState, state_number, state_of_number
from penstock.transaction.transaction import Transaction


class TransactionRecord(NamedTuple):
    """`value` None is a tombstone."""

    transactional_id: str
    value: TransactionLogValue | None
    value_version: int = 0


def record_of(transaction: Transaction, value_version: int) -> TransactionRecord:
    if transaction.state is TransactionState.DEAD:
        return TransactionRecord(transaction.transactional_id, None)
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=state_number(transaction.state),
        transaction_partitions=_topics_of(transaction),
        transaction_last_update_timestamp_ms=transaction.update_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
    )
    if value_version >= 1:
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id = transaction.next_producer_id
        value.client_transaction_version = transaction.client_version
    return TransactionRecord(transaction.transactional_id, value, value_version)


def transaction_of(transactional_id: str, value: TransactionLogValue) -> Transaction:
    return Transaction(
        transactional_id,
        value.producer_id,
        value.producer_epoch,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        timeout_ms=value.transaction_timeout_ms,
        state=state_of_number(value.transaction_status),
        partitions=frozenset(
            TopicPartition(topic.topic, partition)
            for topic in value.transaction_partitions or ()
            for partition in topic.partition_ids
        ),
        start_ms=value.transaction_start_timestamp_ms,
        update_ms=value.transaction_last_update_timestamp_ms,
        client_version=value.client_transaction_version,
    )


def _topics_of(transaction: Transaction) -> list[PartitionsSchema] | None:
    if transaction.state is TransactionState.EMPTY:
        return None
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(transaction.partitions):
        by_topic.setdefault(topic, []).append(partition)
    return [PartitionsSchema(topic=topic, partition_ids=ids) for topic, ids in by_topic.items()]
