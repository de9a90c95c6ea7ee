"""From the decision to commit or abort to the last marker.

Owns what markers are to be written where. Writing them is the host's business: it may try for as
long as it takes, and over a restart, since the tasks follow from the log alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from penstock.machine import Decision
from penstock.model.id import TopicPartition
from penstock.transaction.context import TransactionContext
from penstock.transaction.record import TransactionRecord, record_of, transaction_of
from penstock.transaction.state import TransactionState
from penstock.transaction.transaction import Identity, Transaction


class MarkerTask(NamedTuple):
    """Never without partitions."""

    transactional_id: str
    identity: Identity
    """The producer of the markers; before version 2 the one that wrote the records, from then on
    with the next epoch."""
    committed: bool
    transaction_version: int
    partitions: frozenset[TopicPartition]


def marker_task(record: TransactionRecord) -> MarkerTask | None:
    """What follows once this record is committed."""
    if record.value is None:
        return None
    transaction = transaction_of(record.transactional_id, record.value)
    return _task(transaction, transaction.partitions)


def pending_markers(context: TransactionContext) -> list[MarkerTask]:
    """All that is not reported as written. The host asks after a load, and may at any time."""
    tasks = (_task(one, context.register.unmarked(one)) for one in context.register)
    return [task for task in tasks if task is not None]


def decide_markers_written(
    context: TransactionContext,
    transactional_id: str,
    identity: Identity,
    partitions: Iterable[TopicPartition],
    now_ms: int,
) -> Decision[TransactionRecord, bool]:
    """Whether the transaction is complete. Partitions that exist no longer count as written.

    A report that comes late, or twice, changes nothing.
    """
    transaction = context.register.find(transactional_id)
    if transaction is None or not transaction.is_completing or transaction.identity != identity:
        return Decision((), True)
    left = context.register.unmarked(transaction).difference(partitions)
    if left:
        register = context.register
        return Decision((), False, adopt=lambda: register.keep_unmarked(transactional_id, left))
    return context.decided(transaction, (transaction.completed(now_ms),), True)


def completed_without_markers(context: TransactionContext, now_ms: int) -> list[TransactionRecord]:
    """Transactions of a loaded log that were about to end and have nowhere a marker could go."""
    version = context.config.log_value_version
    return [
        record_of(one.completed(now_ms), version)
        for one in context.register
        if one.is_completing and not one.partitions
    ]


def _task(transaction: Transaction, partitions: frozenset[TopicPartition]) -> MarkerTask | None:
    if not transaction.is_completing or not partitions:
        return None
    return MarkerTask(
        transaction.transactional_id,
        transaction.identity,
        transaction.state is TransactionState.PREPARE_COMMIT,
        transaction.client_version,
        partitions,
    )
