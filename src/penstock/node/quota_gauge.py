"""Who uses how much of this node, and who has to wait: by user and client id, as Kafka counts.

Kafka's `kafka.server:type=Produce,user=..,client-id=..` with `byte-rate` and `throttle-time` is
`penstock_produce_byte_rate{user=..,client_id=..}` here, and so on. What the clients that are
connected have sent and received is told without any quota.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from penstock.handlers.throttle import Throttle
from penstock.network.connection import Connection
from penstock.network.listener import Listener
from penstock.security.quota.client import Sensors, SensorT
from penstock.security.quota.mutation import TokenBucket
from penstock.security.quota.sensor import UNLIMITED, RateSensor
from penstock.telemetry.metric import LabelledGauge

CLIENTS_MAX = 1000
"""That are told apart: those who move the most."""

_LABELS = ("user", "client_id")
_Rows = Iterator[tuple[tuple[str, ...], float]]


def quota_gauges(throttle: Throttle, listeners: Sequence[Listener]) -> list[LabelledGauge]:
    quotas = throttle.quotas
    return [
        *_rate_gauges(throttle, "produce_byte_rate", quotas.produce),
        *_rate_gauges(throttle, "fetch_byte_rate", quotas.fetch),
        *_rate_gauges(throttle, "request_time", quotas.request),
        *_bucket_gauges(throttle, quotas.mutation),
        (
            "penstock_client_sent_bytes",
            "From clients that are connected now",
            _LABELS,
            lambda: _by_client(listeners, lambda each: each.received_bytes),
        ),
        (
            "penstock_client_received_bytes",
            "To clients that are connected now",
            _LABELS,
            lambda: _by_client(listeners, lambda each: each.sent_bytes),
        ),
    ]


def _rate_gauges(
    throttle: Throttle, name: str, sensors: Sensors[RateSensor]
) -> Iterator[LabelledGauge]:
    def rates() -> _Rows:
        now_ms = throttle.now_ms()
        for sensor in _shown(sensors):
            yield sensor.tags, sensor.rate(now_ms)

    def limits() -> _Rows:
        for sensor in _shown(sensors):
            if sensor.limit != UNLIMITED:
                yield sensor.tags, sensor.limit

    kind = name.partition("_")[0]
    yield f"penstock_{name}", "Of those who share a quota, a second", _LABELS, rates
    yield f"penstock_{kind}_limit", "The quota of those who share one", _LABELS, limits
    yield from _throttle_gauge(throttle, kind, sensors)


def _bucket_gauges(throttle: Throttle, buckets: Sensors[TokenBucket]) -> Iterator[LabelledGauge]:
    def tokens() -> _Rows:
        now_ms = throttle.now_ms()
        for bucket in _shown(buckets):
            yield bucket.tags, bucket.tokens(now_ms)

    yield (
        "penstock_controller_mutation_tokens",
        "Partitions that may be made or deleted at once",
        _LABELS,
        tokens,
    )
    yield from _throttle_gauge(throttle, "controller_mutation", buckets)


def _throttle_gauge(
    throttle: Throttle, name: str, sensors: Sensors[SensorT]
) -> Iterator[LabelledGauge]:
    def waits() -> _Rows:
        now_ms = throttle.now_ms()
        for sensor in _shown(sensors):
            yield sensor.tags, sensor.throttle_time.average_ms(now_ms)

    yield f"penstock_{name}_throttle_time_ms", "Average of the last minute", _LABELS, waits


def _shown(sensors: Sensors[SensorT]) -> list[SensorT]:
    """Those used last."""
    found = list(sensors)
    if len(found) > CLIENTS_MAX:
        found.sort(key=lambda sensor: sensor.used_ms, reverse=True)
    return found[:CLIENTS_MAX]


def _by_client(listeners: Sequence[Listener], count: Callable[[Connection], int]) -> _Rows:
    totals: Counter[tuple[str, str]] = Counter()
    for listener in listeners:
        for connection in listener.connections:
            client = connection.state
            totals[client.principal.name, client.client_id or ""] += count(connection)
    yield from totals.most_common(CLIENTS_MAX)
