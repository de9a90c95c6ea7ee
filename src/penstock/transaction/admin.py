"""What admins ask of transactions: list, describe."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.machine import Decision
from penstock.model.error import ErrorCode
from penstock.model.pattern import Pattern, PatternProblem
from penstock.protocol.messages.describe_transactions import TopicData
from penstock.protocol.messages.describe_transactions import (
    TransactionState as DescribedTransaction,
)
from penstock.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from penstock.protocol.messages.list_transactions import TransactionState as ListedTransaction
from penstock.transaction.context import TransactionContext
from penstock.transaction.record import TransactionRecord
from penstock.transaction.state import TransactionState
from penstock.transaction.transaction import Transaction

Test = Callable[[Transaction], bool]


def decide_list(
    context: TransactionContext, request: ListTransactionsRequest, now_ms: int
) -> Decision[TransactionRecord, ListTransactionsResponse]:
    """Of this partition; a broker's answer joins those of all its partitions."""
    names = {state.value for state in TransactionState}
    unknown = [name for name in dict.fromkeys(request.state_filters) if name not in names]
    try:
        tests = _tests(request, now_ms)
    except PatternProblem:
        return Decision(
            (), ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
        )
    found = [one for one in context.register if all(test(one) for test in tests)]
    return Decision(
        (),
        ListTransactionsResponse(
            unknown_state_filters=unknown, transaction_states=[_listed(one) for one in found]
        ),
    )


def decide_describe(
    context: TransactionContext, transactional_ids: Sequence[str]
) -> Decision[TransactionRecord, list[DescribedTransaction]]:
    return Decision((), [_described(context, one) for one in transactional_ids])


def _tests(request: ListTransactionsRequest, now_ms: int) -> list[Test]:
    tests: list[Test] = []
    if request.producer_id_filters:
        ids = frozenset(request.producer_id_filters)
        tests.append(lambda one: one.producer_id in ids)
    if request.state_filters:
        states = frozenset(request.state_filters)
        tests.append(lambda one: one.state.value in states)
    if request.duration_filter >= 0:
        # One that never was open has no start, and so passes: as in Kafka.
        tests.append(lambda one: now_ms - one.start_ms > request.duration_filter)
    if request.transactional_id_pattern:
        pattern = Pattern(request.transactional_id_pattern)
        tests.append(lambda one: pattern.matches(one.transactional_id))
    return tests


def _listed(transaction: Transaction) -> ListedTransaction:
    return ListedTransaction(
        transactional_id=transaction.transactional_id,
        producer_id=transaction.producer_id,
        transaction_state=transaction.state.value,
    )


def _described(context: TransactionContext, transactional_id: str) -> DescribedTransaction:
    if not transactional_id:
        return DescribedTransaction(
            transactional_id=transactional_id, error_code=ErrorCode.INVALID_REQUEST
        )
    transaction = context.register.find(transactional_id)
    if transaction is None:
        return DescribedTransaction(
            transactional_id=transactional_id, error_code=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        )
    return DescribedTransaction(
        transactional_id=transactional_id,
        transaction_state=transaction.state.value,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.start_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        topics=_topics(context, transaction),
    )


def _topics(context: TransactionContext, transaction: Transaction) -> list[TopicData]:
    """Those whose markers are still to be written, once the end is decided."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(context.register.unmarked(transaction)):
        by_topic.setdefault(topic, []).append(partition)
    return [TopicData(topic=topic, partitions=ids) for topic, ids in by_topic.items()]
