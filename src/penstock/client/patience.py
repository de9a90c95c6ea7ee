"""Asking a broker again while it says that it is not ready yet. Knows no request of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

NO_COORDINATOR_YET = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)
NO_LEADER_YET = (
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
)
"""Also of a topic that was made a moment ago: other brokers hear of it a little later."""
_T = TypeVar("_T")


def patiently(call: Callable[[], _T], passes: tuple[int, ...], timeout_s: float) -> _T:
    """The call's answer; failures with these codes pass by themselves, and are waited out."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return call()
        except KafkaException as failure:
            error: Any = failure.args[0]
            if error.code() not in passes or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def ends_of(consumer: Consumer, topic: str, partition: int, timeout_s: float) -> tuple[int, int]:
    """Where the records of a partition begin and end, once it has a leader."""
    place = TopicPartition(topic, partition)
    low, high = patiently(
        lambda: consumer.get_watermark_offsets(place, timeout_s), NO_LEADER_YET, timeout_s
    )
    return low, high
