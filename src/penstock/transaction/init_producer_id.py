"""InitProducerId with a transactional id: who its producer is from now on, and who is not.

Owns the rules of KIP-360 for a producer that names the id and epoch it had.
"""

from __future__ import annotations

from penstock.machine import Decision
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from penstock.transaction.context import TransactionContext, fenced_code
from penstock.transaction.ending import abort_and_fence
from penstock.transaction.record import TransactionRecord
from penstock.transaction.state import TransactionState
from penstock.transaction.transaction import (
    EPOCH_MAX,
    NO_EPOCH,
    NO_PRODUCER_ID,
    Identity,
    Transaction,
    is_exhausted,
)

InitDecision = Decision[TransactionRecord, InitProducerIdResponse]

_FENCED_SINCE = 4


def decide_init_producer_id(
    context: TransactionContext, request: InitProducerIdRequest, version: int, now_ms: int
) -> InitDecision:
    try:
        return _decide(context, request, now_ms)
    except ApiError as error:
        return Decision((), _refused(fenced_code(error.code, version, _FENCED_SINCE)))


def _decide(
    context: TransactionContext, request: InitProducerIdRequest, now_ms: int
) -> InitDecision:
    expected = _checked(context, request)
    before = context.register.find(request.transactional_id or "")
    if before is None:
        before = Transaction(request.transactional_id or "", context.new_producer_id())
    elif before.is_completing:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if expected is not None and not _may_be(before, expected):
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    if before.state is TransactionState.ONGOING:
        if expected is not None and expected != before.identity:
            # Kafka aborts here and fences the asker when it asks again; by then a producer long
            # fenced has broken off the transaction of its successor.
            raise ApiError(ErrorCode.PRODUCER_FENCED)
        retry_later = _refused(ErrorCode.CONCURRENT_TRANSACTIONS)
        return context.decided(before, abort_and_fence(context, before, now_ms), retry_later)
    after = _initialized(context, before, expected, request.transaction_timeout_ms, now_ms)
    reply = InitProducerIdResponse(
        producer_id=after.producer_id, producer_epoch=after.producer_epoch
    )
    return context.decided(before, (after,), reply)


def _checked(context: TransactionContext, request: InitProducerIdRequest) -> Identity | None:
    """The producer that the request says it was, if it does."""
    if not request.transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    expected = Identity(request.producer_id, request.producer_epoch)
    if (expected.producer_id == NO_PRODUCER_ID) != (expected.producer_epoch == NO_EPOCH):
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if request.enable2_pc:
        # Two-phase commit (KIP-939) is off, as it is in Kafka unless switched on.
        raise ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if request.keep_prepared_txn:
        raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    if not 0 < request.transaction_timeout_ms <= context.config.transaction_max_timeout_ms:
        raise ApiError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    return None if expected.producer_id == NO_PRODUCER_ID else expected


def _may_be(transaction: Transaction, expected: Identity) -> bool:
    """Whether the id named is this one's: the epoch is looked at where it is raised."""
    if transaction.producer_epoch == NO_EPOCH:
        return True  # forgotten here since, so nobody else can have taken it
    if expected.producer_epoch == EPOCH_MAX:
        return False
    if expected.producer_id == transaction.producer_id:
        return True
    return expected.producer_id == transaction.previous_producer_id and is_exhausted(
        expected.producer_epoch
    )


def _initialized(
    context: TransactionContext,
    before: Transaction,
    expected: Identity | None,
    timeout_ms: int,
    now_ms: int,
) -> Transaction:
    epoch = before.producer_epoch
    if expected is not None and epoch != NO_EPOCH and expected.producer_epoch != epoch:
        if expected.producer_epoch != before.last_producer_epoch:
            raise ApiError(ErrorCode.PRODUCER_FENCED)
        # A retry: had another producer come in between, no last epoch would be known.
        return before.initialized(epoch, before.last_producer_epoch, timeout_ms, now_ms)
    last_epoch = NO_EPOCH if expected is None else epoch
    if before.is_exhausted:
        return before.rotated(context.new_producer_id(), last_epoch, timeout_ms, now_ms)
    return before.initialized(epoch + 1, last_epoch, timeout_ms, now_ms)


def _refused(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_epoch=NO_EPOCH)
