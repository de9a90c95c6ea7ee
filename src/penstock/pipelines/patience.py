"""Asking a broker again while it says that it is not ready yet. Knows no request of its own."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException

# Failures come back as exceptions and are reported where they matter: librdkafka need not print
# them on standard error as well.
SILENT = logging.getLogger("penstock.pipelines.librdkafka")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False

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
