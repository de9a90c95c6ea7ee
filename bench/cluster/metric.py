"""Every figure of a cluster of three and the bar it has to reach. Nothing here measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bench.metric import Bar, Kind, Metric
from bench.peer import PENSTOCK, PENSTOCK_FSYNC

_PRODUCE: Final = {
    PENSTOCK: Bar(Kind.TIMES_AT_LEAST, 1.5),
    PENSTOCK_FSYNC: Bar(Kind.TIMES_AT_LEAST, 1),
}
_HALF: Final = {PENSTOCK: Bar(Kind.TIMES_AT_MOST, 0.5)}


def _limit(value: float, peer: str = PENSTOCK) -> Mapping[str, Bar]:
    return {peer: Bar(Kind.AT_MOST, value)}


METRICS: Final = (
    Metric("produce.librdkafka.100", "produce, librdkafka, 100 B", "records/s", _PRODUCE),
    Metric("produce.librdkafka.1024", "produce, librdkafka, 1 KiB", "MB/s", _PRODUCE),
    Metric("latency.ack.p50", "produce to ack, one at a time, p50", "ms", _HALF),
    Metric("latency.ack.p99", "produce to ack, one at a time, p99", "ms", _HALF),
    Metric("silence.kill", "silence, leader killed", "s", _limit(1, PENSTOCK_FSYNC)),
    Metric("silence.stop", "silence, leader stopped", "s", _limit(0.3, PENSTOCK_FSYNC)),
    Metric(
        "silence.pause",
        "silence, leader paused",
        "s",
        {PENSTOCK_FSYNC: Bar(Kind.TIMES_AT_MOST, 1)},
    ),
    Metric("silence.kill.controller", "silence, leader and controller killed", "s"),
    Metric("silence.stop.controller", "silence, leader and controller stopped", "s"),
    Metric("silence.pause.controller", "silence, leader and controller paused", "s"),
    Metric("memory.idle", "memory of a node, idle", "MB", _limit(45)),
    Metric("memory.load", "memory of a node, peak while producing", "MB", _limit(60), is_peak=True),
    Metric("partitions.memory", "memory of a node with 10,000 partitions", "MB"),
    Metric(
        "partitions.failover",
        "the leader of 10,000 partitions is killed, until others lead them",
        "s",
        _limit(2, PENSTOCK_FSYNC),
    ),
    Metric(
        "partitions.start.killed",
        "it starts again, until it is in sync with all of them",
        "s",
        _limit(5, PENSTOCK_FSYNC),
    ),
    Metric(
        "partitions.start.stopped",
        "the same after a clean stop",
        "s",
        _limit(5, PENSTOCK_FSYNC),
    ),
)
