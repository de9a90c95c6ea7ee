"""Counters cheap enough for every request, and their Prometheus face.

The hot path bumps plain integers; `Exporter` reads them only when somebody scrapes, so the
prometheus client is not even imported on a node that serves no metrics.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client.core import Metric

LATENCY_BUCKETS_S = (
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
)  # fmt: skip

CLIENTS_TOLD_APART = 10_000
OTHER_CLIENTS = ("", "")


class Histogram:
    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...] = LATENCY_BUCKETS_S) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        bounds = self.bounds
        self.counts[0 if value <= bounds[0] else bisect_left(bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        return sum(self.counts)

    def cumulative(self) -> list[tuple[str, float]]:
        rows: list[tuple[str, float]] = []
        running = 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            running += count
            rows.append(("+Inf" if bound == float("inf") else repr(bound), running))
        return rows


class TrafficTally:
    """What is written to which topic, and by whom, until somebody takes it."""

    __slots__ = ("written",)

    def __init__(self) -> None:
        self.written: dict[tuple[str, str, str], tuple[int, int]] = {}
        """Bytes and records, by topic, user and client id."""

    def note(self, topic: str, user: str, client_id: str, size_bytes: int, records: int) -> None:
        who = (topic, user, client_id)
        known = self.written.get(who)
        if known is None and len(self.written) >= CLIENTS_TOLD_APART:
            who = (topic, *OTHER_CLIENTS)
            known = self.written.get(who)
        if known is None:
            self.written[who] = (size_bytes, records)
        else:
            self.written[who] = (known[0] + size_bytes, known[1] + records)


class BrokerMetrics:
    """Everything the broker counts about its traffic."""

    __slots__ = (
        "api_errors",
        "api_latency_s",
        "bytes_in",
        "bytes_out",
        "flush_s",
        "logins",
        "messages_in",
        "passed_over",
        "produce_batches",
        "traffic",
        "unexpected_errors",
    )

    def __init__(self) -> None:
        self.bytes_in = 0
        self.bytes_out = 0
        self.messages_in = 0
        self.produce_batches = 0
        self.unexpected_errors = 0
        self.api_latency_s: dict[str, Histogram] = {}
        self.api_errors: dict[tuple[str, str], int] = {}
        self.flush_s = Histogram()
        self.logins: dict[tuple[str, str], int] = {}
        self.passed_over: dict[tuple[str, str], int] = {}
        self.traffic: TrafficTally | None = None
        """Only where the past is written down."""

    def latency_of(self, api: str) -> Histogram:
        histogram = self.api_latency_s.get(api)
        if histogram is None:
            histogram = self.api_latency_s[api] = Histogram()
        return histogram

    def count_error(self, api: str, error: str) -> None:
        key = (api, error)
        self.api_errors[key] = self.api_errors.get(key, 0) + 1

    def count_login(self, mechanism: str, succeeded: bool) -> None:
        key = (mechanism, "success" if succeeded else "failure")
        self.logins[key] = self.logins.get(key, 0) + 1

    def count_passed_over(self, topic: str, what: str, count: int) -> None:
        """What a coordinator could not read when it was loaded."""
        key = (topic, what)
        self.passed_over[key] = self.passed_over.get(key, 0) + count


Gauge = tuple[str, str, Callable[[], float]]
"""name, documentation, how to read it now"""

LabelledGauge = tuple[
    str, str, tuple[str, ...], Callable[[], Iterable[tuple[tuple[str, ...], float]]]
]


class Exporter:
    """Renders metrics in Prometheus' text format."""

    def __init__(
        self,
        metrics: BrokerMetrics,
        gauges: Iterable[Gauge] = (),
        labelled_gauges: Iterable[LabelledGauge] = (),
    ) -> None:
        from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector

        self._metrics = metrics
        self._gauges = tuple(gauges)
        self._labelled_gauges = tuple(labelled_gauges)
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def render(self) -> bytes:
        from prometheus_client import generate_latest

        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        yield from self._collect_traffic()
        yield from self._collect_requests()
        yield from self._collect_gauges()

    def _collect_traffic(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        m = self._metrics
        for name, text, value in (
            ("penstock_bytes_in", "Bytes of record batches appended by producers", m.bytes_in),
            ("penstock_bytes_out", "Bytes of record batches sent to consumers", m.bytes_out),
            ("penstock_messages_in", "Records appended by producers", m.messages_in),
            ("penstock_batches_in", "Record batches appended by producers", m.produce_batches),
            ("penstock_unexpected_errors", "Errors nobody was there for", m.unexpected_errors),
        ):
            yield CounterMetricFamily(name, text, value=value)
        flush = HistogramMetricFamily("penstock_flush_seconds", "Time of one shared flush")
        flush.add_metric([], m.flush_s.cumulative(), m.flush_s.total)
        yield flush

    def _collect_requests(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        latency = HistogramMetricFamily(
            "penstock_request_seconds", "Time from a request's arrival to its reply", labels=["api"]
        )
        for api, histogram in self._metrics.api_latency_s.items():
            latency.add_metric([api], histogram.cumulative(), histogram.total)
        yield latency
        errors = CounterMetricFamily(
            "penstock_errors", "Errors answered, by API and code", labels=["api", "error"]
        )
        for (api, error), count in self._metrics.api_errors.items():
            errors.add_metric([api, error], count)
        yield errors
        passed_over = CounterMetricFamily(
            "penstock_coordinator_passed_over",
            "What coordinators could not read when they were loaded",
            labels=["topic", "what"],
        )
        for (topic, what), count in self._metrics.passed_over.items():
            passed_over.add_metric([topic, what], count)
        yield passed_over
        logins = CounterMetricFamily(
            "penstock_logins", "Logins by SASL", labels=["mechanism", "outcome"]
        )
        for (mechanism, outcome), count in self._metrics.logins.items():
            logins.add_metric([mechanism, outcome], count)
        yield logins

    def _collect_gauges(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        for name, text, read in self._gauges:
            yield GaugeMetricFamily(name, text, value=read())
        for name, text, labels, rows in self._labelled_gauges:
            family = GaugeMetricFamily(name, text, labels=labels)
            for values, value in rows():
                family.add_metric(list(values), value)
            yield family
