"""What a broker has done since it was last asked, groups apart.

Most is read off the counters that are there anyway. Who writes to which topic is counted only from
here on, by a tally that is taken away when the past is no longer written down.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from penstock.handlers.broker import Broker
from penstock.model.figures import (
    CLIENTS_MAX,
    ClientFigures,
    DiskFigures,
    Figures,
    ThrottleFigures,
    TopicFigures,
    top_clients,
    top_topics,
)
from penstock.telemetry.loop import LoopIdle, wanted_s
from penstock.telemetry.metric import BrokerMetrics, Histogram, TrafficTally

_PRODUCE: Final = "Produce"


class _Totals(NamedTuple):
    """Since the node started."""

    bytes_in: int
    bytes_out: int
    records_in: int
    requests: int
    errors: int
    flushes: int
    flush_s: float
    produces: int
    produce_s: float


class BrokerCount:
    """Made, and asked, in the thread of the loop."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._idle = LoopIdle(busy_s=wanted_s)
        self._since_ms = broker.clock.now_ms()
        self._totals = _totals(broker.metrics)
        self._flushes = list(broker.metrics.flush_s.counts)
        broker.metrics.traffic = TrafficTally()

    def close(self) -> None:
        self._broker.metrics.traffic = None

    def take(self) -> Figures:
        broker, now_ms = self._broker, self._broker.clock.now_ms()
        before, self._totals = self._totals, _totals(broker.metrics)
        from_ms, self._since_ms = self._since_ms, now_ms
        tally = broker.metrics.traffic or TrafficTally()
        broker.metrics.traffic = TrafficTally()
        passed = {
            name: now - was
            for name, now, was in zip(_Totals._fields, self._totals, before, strict=True)
        }
        return Figures(
            broker.node_id,
            min(from_ms, now_ms),
            now_ms,
            **passed,  # type: ignore[arg-type]
            idle=self._idle.ratio(),
            flush_max_s=self._flush_max_s(),
            disks=tuple(_disks(broker)),
            topics=_topics(tally),
            clients=top_clients(
                ClientFigures(*who, size) for who, (size, _) in tally.written.items()
            ),
            throttled=tuple(_throttled(broker))[:CLIENTS_MAX],
        )

    def _flush_max_s(self) -> float:
        """As the histogram knows it; beyond its last bound, that bound."""
        histogram = self._broker.metrics.flush_s
        before, self._flushes = self._flushes, list(histogram.counts)
        bounds = (*histogram.bounds, histogram.bounds[-1])
        slow = [
            bound
            for bound, now, was in zip(bounds, self._flushes, before, strict=True)
            if now > was
        ]
        return max(slow, default=0.0)


def _totals(metrics: BrokerMetrics) -> _Totals:
    latencies = metrics.api_latency_s
    produce = latencies.get(_PRODUCE) or Histogram()
    return _Totals(
        metrics.bytes_in,
        metrics.bytes_out,
        metrics.messages_in,
        sum(each.count for each in latencies.values()),
        sum(metrics.api_errors.values()),
        metrics.flush_s.count,
        metrics.flush_s.total,
        produce.count,
        produce.total,
    )


def _topics(tally: TrafficTally) -> tuple[TopicFigures, ...]:
    sums: dict[str, tuple[int, int]] = {}
    for (topic, *_), (size, records) in tally.written.items():
        known = sums.get(topic, (0, 0))
        sums[topic] = (known[0] + size, known[1] + records)
    return top_topics(TopicFigures(topic, *both) for topic, both in sums.items())


def _disks(broker: Broker) -> Iterator[DiskFigures]:
    for each in broker.log_dirs.data:
        if each.offline is not None:
            continue
        try:
            total_bytes, usable_bytes = each.space()
        except OSError:
            continue
        yield DiskFigures(each.path, total_bytes - usable_bytes, total_bytes)


def _throttled(broker: Broker) -> Iterator[ThrottleFigures]:
    throttle = broker.throttle
    if not throttle.is_on:
        return
    now_ms, quotas = throttle.now_ms(), throttle.quotas
    for kind, sensors in (
        ("produce", quotas.produce),
        ("fetch", quotas.fetch),
        ("request", quotas.request),
    ):
        for sensor in sensors:
            wait_ms = sensor.throttle_time.average_ms(now_ms)
            if wait_ms > 0:
                yield ThrottleFigures(*sensor.tags, kind, round(wait_ms, 1))
