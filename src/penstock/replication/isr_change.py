"""A change of the in-sync set that a leader asks its controller for, and what an answer means."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from penstock.model.error import ErrorCode

RECOVERED = 0
RECOVERING = 1
UNCHECKED_EPOCH = -1


class InSyncReplica(NamedTuple):
    replica_id: int
    broker_epoch: int
    """-1 where the replica has not fetched since this leader took over: left unchecked."""


class IsrChange(NamedTuple):
    """One partition of an AlterPartition request. The same value is sent until it is answered."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[InSyncReplica, ...]
    leader_recovery_state: int = RECOVERED

    @property
    def replica_ids(self) -> tuple[int, ...]:
        return tuple(one.replica_id for one in self.isr)


class IsrAnswer(NamedTuple):
    """One partition of an AlterPartition response without an error."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    leader_recovery_state: int = RECOVERED


class Outcome(Enum):
    ADOPTED = "the in-sync set is the one of the answer"
    REVERTED = "the change was refused for good: the committed set counts again"
    RETRY = "nothing is known: send the same change again"
    WAIT = "metadata will tell, and until then nobody else is asked"
    OUTDATED = "nobody waits for this answer any more"


_REFUSED = frozenset({ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED})
# The controller knows something this node has not heard of yet. The change may even have been
# applied, its answer lost, and this be the answer to the second attempt (KAFKA-14144): so it
# still counts, and only metadata ends it.
_KNOWS_MORE = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NEW_LEADER_ELECTED,
    }
)


def outcome_of_error(error_code: int) -> Outcome:
    """Of an answer with an error, for the request as a whole or for the partition."""
    if error_code in _REFUSED:
        return Outcome.REVERTED
    if error_code in _KNOWS_MORE:
        return Outcome.WAIT
    return Outcome.RETRY
