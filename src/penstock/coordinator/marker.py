"""What ends a transaction in a partition, and what becomes of it there.

Owns the tables by which a coordinator reads the answers to its markers, and by which it answers
others'. Kafka's coordinators do not get over any code that is not in theirs.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.model.error import RETRIABLE, ErrorCode


class Marker(NamedTuple):
    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int = 0
    transaction_version: int = 0


WRITTEN = frozenset(
    {
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_PRODUCER_EPOCH,
    }
)
"""A deleted topic needs no marker, and a partition that knows a later epoch has had its own."""

UNANSWERED = ErrorCode.NETWORK_EXCEPTION
"""The request was sent, and nobody knows what became of it."""

_TRIED_AGAIN = RETRIABLE | {
    ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.BROKER_NOT_AVAILABLE,
}

_ANSWERED = frozenset(
    {
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.TRANSACTION_COORDINATOR_FENCED,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
    }
)

_NOT_HERE = frozenset(
    {
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    }
)
"""What a group's machine says when it is not loaded: the sender knows of partitions only."""


def is_tried_again(code: ErrorCode) -> bool:
    return code in _TRIED_AGAIN and code not in WRITTEN


def answer_code(code: ErrorCode) -> ErrorCode:
    """What another broker's coordinator is told. All that is not for it to know comes down to
    "try again"."""
    if code in _ANSWERED:
        return code
    return ErrorCode.NOT_LEADER_OR_FOLLOWER if code in _NOT_HERE else ErrorCode.KAFKA_STORAGE_ERROR
