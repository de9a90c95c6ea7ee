"""What time brings about: open transactions are aborted, ids nobody uses are forgotten."""

from __future__ import annotations

from penstock.machine import Decision, TimerSet
from penstock.model.error import ApiError
from penstock.transaction.context import TransactionContext
from penstock.transaction.ending import abort_and_fence
from penstock.transaction.record import TransactionRecord, record_of
from penstock.transaction.state import TRANSITIONS, TransactionEvent
from penstock.transaction.timer import ExpirationTimer, TimeoutTimer
from penstock.transaction.transaction import Transaction

_RETRY_MS = 1_000
_IDS_PER_STRETCH = 2_000


def expire_transaction(
    context: TransactionContext, transactional_id: str, now_ms: int
) -> Decision[TransactionRecord, None]:
    transaction = context.register.find(transactional_id)
    deadline_ms = None if transaction is None else transaction.deadline_ms
    if transaction is None or deadline_ms is None:
        return Decision((), None)
    key = TimeoutTimer(transactional_id)
    if deadline_ms > now_ms:
        return Decision((), None, (TimerSet(key, deadline_ms),))
    try:
        return context.decided(transaction, abort_and_fence(context, transaction, now_ms), None)
    except ApiError:
        # No producer id at hand for what follows: a little later, then.
        return Decision((), None, (TimerSet(key, now_ms + _RETRY_MS),))


class Sweep:
    """Forgets idle ids, in stretches short enough not to be noticed. Owns how far the present
    round has come."""

    __slots__ = ("_context", "_left")

    def __init__(self, context: TransactionContext) -> None:
        self._context = context
        self._left: list[str] = []

    def start(self, now_ms: int) -> TimerSet:
        config = self._context.config
        interval_ms = config.transaction_remove_expired_transaction_cleanup_interval_ms
        return TimerSet(ExpirationTimer(), now_ms + interval_ms)

    def decide_stretch(self, now_ms: int) -> Decision[TransactionRecord, None]:
        left = self._left or self._context.register.ids()[::-1]
        remaining, stretch = left[:-_IDS_PER_STRETCH], left[-_IDS_PER_STRETCH:]
        found = (self._context.register.find(one) for one in reversed(stretch))
        records = [
            record_of(one.expired(), self._context.config.log_value_version)
            for one in found
            if one is not None and self._is_idle(one, now_ms)
        ]
        timer = TimerSet(ExpirationTimer(), now_ms + 1) if remaining else self.start(now_ms)
        return Decision(records, None, (timer,), adopt=lambda: self._keep(remaining))

    def _keep(self, remaining: list[str]) -> None:
        self._left = remaining

    def _is_idle(self, transaction: Transaction, now_ms: int) -> bool:
        if TransactionEvent.EXPIRED not in TRANSITIONS[transaction.state]:
            return False
        idle_ms = now_ms - transaction.update_ms
        return idle_ms >= self._context.config.transactional_id_expiration_ms
