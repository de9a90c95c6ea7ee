"""The transactional ids of one partition of `__transaction_state`, as a pure machine.

`decide_*` methods change nothing; `replay` alone changes what the log keeps. What the log has no
room for, and which markers are written already, is soft: a decision carries it, and the runtime
lets the shard adopt it once the records are written. Authorization, finding the partition of an
id, and writing markers are the host's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.machine import Decision, TimerChange, TimerKey, TimerSet
from penstock.model.error import InvariantError
from penstock.model.id import TopicPartition
from penstock.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from penstock.protocol.messages.describe_transactions import TransactionState
from penstock.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from penstock.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from penstock.transaction.addition import (
    Addition,
    AdditionResult,
    decide_add_offsets,
    decide_add_partitions,
)
from penstock.transaction.admin import decide_describe, decide_list
from penstock.transaction.completion import (
    MarkerTask,
    completed_without_markers,
    decide_markers_written,
    pending_markers,
)
from penstock.transaction.config import TransactionConfig
from penstock.transaction.context import TakeProducerId, TransactionContext
from penstock.transaction.ending import decide_end
from penstock.transaction.expiry import Sweep, expire_transaction
from penstock.transaction.init_producer_id import decide_init_producer_id
from penstock.transaction.record import TransactionRecord, transaction_of
from penstock.transaction.register import Register
from penstock.transaction.timer import ExpirationTimer, TimeoutTimer
from penstock.transaction.transaction import Identity


class TransactionShard:
    def __init__(self, config: TransactionConfig, take_producer_id: TakeProducerId) -> None:
        self.register = Register()
        self._context = TransactionContext(config, self.register, take_producer_id)
        self._sweep = Sweep(self._context)

    def configure(self, config: TransactionConfig) -> None:
        """From the next decision on: the cluster's transaction version may change."""
        self._context.config = config

    # --- requests of producers ---

    def decide_init_producer_id(
        self, request: InitProducerIdRequest, version: int, now_ms: int
    ) -> Decision[TransactionRecord, InitProducerIdResponse]:
        return decide_init_producer_id(self._context, request, version, now_ms)

    def decide_add_partitions(
        self, addition: Addition, now_ms: int
    ) -> Decision[TransactionRecord, AdditionResult]:
        return decide_add_partitions(self._context, addition, now_ms)

    def decide_add_offsets(
        self,
        request: AddOffsetsToTxnRequest,
        version: int,
        offsets_partition: TopicPartition,
        now_ms: int,
    ) -> Decision[TransactionRecord, AddOffsetsToTxnResponse]:
        return decide_add_offsets(self._context, request, version, offsets_partition, now_ms)

    def decide_end(
        self, request: EndTxnRequest, version: int, now_ms: int
    ) -> Decision[TransactionRecord, EndTxnResponse]:
        return decide_end(self._context, request, version, now_ms)

    # --- markers ---

    def pending_markers(self) -> list[MarkerTask]:
        return pending_markers(self._context)

    def is_completing(self, transactional_id: str) -> bool:
        """Whether markers are still to be written, as far as it was told."""
        transaction = self.register.find(transactional_id)
        return transaction is not None and transaction.is_completing

    def decide_markers_written(
        self,
        transactional_id: str,
        identity: Identity,
        partitions: Iterable[TopicPartition],
        now_ms: int,
    ) -> Decision[TransactionRecord, bool]:
        return decide_markers_written(self._context, transactional_id, identity, partitions, now_ms)

    # --- admins ---

    def decide_list(
        self, request: ListTransactionsRequest, now_ms: int
    ) -> Decision[TransactionRecord, ListTransactionsResponse]:
        return decide_list(self._context, request, now_ms)

    def decide_describe(
        self, transactional_ids: Sequence[str]
    ) -> Decision[TransactionRecord, list[TransactionState]]:
        return decide_describe(self._context, transactional_ids)

    # --- the log, timers, and the partition's coming ---

    def replay(self, record: TransactionRecord, offset: int) -> None:
        transaction = None
        if record.value is not None:
            transaction = transaction_of(record.transactional_id, record.value)
        self.register.replay(record.transactional_id, transaction)

    def expire(self, key: TimerKey, now_ms: int) -> Decision[TransactionRecord, None]:
        if isinstance(key, TimeoutTimer):
            return expire_transaction(self._context, key.transactional_id, now_ms)
        if isinstance(key, ExpirationTimer):
            return self._sweep.decide_stretch(now_ms)
        raise InvariantError(f"not a timer of a transaction: {key!r}")

    def decide_loaded(self, now_ms: int) -> Decision[TransactionRecord, None]:
        """To be taken once after the load and before the first request."""
        timers: list[TimerChange] = [self._sweep.start(now_ms)]
        for one in self.register:
            if one.deadline_ms is not None:
                timers.append(TimerSet(TimeoutTimer(one.transactional_id), one.deadline_ms))
        return Decision(completed_without_markers(self._context, now_ms), None, timers)
