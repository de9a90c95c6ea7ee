"""The states of a transactional id and every way between them, in one table.

The diagram in docs/transactions.md is drawn from this table. Owns no transaction.
"""

from __future__ import annotations

from enum import Enum

from penstock.model.error import InvariantError


class TransactionState(Enum):
    """Values are the names clients see."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"


class TransactionEvent(Enum):
    INITIALIZED = "a producer gets its id and epoch"
    PARTITIONS_ADDED = "partitions are added"
    COMMITTED = "the producer commits"
    ABORTED = "the producer aborts"
    FENCED = "a new producer starts, or the timeout is over"
    FENCE_ABORTED = "at once, with a higher epoch"
    MARKERS_WRITTEN = "every partition has its marker"
    EXPIRED = "unused for too long"


_UNUSED = {
    TransactionEvent.INITIALIZED: TransactionState.EMPTY,
    TransactionEvent.PARTITIONS_ADDED: TransactionState.ONGOING,
    TransactionEvent.ABORTED: TransactionState.PREPARE_ABORT,
    TransactionEvent.EXPIRED: TransactionState.DEAD,
}
"""Out of a transaction. Only version 2 (KIP-890) aborts here: a producer that does not know how far
it came gets a new epoch by it."""

TRANSITIONS: dict[TransactionState, dict[TransactionEvent, TransactionState]] = {
    TransactionState.EMPTY: _UNUSED,
    TransactionState.ONGOING: {
        TransactionEvent.PARTITIONS_ADDED: TransactionState.ONGOING,
        TransactionEvent.COMMITTED: TransactionState.PREPARE_COMMIT,
        TransactionEvent.ABORTED: TransactionState.PREPARE_ABORT,
        TransactionEvent.FENCED: TransactionState.PREPARE_EPOCH_FENCE,
    },
    TransactionState.PREPARE_EPOCH_FENCE: {
        TransactionEvent.FENCE_ABORTED: TransactionState.PREPARE_ABORT,
    },
    TransactionState.PREPARE_COMMIT: {
        TransactionEvent.MARKERS_WRITTEN: TransactionState.COMPLETE_COMMIT,
    },
    TransactionState.PREPARE_ABORT: {
        TransactionEvent.MARKERS_WRITTEN: TransactionState.COMPLETE_ABORT,
    },
    TransactionState.COMPLETE_COMMIT: _UNUSED,
    TransactionState.COMPLETE_ABORT: _UNUSED,
    TransactionState.DEAD: {},
}

COMPLETING = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})
"""The end is decided and its markers are on their way: everybody else has to wait."""

COMPLETE = frozenset({TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT})

_NUMBERED = tuple(TransactionState)
"""A state is written to the log as its place in the declaration."""


def next_state(state: TransactionState, event: TransactionEvent) -> TransactionState:
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        raise InvariantError(f"a transaction in state {state.value}: {event.value}") from None


def state_number(state: TransactionState) -> int:
    return _NUMBERED.index(state)


def state_of_number(number: int) -> TransactionState:
    if not 0 <= number < len(_NUMBERED):
        raise InvariantError(f"no state of a transaction has the number {number}")
    return _NUMBERED[number]
