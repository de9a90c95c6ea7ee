"""What a consumer has done so far, for Prometheus and `/healthz`. Counts, and serves nothing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client.core import Metric

BOUNDS_S = (0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)
QUICK_S = BOUNDS_S[0]


@dataclass(slots=True)
class Counts:
    """Of one consumer."""

    handled: int = 0
    failed: int = 0
    retried: int = 0
    dead_letters: int = 0
    expired: int = 0
    skipped: int = 0
    sent: int = 0
    crashes: int = 0
    commits: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))

    def took(self, seconds: float) -> None:
        self.seconds += seconds
        # Nearly all are below the first.
        self.buckets[0 if seconds <= QUICK_S else bisect_left(BOUNDS_S, seconds)] += 1

    def took_quickly(self, records: int, seconds: float) -> None:
        """All of them handled, each below the first bound."""
        self.handled += records
        self.seconds += seconds
        self.buckets[0] += records


_COUNTERS = (
    ("handled", "Records handled"),
    ("failed", "Attempts that failed"),
    ("retried", "Records sent to a retry topic"),
    ("dead_letters", "Records sent to the dead letters"),
    ("expired", "Records past their time to live, not handled"),
    ("skipped", "Letters sent back for another group, not handled"),
    ("sent", "Records sent to the output"),
    ("crashes", "Partitions that came from a process that had crashed"),
    ("commits", "Commits of offsets"),
)


@dataclass(frozen=True, slots=True)
class View:
    """One consumer, as it is now."""

    app: str
    group: str
    owner: str
    counts: Counts
    rebalances: int
    commit_failures: int
    in_flight: int
    waiting: int
    lags: Sequence[tuple[str, int, int]]


class AppMetrics:
    """A collector of prometheus_client: read when scraped."""

    def __init__(self, views: Callable[[], Sequence[View]]) -> None:
        self._views = views

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        views = self._views()
        names = ["app", "group"]
        for name, text in _COUNTERS:
            labels = [*names, "owner"] if name == "dead_letters" else names
            counter = CounterMetricFamily(f"penstock_app_{name}", text, labels=labels)
            for each in views:
                value = getattr(each.counts, name)
                counter.add_metric([each.app, each.group, each.owner][: len(labels)], value)
            yield counter
        for name, text in (
            ("rebalances", "Rebalances that this process took part in"),
            ("commit_failures", "Commits that were refused"),
        ):
            counter = CounterMetricFamily(f"penstock_app_{name}", text, labels=names)
            for each in views:
                counter.add_metric([each.app, each.group], getattr(each, name))
            yield counter
        in_flight = GaugeMetricFamily("penstock_app_in_flight", "Records at work", labels=names)
        waiting = GaugeMetricFamily("penstock_app_waiting", "Records that wait", labels=names)
        for each in views:
            in_flight.add_metric([each.app, each.group], each.in_flight)
            waiting.add_metric([each.app, each.group], each.waiting)
        yield in_flight
        yield waiting
        yield _lag(views)
        yield _seconds(views)


def _lag(views: Sequence[View]) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    labels = ["app", "group", "topic", "partition"]
    lag = GaugeMetricFamily("penstock_app_lag", "Records not handled yet", labels=labels)
    for each in views:
        for topic, partition, records in each.lags:
            lag.add_metric([each.app, each.group, topic, str(partition)], records)
    return lag


def _seconds(views: Sequence[View]) -> Metric:
    from prometheus_client.core import HistogramMetricFamily

    found = HistogramMetricFamily(
        "penstock_app_handling_seconds", "Time of a handler", labels=["app", "group"]
    )
    for each in views:
        total, buckets = 0, []
        for bound, count in zip([*map(str, BOUNDS_S), "+Inf"], each.counts.buckets, strict=True):
            total += count
            buckets.append((bound, total))
        found.add_metric([each.app, each.group], buckets, each.counts.seconds)
    return found
