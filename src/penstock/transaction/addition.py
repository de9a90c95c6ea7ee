"""AddPartitionsToTxn and AddOffsetsToTxn: which partitions a transaction writes to.

Clients before version 2 add partitions themselves. For the others the broker that leads a
partition does at their first produce (KIP-890), or asks whether they did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from penstock.machine import Decision
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from penstock.transaction.config import EPOCH_BUMP_SINCE
from penstock.transaction.context import TransactionContext, fenced_code
from penstock.transaction.record import TransactionRecord
from penstock.transaction.state import TransactionState
from penstock.transaction.transaction import Identity, Transaction

_FENCED_SINCE = 2


class Addition(NamedTuple):
    """What one transaction is to be told of, or with `verify_only` asked for."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: Sequence[TopicPartition]
    verify_only: bool = False
    transaction_version: int = EPOCH_BUMP_SINCE

    @property
    def identity(self) -> Identity:
        return Identity(self.producer_id, self.producer_epoch)


AdditionResult = Mapping[TopicPartition, ErrorCode]


def decide_add_partitions(
    context: TransactionContext, addition: Addition, now_ms: int
) -> Decision[TransactionRecord, AdditionResult]:
    """All partitions are added or none is."""
    try:
        if addition.verify_only:
            return Decision((), _verified(context, addition))
        before = _found(context, addition)
        after = _added(before, addition, now_ms)
    except ApiError as error:
        return Decision((), dict.fromkeys(addition.partitions, error.code))
    result = dict.fromkeys(addition.partitions, ErrorCode.NONE)
    if after is before:
        return Decision((), result)
    return context.decided(before, (after,), result)


def decide_add_offsets(
    context: TransactionContext,
    request: AddOffsetsToTxnRequest,
    version: int,
    offsets_partition: TopicPartition,
    now_ms: int,
) -> Decision[TransactionRecord, AddOffsetsToTxnResponse]:
    """`offsets_partition` is where the group's offsets are kept. Clients of version 2 have no use
    for this request."""
    addition = Addition(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        (offsets_partition,),
        transaction_version=0,
    )
    try:
        before = _found(context, addition)
        after = _added(before, addition, now_ms)
    except ApiError as error:
        code = fenced_code(error.code, version, _FENCED_SINCE)
        return Decision((), AddOffsetsToTxnResponse(error_code=code))
    if after is before:
        return Decision((), AddOffsetsToTxnResponse())
    return context.decided(before, (after,), AddOffsetsToTxnResponse())


def _found(context: TransactionContext, addition: Addition) -> Transaction:
    if not addition.transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    transaction = context.register.find(addition.transactional_id)
    if transaction is None:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    return transaction


def _added(before: Transaction, addition: Addition, now_ms: int) -> Transaction:
    if before.is_completing:
        # Looked at first: a producer that went on to its next epoch is early, not wrong.
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    before.check_producer(addition.identity)
    known = before.state is TransactionState.ONGOING
    if known and before.partitions.issuperset(addition.partitions):
        return before
    return before.with_partitions(addition.partitions, addition.transaction_version, now_ms)


def _verified(context: TransactionContext, addition: Addition) -> AdditionResult:
    transaction = _found(context, addition)
    transaction.check_producer(addition.identity)
    if transaction.is_completing:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return {
        one: ErrorCode.NONE if one in transaction.partitions else ErrorCode.TRANSACTION_ABORTABLE
        for one in addition.partitions
    }
