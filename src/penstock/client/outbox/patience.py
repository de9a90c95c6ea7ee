"""How long a relay waits for the broker: half a minute, and far less once it is to end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException

from penstock.client.patience import NO_COORDINATOR_YET

_STEP_S = 0.5
_PAUSE_S = 0.05
"""Behind an answer that came at once: the broker is there, and not ready."""
_TIMEOUT_S = 30.0
_ENDING_S = 5.0
"""A batch that is under way has so long to be finished."""
_PASSING = (KafkaError._TIMED_OUT, *NO_COORDINATOR_YET)
T = TypeVar("T")


class Patience:
    """Calls of librdkafka that are made again while the broker is away or not ready."""

    def __init__(self, ending: threading.Event | None = None) -> None:
        self._ending = ending or threading.Event()
        self._until: float | None = None
        """Set with the first wait after the end was asked for."""

    def wait(self, call: Callable[[float], T], *, finishing: bool = True) -> T:
        """`call` is given its time-out. Not `finishing`: nothing is lost if it is never done."""
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            try:
                return call(_STEP_S)
            except KafkaException as error:
                if not _passing(error) or self._is_over(deadline, finishing=finishing):
                    raise
                time.sleep(_PAUSE_S)

    def wait_flushed(self, flush: Callable[[float], int]) -> int:
        """How many are left."""
        deadline = time.monotonic() + _TIMEOUT_S
        while (left := flush(_STEP_S)) and not self._is_over(deadline, finishing=True):
            pass
        return left

    def _is_over(self, deadline: float, *, finishing: bool) -> bool:
        now = time.monotonic()
        if now > deadline:
            return True
        if not self._ending.is_set():
            return False
        if self._until is None:
            self._until = now + _ENDING_S
        return not finishing or now > self._until


def _passing(error: KafkaException) -> bool:
    cause = error.args[0]
    return bool(cause.retriable() or cause.code() in _PASSING)
