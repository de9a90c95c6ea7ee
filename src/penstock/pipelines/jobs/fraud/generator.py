"""Generated payments sent to a topic at a steady rate, and the truth about them to another.

It owns the pace and the producer; what is paid is `traffic.py`. A record's own time stamp is the
moment it was handed to the producer, which is where latency is measured from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.client.steady import STEADY
from penstock.pipelines.jobs.fraud.model import PAYMENTS
from penstock.pipelines.jobs.fraud.traffic import Label, Traffic

LABELS = "payments.labels"
_TICK_S = 0.01
_BEHIND_S = 1.0
"""Further behind than this, it does not rush to catch up: the pace counts from now."""
_BATCH_MAX = 10_000


class GeneratorError(Exception):
    """The generator cannot go on; the message says why."""


@dataclass(slots=True)
class Sent:
    payments: int = 0
    labels: int = 0
    seconds: float = 0.0


def ensure_topics(
    client: Mapping[str, Any], partitions: int, timeout_s: float = 10.0, topic: str = PAYMENTS
) -> int:
    """Make what is missing; how many partitions the payments have."""
    admin = AdminClient(dict(client))
    wanted = [NewTopic(topic, partitions), NewTopic(LABELS, 1)]
    for future in admin.create_topics(wanted, request_timeout=timeout_s).values():
        try:
            future.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
    deadline = time.monotonic() + timeout_s
    while True:
        found = admin.list_topics(timeout=timeout_s).topics.get(topic)
        if found is not None and found.error is None and found.partitions:
            return len(found.partitions)
        if time.monotonic() > deadline:
            raise GeneratorError(f"{topic} was created, but does not appear")
        time.sleep(0.05)


class Generator:
    def __init__(
        self,
        client: Mapping[str, Any],
        traffic: Traffic,
        *,
        topic: str = PAYMENTS,
        labels: str | None = LABELS,
        patience_s: float = 300.0,
    ) -> None:
        self.sent = Sent()
        self._traffic = traffic
        self._topic = topic
        self._labels = labels
        self._fatal: str | None = None
        own: dict[str, Any] = {"enable.idempotence": True, "linger.ms": 5}
        own |= {"batch.num.messages": _BATCH_MAX}
        own |= {"message.timeout.ms": int(patience_s * 1000), "queue.buffering.max.kbytes": 262_144}
        own |= {"queue.buffering.max.messages": 500_000, **STEADY}
        self._producer = Producer(dict(client) | own | {"error_cb": self._on_error})

    def run(
        self,
        rate: float,
        *,
        count: int | None = None,
        seconds: float | None = None,
        on_tick: Callable[[Sent], bool] | None = None,
    ) -> Sent:
        """Until the count or the time is reached, or `on_tick` says False; then all is flushed."""
        began = origin = time.monotonic()
        owed_from = 0
        try:
            while True:
                now = time.monotonic()
                self.sent.seconds = now - began
                if seconds is not None and now - began >= seconds:
                    break
                due = owed_from + int((now - origin) * rate) - self.sent.payments
                if due > rate * _BEHIND_S:
                    origin, owed_from, due = now, self.sent.payments, int(rate * _TICK_S)
                self._send(self._bounded(due, count))
                if count is not None and self.sent.payments >= count:
                    break
                if on_tick is not None and not on_tick(self.sent):
                    break
                time.sleep(max(0.0, _TICK_S - (time.monotonic() - now)))
        finally:
            self.flush()
        self.sent.seconds = time.monotonic() - began
        return self.sent

    def _bounded(self, due: int, count: int | None) -> int:
        left = _BATCH_MAX if count is None else count - self.sent.payments
        return max(0, min(due, left, _BATCH_MAX))

    def _send(self, count: int) -> None:
        if self._fatal is not None:
            raise GeneratorError(self._fatal)
        if count <= 0:
            self._producer.poll(0)
            return
        messages, labels = self._traffic.take(count)
        pending: list[Any] = list(messages)
        while pending:
            accepted = self._producer.produce_batch(self._topic, pending)
            self._producer.poll(0)
            if accepted < len(pending):
                # The queue is full: a broker that is away or slow. Wait, and lose nothing.
                pending = _refused(pending)
                self._producer.poll(0.05)
                if self._fatal is not None:
                    raise GeneratorError(self._fatal)
            else:
                pending = []
        self.sent.payments += count
        self._send_labels(labels)

    def _send_labels(self, labels: list[Label]) -> None:
        if self._labels is None:
            return
        for label in labels:
            value = orjson.dumps({"kind": label.kind, "incident": label.incident})
            while True:
                try:
                    self._producer.produce(self._labels, key=label.payment, value=value)
                    break
                except BufferError:
                    self._producer.poll(0.05)
        self.sent.labels += len(labels)

    def flush(self, timeout_s: float = 120.0) -> None:
        left = self._producer.flush(timeout_s)
        if left:
            raise GeneratorError(f"{left} payments were not acknowledged within {timeout_s:.0f} s")

    def _on_error(self, error: Any) -> None:
        if error.fatal():
            self._fatal = error.str()


def _refused(messages: list[Any]) -> list[Any]:
    """What the producer's batch call did not take: it marks those."""
    return [
        {key: value for key, value in one.items() if key != "_error"}
        for one in messages
        if "_error" in one
    ]
