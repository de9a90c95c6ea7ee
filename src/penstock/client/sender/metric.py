"""What a sender has done so far, for Prometheus. Counts, and serves nothing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prometheus_client.core import Metric

BOUNDS_S = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0, 60.0)
_MICROSECONDS = 1_000_000

_COUNTERS = (
    ("acknowledged", "Records acknowledged"),
    ("failed", "Records given up, their senders told"),
    ("spooled", "Records kept in the spool"),
    ("replayed", "Records of the spool acknowledged"),
    ("set_aside", "Records of the spool that the broker refuses for good"),
    ("refusals", "Times that writes began to be refused"),
)


class Counts:
    def __init__(self) -> None:
        self.acknowledged = self.failed = self.spooled = self.replayed = 0
        self.set_aside = self.refusals = 0
        self.seconds = 0.0
        self.buckets = [0] * (len(BOUNDS_S) + 1)
        self.batches: dict[str, Mapping[str, Any]] = {}
        """By topic, and `brokers` below: of librdkafka's last interval in which it sent any."""
        self.brokers: dict[int, Mapping[str, Any]] = {}

    def took(self, seconds: float) -> None:
        """From `send` to acknowledged."""
        self.acknowledged += 1
        self.seconds += seconds
        self.buckets[bisect_left(BOUNDS_S, seconds)] += 1

    def heard(self, statistics: Mapping[str, Any]) -> None:
        """librdkafka's: its windows begin anew with each of them, and are then empty."""
        for topic, figures in statistics.get("topics", {}).items():
            if figures["batchcnt"]["cnt"]:
                self.batches[topic] = figures
        for figures in statistics.get("brokers", {}).values():
            if figures["nodeid"] >= 0 and figures["rtt"]["cnt"]:
                self.brokers[figures["nodeid"]] = figures


class SenderMetrics:
    """A collector of prometheus_client: read when scraped."""

    def __init__(self, counts: Counts, gauges: Callable[[], Mapping[str, float]]) -> None:
        self._counts = counts
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        for name, text in _COUNTERS:
            value = getattr(self._counts, name)
            yield CounterMetricFamily(f"penstock_sender_{name}", text, value=value)
        for name, value in self._gauges().items():
            yield GaugeMetricFamily(f"penstock_sender_{name}", name.replace("_", " "), value=value)
        yield self._latency()
        yield from self._batches()
        yield self._requests()

    def _latency(self) -> Metric:
        from prometheus_client.core import HistogramMetricFamily

        found = HistogramMetricFamily("penstock_sender_seconds", "From send to acknowledged")
        total, buckets = 0, []
        for bound, count in zip([*map(str, BOUNDS_S), "+Inf"], self._counts.buckets, strict=True):
            total += count
            buckets.append((bound, total))
        found.add_metric([], buckets, self._counts.seconds)
        return found

    def _batches(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        for name, key, text in (
            ("batch_records", "batchcnt", "Records in a batch, on average of late"),
            ("batch_bytes", "batchsize", "Bytes of a batch, on average of late"),
        ):
            found = GaugeMetricFamily(f"penstock_sender_{name}", text, labels=["topic"])
            for topic, figures in self._counts.batches.items():
                found.add_metric([topic], figures[key]["avg"])
            yield found

    def _requests(self) -> Metric:
        from prometheus_client.core import GaugeMetricFamily

        found = GaugeMetricFamily(
            "penstock_sender_request_seconds",
            "Answer of a broker to a request, of late",
            labels=["node", "quantile"],
        )
        for node, figures in self._counts.brokers.items():
            for name, key in (("0.5", "p50"), ("0.99", "p99")):
                found.add_metric([str(node), name], figures["rtt"][key] / _MICROSECONDS)
        return found
