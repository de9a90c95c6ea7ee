"""A run's progress for Prometheus: read when scraped, counted by nobody twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from penstock.pipelines.run.progress import Progress

if TYPE_CHECKING:
    from prometheus_client.core import Metric

_COUNTERS = (
    ("input_rows", "Records read"),
    ("output_rows", "Rows written"),
    ("batches", "Micro-batches ended"),
    ("dead_letters", "Records sent to the dead letters"),
    ("late", "Rows behind the watermark, kept aside"),
    ("restarts", "Times a query was started again after a failure"),
)
_GAUGES = (
    ("input_rate", "Records read a second"),
    ("output_rate", "Rows written a second"),
)
_QUANTILES = (("batch_ms", "Time of a micro-batch"), ("latency_ms", "From record to batch end"))


class RunMetrics:
    def __init__(self, pipeline: str, progress: Callable[[], Progress]) -> None:
        self._labels = [pipeline]
        self._progress = progress

    def serve(self, port: int) -> Any:
        """Over HTTP, until the process ends; returns what `shutdown()` ends early."""
        from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server

        registry = CollectorRegistry()
        registry.register(self)
        ProcessCollector(registry=registry)
        server, _ = start_http_server(port, addr="127.0.0.1", registry=registry)
        return server

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        now = self._progress()
        for name, text in _COUNTERS:
            counter = CounterMetricFamily(f"penstock_pipeline_{name}", text, labels=["pipeline"])
            counter.add_metric(self._labels, getattr(now, name))
            yield counter
        for name, text in _GAUGES:
            gauge = GaugeMetricFamily(f"penstock_pipeline_{name}", text, labels=["pipeline"])
            gauge.add_metric(self._labels, getattr(now, name))
            yield gauge
        yield from self._quantiles(now)
        yield self._lag(now)
        yield self._expectations(now)

    def _quantiles(self, now: Progress) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        for name, text in _QUANTILES:
            gauge = GaugeMetricFamily(
                f"penstock_pipeline_{name.removesuffix('_ms')}_seconds",
                text,
                labels=["pipeline", "quantile"],
            )
            for quantile, field in (("0.5", f"{name}_p50"), ("0.99", f"{name}_p99")):
                gauge.add_metric([*self._labels, quantile], getattr(now, field) / 1000)
            yield gauge

    def _lag(self, now: Progress) -> Metric:
        from prometheus_client.core import GaugeMetricFamily

        lag = GaugeMetricFamily(
            "penstock_pipeline_lag",
            "Records not read yet",
            labels=["pipeline", "topic", "partition"],
        )
        for each in now.partitions:
            lag.add_metric([*self._labels, each.topic, str(each.partition)], each.lag)
        return lag

    def _expectations(self, now: Progress) -> Metric:
        from prometheus_client.core import CounterMetricFamily

        rows = CounterMetricFamily(
            "penstock_pipeline_expectation_rows",
            "Rows that an expectation held for, and that it failed for",
            labels=["pipeline", "dataset", "rule", "outcome"],
        )
        for place, rules in now.extra.get("expectations", {}).items():
            for rule, outcomes in rules.items():
                for outcome, count in outcomes.items():
                    rows.add_metric([*self._labels, place, rule, outcome], count)
        return rows
