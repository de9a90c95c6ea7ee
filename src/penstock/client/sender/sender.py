"""A producer with a declared policy for when writes are refused."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Protocol

from penstock.client.app.codec import encode
from penstock.client.claim.check import ClaimCheck
from penstock.client.error import DeliveryError, TransientError
from penstock.client.outbox.event import EVENT_ID
from penstock.client.prometheus import serve_metrics
from penstock.client.record import Delivery, Headers, Spooled, encode_headers, encode_key
from penstock.client.sender.link import Link
from penstock.client.sender.metric import Counts, SenderMetrics
from penstock.client.sender.partitioner import Partitioner
from penstock.client.sender.policy import Block, Fail, Policy, Spool
from penstock.client.sender.record import Record, WireHeaders
from penstock.client.sender.spooling import Spooling
from penstock.client.sender.trying import Blocking, Failing
from penstock.client.session import bootstrap_of


class _Way(Protocol):
    is_refused: bool

    def send(self, record: Record) -> Future[Any]: ...
    def gauges(self) -> Mapping[str, float]: ...
    def flush(self, timeout_s: float) -> bool: ...
    def close(self, timeout_s: float) -> None: ...


class Sender:
    """For any thread of one process; see docs/sending.md."""

    def __init__(
        self,
        bootstrap_servers: str | None = None,
        *,
        when_refused: Policy | None = None,
        partitioner: Partitioner = "crc32",
        claim_check: ClaimCheck | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """`settings` are librdkafka's."""
        self._counts = Counts()
        self._claim_check = claim_check
        policy = when_refused or Block()
        own = {"bootstrap.servers": bootstrap_of(bootstrap_servers), "client.id": "penstock-sender"}
        timeout_ms = 0 if isinstance(policy, Spool) else policy.timeout_ms
        link = Link(own | dict(settings or {}), timeout_ms, partitioner, self._counts)
        self._names_events = isinstance(policy, Spool)
        try:
            self._way: _Way = _way_of(policy, link, self._counts)
        except BaseException:
            link.close(0)
            raise

    def send(
        self,
        topic: str,
        key: str | bytes | None,
        value: Any,
        *,
        headers: Headers | None = None,
        partition: int | None = None,
    ) -> Future[Delivery | Spooled]:
        """Raises DeliveryError where the policy says so. The future is done when the record is
        safe, acknowledged or in the spool, and has the error if it is given up."""
        named = encode_headers(headers)
        if self._names_events and not any(name == EVENT_ID for name, _ in named):
            named.append((EVENT_ID, str(uuid.uuid4()).encode()))
        where = -1 if partition is None else partition
        now_ms = time.time_ns() // 1_000_000
        content, marks = self._checked_in(topic, encode(value))
        record = Record(topic, encode_key(key), content, named + marks, where, now_ms)
        return self._way.send(record)

    def _checked_in(self, topic: str, value: bytes | None) -> tuple[bytes | None, WireHeaders]:
        check = self._claim_check
        if check is None or not check.wants(value):
            return value, []
        try:
            return check.check_in(topic, value)
        except TransientError as error:
            raise DeliveryError(f"{topic}: {error}") from error

    @property
    def is_refused(self) -> bool:
        """Whether writes were refused when last tried."""
        return self._way.is_refused

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Whether all that was sent is settled, the spool with it, in this time."""
        return self._way.flush(timeout_s)

    def close(self, timeout_s: float = 30.0) -> None:
        self._way.close(timeout_s)

    def __enter__(self) -> Sender:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def metrics(self) -> SenderMetrics:
        """A collector for a registry of prometheus_client."""
        return SenderMetrics(self._counts, self._way.gauges)

    def serve_metrics(self, port: int, host: str = "127.0.0.1") -> Any:
        """Over HTTP, until the process ends; returns what `shutdown()` ends early."""
        return serve_metrics(self.metrics(), port, host)


def _way_of(policy: Policy, link: Link, counts: Counts) -> _Way:
    if isinstance(policy, Spool):
        return Spooling(policy, link, counts)
    if isinstance(policy, Fail):
        return Failing(policy, link, counts)
    return Blocking(policy, link, counts)
