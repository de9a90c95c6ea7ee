"""What every decision of a shard is made from, and how one is put together.

Owns no state of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from penstock.machine import Decision, TimerCancel, TimerChange, TimerSet
from penstock.model.error import ApiError, ErrorCode
from penstock.transaction.config import TransactionConfig
from penstock.transaction.record import TransactionRecord, record_of
from penstock.transaction.register import Register
from penstock.transaction.timer import TimeoutTimer
from penstock.transaction.transaction import Transaction

ReplyT = TypeVar("ReplyT")

TakeProducerId = Callable[[], int | None]
"""An id never given before; None while the next block of them is on its way."""


@dataclass(slots=True)
class TransactionContext:
    config: TransactionConfig
    register: Register
    take_producer_id: TakeProducerId

    def new_producer_id(self) -> int:
        """Kafka's clients ask again after this error."""
        producer_id = self.take_producer_id()
        if producer_id is None:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return producer_id

    def decided(
        self, before: Transaction, steps: Sequence[Transaction], reply: ReplyT
    ) -> Decision[TransactionRecord, ReplyT]:
        """The steps are written one after the other, and the last of them stays."""
        after = steps[-1]
        version = self.config.log_value_version
        return Decision(
            [record_of(step, version) for step in steps],
            reply,
            timer_changes(before, after),
            adopt=lambda: self.register.adopt(after),
        )


def timer_changes(before: Transaction, after: Transaction) -> tuple[TimerChange, ...]:
    deadline_ms = after.deadline_ms
    if deadline_ms == before.deadline_ms:
        return ()
    key = TimeoutTimer(after.transactional_id)
    return (TimerCancel(key) if deadline_ms is None else TimerSet(key, deadline_ms),)


def fenced_code(code: ErrorCode, version: int, since: int) -> ErrorCode:
    """Before KIP-588 a fenced producer was told of its epoch only."""
    if code is ErrorCode.PRODUCER_FENCED and version < since:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
