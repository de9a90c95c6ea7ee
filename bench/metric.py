"""Every figure the benchmark reports, what it is called and which bar it has to reach.

This is the one place to look up what is promised. Nothing here measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from bench.peer import PENSTOCK, PENSTOCK_FSYNC


class Kind(Enum):
    TIMES_AT_LEAST = "at least {limit:g} × Kafka"
    TIMES_AT_MOST = "at most {limit:g} × Kafka"
    AT_MOST = "at most {limit:g} {unit}"
    AT_LEAST = "at least {limit:,g} {unit}"


@dataclass(frozen=True)
class Bar:
    kind: Kind
    limit: float

    def is_met(self, value: float, kafka: float | None) -> bool | None:
        """None when there is nothing to compare with."""
        if self.kind is Kind.AT_MOST:
            return value <= self.limit
        if self.kind is Kind.AT_LEAST:
            return value >= self.limit
        if not kafka:
            return None
        if self.kind is Kind.TIMES_AT_LEAST:
            return value / kafka >= self.limit
        return value / kafka <= self.limit

    def text(self, unit: str) -> str:
        return self.kind.value.format(limit=self.limit, unit=unit).strip()


@dataclass(frozen=True)
class Metric:
    key: str
    title: str
    unit: str
    bars: Mapping[str, Bar] = field(default_factory=dict)
    # A peak is the highest of all rounds, everything else their median.
    is_peak: bool = False


def _at_least(penstock: float, fsync: float | None = None) -> Mapping[str, Bar]:
    bars = {PENSTOCK: Bar(Kind.TIMES_AT_LEAST, penstock)}
    if fsync is not None:
        bars[PENSTOCK_FSYNC] = Bar(Kind.TIMES_AT_LEAST, fsync)
    return bars


_HALF: Final = {PENSTOCK: Bar(Kind.TIMES_AT_MOST, 0.5)}
_TWICE: Final = {PENSTOCK: Bar(Kind.TIMES_AT_MOST, 2)}


def _limit(value: float) -> Mapping[str, Bar]:
    return {PENSTOCK: Bar(Kind.AT_MOST, value)}


METRICS: Final = (
    Metric("produce.librdkafka.100", "produce, librdkafka, 100 B", "records/s", _at_least(1.5, 1)),
    Metric("produce.librdkafka.1024", "produce, librdkafka, 1 KiB", "MB/s", _at_least(1.5, 1)),
    Metric("produce.java.100", "produce, Java, 100 B", "records/s", _at_least(1.5, 1)),
    Metric("produce.java.1024", "produce, Java, 1 KiB", "MB/s", _at_least(1.5, 1)),
    Metric("consume.librdkafka.1024", "consume, librdkafka, 1 KiB", "MB/s", _at_least(1)),
    Metric("consume.java.1024", "consume, Java, 1 KiB", "MB/s", _at_least(1)),
    Metric("latency.ack.p50", "produce to ack, p50", "ms", _HALF),
    Metric("latency.ack.p99", "produce to ack, p99", "ms", _HALF),
    Metric("latency.consumed.p50", "produce to consume, p50", "ms", _HALF),
    Metric("latency.consumed.p99", "produce to consume, p99", "ms", _HALF),
    Metric("memory.idle", "memory, idle", "MB", _limit(60)),
    Metric("memory.load", "memory, peak under the load above", "MB", _limit(150), is_peak=True),
    Metric("start", "start to first answered request", "s", _limit(0.5)),
    Metric("partitions.cpu.one", "CPU per request, 1 partition", "µs"),
    Metric("partitions.cpu.many", "CPU per request, 10,000 partitions", "µs"),
    Metric("partitions.cpu.ratio", "the second over the first", "×", _limit(1.2)),
    Metric("partitions.restart", "restart with 10,000 partitions", "s", _limit(3)),
    Metric("partitions.memory", "memory with 10,000 partitions", "MB", _limit(300)),
    Metric("idle.cpu", "CPU with 2,000 idle consumers", "% of a core", _HALF),
    Metric("group.commits", "offset commits, 100 groups", "commits/s", _at_least(1)),
    Metric("group.join", "group of 200, one joins, until stable", "ms", _HALF),
    Metric("group.leave", "group of 200, one leaves, until stable", "ms", _HALF),
    Metric("group.load", "start until 1,000,000 commits are loaded", "s", _TWICE),
    Metric("group.load.after", "the part of it after the first answer", "s"),
    Metric("group.heartbeat.cpu", "CPU with 10,000 groups heartbeating", "% of a core", _HALF),
    Metric("group.heartbeat.memory", "memory with 10,000 groups", "MB", _limit(300)),
    Metric("transaction.copy", "copy, 100 records a transaction", "records/s", _at_least(1)),
    Metric("transaction.commit.p50", "commit of a transaction, p50", "ms", _HALF),
    Metric("transaction.commit.p99", "commit of a transaction, p99", "ms", _HALF),
    Metric("transaction.end.p50", "the broker's part of it (EndTxn), p50", "ms"),
    Metric("transaction.end.p99", "the broker's part of it (EndTxn), p99", "ms"),
)
