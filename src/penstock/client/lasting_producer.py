"""A producer of librdkafka with a thread that hands out its reports, and a successor.

A fatal error ends a producer of librdkafka for good: the broker lost its count of our records, or
somebody took our place. What was on its way is reported as failed; the next record opens a new one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from penstock.client.fatal import fatal_errors_told
from penstock.client.session import LOG

_POLL_S = 0.1

Report = Callable[[Any, Any], None]


class LastingProducer:
    """For any thread. `produce` raises what confluent-kafka's does, but for fatal errors; those
    too where `succeeds` is False, and `abandon` is what makes a new one then."""

    def __init__(
        self, settings: dict[str, Any], thread_name: str, *, succeeds: bool = True
    ) -> None:
        self._settings = settings
        self._succeeds = succeeds
        self._thread_name = thread_name
        self._lock = threading.Lock()
        self._current = _Polled(settings, thread_name)
        self.replaced = 0
        """How many times a fatal error ended one."""

    def __len__(self) -> int:
        """Records that no report was handed out of yet, but for those of an earlier producer."""
        return len(self._current.producer)

    def produce(self, topic: str, on_delivery: Report, **record: Any) -> None:
        while True:
            current = self._current
            try:
                current.producer.produce(topic, on_delivery=_undisturbed(on_delivery), **record)
                return
            except KafkaException as error:
                if not self._succeeds or not is_fatal(error):
                    raise
                self._replace(current)

    def _replace(self, ended: _Polled) -> None:
        with self._lock:
            if self._current is not ended:
                return
            LOG.warning("a producer failed for good; a new one takes its place")
            self._succeed()
            self.replaced += 1

    def _succeed(self) -> None:
        self._current.retire(None)
        self._current = _Polled(self._settings, self._thread_name)

    def abandon(self, timeout_s: float) -> None:
        """Give up what is under way: reported as failed, some of it perhaps written. The next
        record goes to a new producer. Blocks until all is reported, or for so long."""
        with self._lock:
            ended = self._current
            ended.producer.purge()
            self._succeed()
        ended.wait_ended(timeout_s)

    def partitions(self, topic: str, timeout_s: float) -> int:
        """How many the topic has; raises KafkaException where nobody says."""
        found = self._current.producer.list_topics(topic, timeout_s).topics[topic]
        if found.error is not None:
            raise KafkaException(found.error)
        return len(found.partitions)

    def close(self, timeout_s: float) -> None:
        """Blocks until all reports were handed out, or for so long."""
        self._current.retire(timeout_s)
        self._current.wait_ended()


class _Polled:
    def __init__(self, settings: dict[str, Any], thread_name: str) -> None:
        self.producer = Producer(settings, logger=LOG)
        self._ends_at: float | None = None
        self._thread = threading.Thread(target=self._poll, name=thread_name, daemon=True)
        self._thread.start()

    def retire(self, timeout_s: float | None) -> None:
        """End when all reports are handed out, or after so long."""
        self._ends_at = float("inf") if timeout_s is None else time.monotonic() + timeout_s

    def wait_ended(self, timeout_s: float | None = None) -> None:
        self._thread.join(timeout_s)

    def _poll(self) -> None:
        while not self._is_over():
            try:
                with fatal_errors_told():
                    self.producer.poll(_POLL_S)
            except KafkaException as error:
                # Raised once. Reports come all the same, and whoever sends next hears of it.
                LOG.warning("%s", error)

    def _is_over(self) -> bool:
        ends_at = self._ends_at
        return ends_at is not None and (not len(self.producer) or time.monotonic() > ends_at)


def is_fatal(error: KafkaException) -> bool:
    cause = error.args[0]
    return bool(cause.fatal() or cause.code() == KafkaError._FATAL)


def _undisturbed(report: Report) -> Report:
    """A report may be called with a fatal error pending, and would fail halfway: see `fatal`."""

    def call(error: Any, message: Any) -> None:
        try:
            raise _NothingError
        except (_NothingError, SystemError):
            pass
        report(error, message)

    return call


class _NothingError(Exception):
    """Raised, it takes the place of what is pending."""
