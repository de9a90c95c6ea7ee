"""Every figure of the pipeline workloads and the bar that it has to reach. Nothing measures here.

The bars hold for a pipeline on a Penstock broker, with its default flush before every
acknowledgement and without; on Apache Kafka the same figure stands beside.
"""

from __future__ import annotations

from typing import Final

from bench.metric import Bar, Kind, Metric
from bench.peer import PENSTOCK, PENSTOCK_FSYNC


def _most(limit: float) -> dict[str, Bar]:
    return _on_both(Bar(Kind.AT_MOST, limit))


def _least(limit: float) -> dict[str, Bar]:
    return _on_both(Bar(Kind.AT_LEAST, limit))


def _on_both(bar: Bar) -> dict[str, Bar]:
    return {PENSTOCK: bar, PENSTOCK_FSYNC: bar}


def _judged(name: str, work: str, *, low_ms: float, high_ms: float) -> tuple[Metric, ...]:
    """Of a detector at both rates: what a verdict takes, and whether the detector keeps up."""
    keeps_up = "the same, growth of the lag while measured"
    return (
        Metric(f"{name}.low.p50", f"{work}, {{low:,}}/s, p50", "ms"),
        Metric(f"{name}.low.p99", f"{work}, {{low:,}}/s, p99", "ms", _most(low_ms)),
        Metric(f"{name}.low.lag", keeps_up, "s", _most(0.5)),
        Metric(f"{name}.high.p50", f"{work}, {{high:,}}/s, p50", "ms"),
        Metric(f"{name}.high.p99", f"{work}, {{high:,}}/s, p99", "ms", _most(high_ms)),
        Metric(f"{name}.high.lag", keeps_up, "s", _most(0.5)),
        Metric(f"{name}.held", "largest rate held: p99 under 500 ms, lag steady", "payments/s"),
    )


def _accounts(name: str, where: str) -> tuple[Metric, ...]:
    work = f"{{accounts:,}} accounts{where}"
    return (
        Metric(f"{name}.p50", f"{work}, {{low:,}}/s, p50", "ms"),
        Metric(f"{name}.p99", f"{work}, {{low:,}}/s, p99", "ms"),
        Metric(f"{name}.lag", "the same, growth of the lag while measured", "s", _most(0.5)),
        Metric(f"{name}.memory", "the same, memory of Spark and its workers", "MB"),
        Metric(f"{name}.restart", "the same, Spark started again to first verdict", "s", _most(15)),
    )


METRICS: Final = (
    Metric("stateless.p50", "stateless verdicts, {stateless:,}/s, p50", "ms"),
    Metric("stateless.p99", "stateless verdicts, {stateless:,}/s, p99", "ms", _most(150)),
    Metric("stateless.lag", "the same, growth of the lag while measured", "s", _most(0.5)),
    *_judged("detector", "full detector", low_ms=500, high_ms=1000),
    *_judged("realtime", "full detector, real-time mode", low_ms=150, high_ms=500),
    Metric("store.low.p50", "the detector, states in Spark's store, {low:,}/s, p50", "ms"),
    Metric(
        "store.low.p99", "the detector, states in Spark's store, {low:,}/s, p99", "ms", _most(1500)
    ),
    Metric("store.low.lag", "the same, growth of the lag while measured", "s", _most(0.5)),
    Metric("store.high.p50", "the detector, states in Spark's store, {high:,}/s, p50", "ms"),
    Metric("store.high.p99", "the detector, states in Spark's store, {high:,}/s, p99", "ms"),
    Metric("store.held", "largest rate held: p99 under 1,500 ms, lag steady", "payments/s"),
    *_accounts("accounts", ""),
    *_accounts("accounts_store", ", states in Spark's store"),
    Metric("copy.at_least_once", "copy, Spark's at-least-once topic sink", "rows/s"),
    Metric("copy.exactly_once", "copy, exactly-once topic sink", "rows/s"),
    Metric("copy.ratio", "the second over the first", "×", _least(0.8)),
    Metric(
        "read.rate",
        "one batch job reads a topic of {megabytes:,} MB",
        "MB/s",
        _on_both(Bar(Kind.TIMES_AT_LEAST, 1)),
    ),
    Metric("start.first", "process start to first verdict, jars cached", "s", _most(15)),
    Metric("start.recording", "the same, the first time after an installation", "s"),
)
