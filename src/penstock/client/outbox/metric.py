"""A relay's progress for Prometheus: read when scraped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from penstock.client.outbox.relay import Relay
from penstock.client.prometheus import serve_metrics

if TYPE_CHECKING:
    from prometheus_client.core import Metric

_COUNTERS = (
    ("sent", "Events acknowledged"),
    ("batches", "Transactions committed"),
    ("set_aside", "Events that can never be sent, left in the table"),
    ("errors", "Times the work on a shard was begun anew after an error"),
)


class RelayMetrics:
    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    def serve(self, port: int, host: str) -> Any:
        """Over HTTP, until the process ends; returns what `shutdown()` ends early."""
        return serve_metrics(self, port, host)

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        progress, backlog = self._relay.progress(), self._relay.backlog()
        for name, text in _COUNTERS:
            value = getattr(progress, name)
            yield CounterMetricFamily(f"penstock_outbox_{name}", text, value=value)
        age_s = 0.0 if backlog.oldest_ms is None else time.time() - backlog.oldest_ms / 1000
        for name, text, value in (
            ("shards", "Shards that this relay sends", progress.shards),
            ("waiting", "Events not sent yet, counted to 100,000", backlog.waiting),
            ("oldest_seconds", "Age of the oldest event not sent yet", max(0.0, age_s)),
        ):
            yield GaugeMetricFamily(f"penstock_outbox_{name}", text, value=value)
        latency = GaugeMetricFamily(
            "penstock_outbox_latency_seconds", "From add to acknowledged", labels=["quantile"]
        )
        latency.add_metric(["0.5"], progress.latency_ms_p50 / 1000)
        latency.add_metric(["0.99"], progress.latency_ms_p99 / 1000)
        yield latency
