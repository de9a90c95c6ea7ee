"""Sending many records and counting what became of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from penstock.cli.cluster import Cluster, reason
from penstock.cli.input import OutgoingRecord
from penstock.cli.progress import Progress


class Sender:
    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        *,
        acks: str,
        compression: str,
        stream: bool = True,
        on_delivery: Callable[[Any], None] | None = None,
        quiet: bool = False,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._on_delivery = on_delivery
        self._failure: str | None = None
        self.delivered = 0
        self.failed = 0
        self.progress = Progress("produced", hidden=quiet)
        # A few records go one request at a time: a resend cannot reorder them.
        few = {} if stream else {"max_in_flight": 1}
        self._producer = cluster.producer(
            **few,
            acks=acks,
            # An idempotent producer asks for its id once a broker is connected, and librdkafka
            # looks for that only every half second. A stream is worth the wait: a resend must
            # not repeat or reorder its records.
            enable_idempotence=stream and acks == "all",
            compression_type=compression,
            linger_ms=5,
            message_timeout_ms=int(cluster.timeout_s * 1000),
            # The broker decides what is too large.
            message_max_bytes=100_000_000,
        )

    def send_all(self, records: Iterable[OutgoingRecord]) -> str | None:
        """What the first record that failed died of, once all are settled.

        Also when the input breaks off: what was read before is still sent.
        """
        try:
            for record in records:
                self._send(record)
                self._producer.poll(0)
                if self._failure is not None:
                    break
        finally:
            while self._producer.flush(0.5):
                pass
            self.progress.clear()
        return self._failure

    def _send(self, record: OutgoingRecord) -> None:
        arguments: dict[str, Any] = {
            "key": record.key,
            "value": record.value,
            "headers": record.headers,
            "partition": record.partition,
            "on_delivery": self._settle,
        }
        if record.timestamp_ms is not None:
            arguments["timestamp"] = record.timestamp_ms
        while True:
            try:
                return self._producer.produce(self._topic, **arguments)
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                return self._fail(error.args[0])

    def _settle(self, error: Any, message: Any) -> None:
        if error is not None:
            self._fail(error)
            return
        self.delivered += 1
        self.progress.add()
        if self._on_delivery is not None:
            self._on_delivery(message)

    def _fail(self, error: Any) -> None:
        self.failed += 1
        if self._failure is None:
            self._failure = self._explain(error)

    def _explain(self, error: Any) -> str:
        if error.code() == KafkaError._MSG_TIMED_OUT:
            return f"not acknowledged within {self._cluster.timeout_s:g} s"
        if error.code() == KafkaError._UNKNOWN_PARTITION:
            return "there is no such partition; `penstock topics describe` shows those there are"
        if error.code() in (KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART):
            return "there is no such topic; create it with `penstock topics create`"
        return reason(error)
