"""EndTxn, and the ends that the coordinator brings about itself.

Owns the rules by which an end asked for again is told from a new one (KIP-890).
"""

from __future__ import annotations

from penstock.machine import Decision
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.transaction.config import EPOCH_BUMP_SINCE
from penstock.transaction.context import TransactionContext, fenced_code
from penstock.transaction.record import TransactionRecord
from penstock.transaction.state import TransactionState
from penstock.transaction.transaction import EPOCH_MAX, NO_PRODUCER_ID, Identity, Transaction

_FENCED_SINCE = 2
_EPOCH_BUMP_REQUEST_SINCE = 5


def decide_end(
    context: TransactionContext, request: EndTxnRequest, version: int, now_ms: int
) -> Decision[TransactionRecord, EndTxnResponse]:
    try:
        if version >= _EPOCH_BUMP_REQUEST_SINCE:
            return _decide_bumping(context, request, now_ms)
        return _decide_classic(context, request, now_ms)
    except ApiError as error:
        code = fenced_code(error.code, version, _FENCED_SINCE)
        return Decision((), EndTxnResponse(error_code=code))


def abort_and_fence(
    context: TransactionContext, transaction: Transaction, now_ms: int
) -> tuple[Transaction, ...]:
    """The coordinator's own abort of an open transaction, after which its producer is fenced."""
    version = context.config.transaction_version
    next_id = _next_producer_id(context, transaction) if version >= EPOCH_BUMP_SINCE else -1
    return _with_completion(transaction.fenced(version, next_id, now_ms), now_ms)


def _decide_classic(
    context: TransactionContext, request: EndTxnRequest, now_ms: int
) -> Decision[TransactionRecord, EndTxnResponse]:
    before = _found(context, request)
    before.check_producer(Identity(request.producer_id, request.producer_epoch))
    if before.is_completing:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if before.state is _completed_as(request):
        return Decision((), EndTxnResponse())
    if before.state is not TransactionState.ONGOING:
        raise ApiError(ErrorCode.INVALID_TXN_STATE)
    prepared = before.ended(request.committed, 0, NO_PRODUCER_ID, now_ms)
    return context.decided(before, _with_completion(prepared, now_ms), EndTxnResponse())


def _decide_bumping(
    context: TransactionContext, request: EndTxnRequest, now_ms: int
) -> Decision[TransactionRecord, EndTxnResponse]:
    before = _found(context, request)
    if before.is_completing:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    asked = Identity(request.producer_id, request.producer_epoch)
    if _is_retry(before, asked):
        if before.state is not _completed_as(request):
            raise ApiError(ErrorCode.INVALID_TXN_STATE)
        return Decision((), _response(before))
    before.check_producer(asked)
    if request.committed and before.state is not TransactionState.ONGOING:
        raise ApiError(ErrorCode.INVALID_TXN_STATE)
    next_id = _next_producer_id(context, before)
    prepared = before.ended(request.committed, EPOCH_BUMP_SINCE, next_id, now_ms)
    steps = _with_completion(prepared, now_ms)
    return context.decided(before, steps, _response(prepared.completed(now_ms)))


def _is_retry(transaction: Transaction, asked: Identity) -> bool:
    """The transaction ended, and its producer may not have heard of the identity it got by that.

    Only an end by version 2 gives one. After another the epoch before belongs to a producer that
    was fenced, to which Kafka would hand the identity of its successor here.
    """
    if not transaction.is_complete or transaction.client_version < EPOCH_BUMP_SINCE:
        return False
    if transaction.producer_epoch == 0:
        return asked == Identity(transaction.previous_producer_id, EPOCH_MAX - 1)
    return asked == Identity(transaction.producer_id, transaction.producer_epoch - 1)


def _found(context: TransactionContext, request: EndTxnRequest) -> Transaction:
    if not request.transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    transaction = context.register.find(request.transactional_id)
    if transaction is None:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    return transaction


def _completed_as(request: EndTxnRequest) -> TransactionState:
    if request.committed:
        return TransactionState.COMPLETE_COMMIT
    return TransactionState.COMPLETE_ABORT


def _next_producer_id(context: TransactionContext, transaction: Transaction) -> int:
    return context.new_producer_id() if transaction.is_exhausted else NO_PRODUCER_ID


def _with_completion(prepared: Transaction, now_ms: int) -> tuple[Transaction, ...]:
    """Without partitions there are no markers to wait for."""
    if prepared.partitions:
        return (prepared,)
    return (prepared, prepared.completed(now_ms))


def _response(transaction: Transaction) -> EndTxnResponse:
    return EndTxnResponse(
        producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch
    )
