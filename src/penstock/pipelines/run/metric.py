"""A run's progress for Prometheus: read when scraped, counted by nobody twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from penstock.client.prometheus import serve_metrics
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
    def __init__(self, pipelines: Mapping[str, Callable[[], Progress]]) -> None:
        self._pipelines = pipelines

    def serve(self, port: int, host: str = "127.0.0.1") -> Any:
        """Over HTTP, until the process ends; returns what `shutdown()` ends early."""
        return serve_metrics(self, port, host)

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        now = {name: progress() for name, progress in self._pipelines.items()}
        for kind, families in ((CounterMetricFamily, _COUNTERS), (GaugeMetricFamily, _GAUGES)):
            for field, text in families:
                family = kind(f"penstock_pipeline_{field}", text, labels=["pipeline"])
                for name, each in now.items():
                    family.add_metric([name], getattr(each, field))
                yield family
        yield from _quantiles(now)
        yield _lag(now)
        yield _expectations(now)


def _quantiles(now: Mapping[str, Progress]) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    for name, text in _QUANTILES:
        gauge = GaugeMetricFamily(
            f"penstock_pipeline_{name.removesuffix('_ms')}_seconds",
            text,
            labels=["pipeline", "quantile"],
        )
        for pipeline, each in now.items():
            for quantile, field in (("0.5", f"{name}_p50"), ("0.99", f"{name}_p99")):
                gauge.add_metric([pipeline, quantile], getattr(each, field) / 1000)
        yield gauge


def _lag(now: Mapping[str, Progress]) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    lag = GaugeMetricFamily(
        "penstock_pipeline_lag",
        "Records not read yet",
        labels=["pipeline", "topic", "partition"],
    )
    for pipeline, progress in now.items():
        for each in progress.partitions:
            lag.add_metric([pipeline, each.topic, str(each.partition)], each.lag)
    return lag


def _expectations(now: Mapping[str, Progress]) -> Metric:
    from prometheus_client.core import CounterMetricFamily

    rows = CounterMetricFamily(
        "penstock_pipeline_expectation_rows",
        "Rows that an expectation held for, and that it failed for",
        labels=["pipeline", "dataset", "rule", "outcome"],
    )
    for pipeline, progress in now.items():
        for place, rules in progress.extra.get("expectations", {}).items():
            for rule, outcomes in rules.items():
                for outcome, count in outcomes.items():
                    rows.add_metric([pipeline, place, rule, outcome], count)
    return rows
