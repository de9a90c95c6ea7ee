"""Sending one JSON record and waiting for its acknowledgement."""

from __future__ import annotations

import threading
from typing import Any, Literal

from confluent_kafka import KafkaError, KafkaException

from penstock.client.error import DeliveryError
from penstock.client.lasting_producer import LastingProducer
from penstock.client.record import Delivery, Headers, encode_headers, encode_key, encode_value
from penstock.client.session import bootstrap_of, reuse

Acks = Literal["all", -1, 0, 1, "0", "1", "-1"]

# librdkafka settles every record by `message.timeout.ms`; this is only for the report to arrive.
_REPORT_GRACE_S = 5.0


class SharedProducer:
    """One producer for all threads."""

    def __init__(self, bootstrap_servers: str, acks: str, timeout_s: float) -> None:
        self.bootstrap_servers = bootstrap_servers
        settings = _settings(bootstrap_servers, acks, timeout_s)
        self._producer = LastingProducer(settings, "penstock-producer")

    def send(self, report: _Report, topic: str, **record: Any) -> None:
        try:
            self._producer.produce(topic, report, **record)
        except (BufferError, KafkaException) as error:
            raise DeliveryError(f"{topic}: {_reason(error)}") from error

    def close(self) -> None:
        self._producer.close(_REPORT_GRACE_S)


class _Report:
    """The delivery report of one record, waited for by the thread that sent it."""

    def __init__(self) -> None:
        self._arrived = threading.Event()
        self._error: Any = None
        self._message: Any = None

    def __call__(self, error: Any, message: Any) -> None:
        self._error, self._message = error, message
        self._arrived.set()

    def wait(self, producer: SharedProducer, topic: str, timeout_s: float) -> Delivery:
        if not self._arrived.wait(timeout_s + _REPORT_GRACE_S):
            raise DeliveryError(f"{topic}: no delivery report within {timeout_s:g} s")
        if self._error is not None:
            raise DeliveryError(_failure(self._error, producer.bootstrap_servers, topic))
        message = self._message
        offset = -1 if message.offset() is None else message.offset()
        return Delivery(message.topic(), message.partition(), offset, message.timestamp()[1])


def produce(
    topic: str,
    key: str | bytes | None,
    value: Any,
    acks: Acks = "all",
    *,
    headers: Headers | None = None,
    partition: int | None = None,
    bootstrap_servers: str | None = None,
    timeout_s: float = 30.0,
) -> Delivery:
    """Send `value` as JSON and return where it stands once it is acknowledged.

    Records of one key go to one partition, in order. A value of None is a tombstone. Raises
    DeliveryError when the record is refused or not acknowledged in `timeout_s`. Calls with the
    same servers, acks and timeout share one idempotent producer, from any thread; with acks
    other than "all" it cannot be idempotent, and with acks=0 the offset is unknown (-1).
    """
    servers, wanted = bootstrap_of(bootstrap_servers), _acks(acks)
    shared = reuse(
        SharedProducer,
        (servers, wanted, timeout_s),
        lambda: SharedProducer(servers, wanted, timeout_s),
    )
    report = _Report()
    shared.send(
        report,
        topic,
        key=encode_key(key),
        value=encode_value(value),
        headers=encode_headers(headers),
        partition=-1 if partition is None else partition,
    )
    return report.wait(shared, topic, timeout_s)


def _acks(acks: Acks) -> str:
    wanted = "all" if str(acks) == "-1" else str(acks)
    if wanted not in ("all", "0", "1"):
        raise ValueError(f'acks is "all", 0 or 1, not {acks!r}')
    return wanted


def _settings(bootstrap_servers: str, acks: str, timeout_s: float) -> dict[str, Any]:
    return {
        "bootstrap.servers": bootstrap_servers,
        "client.id": "penstock-client",
        "acks": acks,
        "enable.idempotence": acks == "all",
        "compression.type": "lz4",
        "linger.ms": 5,
        "message.timeout.ms": max(1, int(timeout_s * 1000)),
        # The broker decides what is too large, by its own or its topic's max.message.bytes.
        "message.max.bytes": 100_000_000,
    }


def _failure(error: Any, bootstrap_servers: str, topic: str) -> str:
    if error.code() == KafkaError._MSG_TIMED_OUT:
        return f"{topic}: not acknowledged in time by {bootstrap_servers}; is it running?"
    return f"{topic}: {error.str()}"


def _reason(error: Exception) -> str:
    if isinstance(error, KafkaException) and error.args:
        return str(error.args[0].str())
    return str(error)
