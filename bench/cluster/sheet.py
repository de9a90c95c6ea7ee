"""What docs/benchmarks-cluster.md says around its figures."""

from __future__ import annotations

from typing import Final

from bench.cluster.metric import METRICS
from bench.peer import PENSTOCK, PENSTOCK_FSYNC
from bench.report import Sheet

TITLES: Final = {
    PENSTOCK: "Flush left to the operating system, as in Kafka",
    PENSTOCK_FSYNC: "Penstock with fsync on all replicas (its default), Kafka without",
}

_INTRODUCTION = """# Benchmarks of a cluster

Written by `make bench-cluster`: three nodes of Apache Kafka and three of Penstock on this machine,
each broker and controller in one process, with the default settings of both. In each of the
{rounds} rounds first the one cluster is started, warmed up, measured and ended, then the other;
both never run at the same time. Figures are medians of the rounds. Beside a ratio stand the lowest
and the highest ratio of a round.

Topics have three replicas and `min.insync.replicas=2`; clients use acks=all and run in a process
of their own. Produce uses librdkafka's batch calls and three partitions, one record at a time uses
one. Client, leaders and followers share the cores of this machine, so what a replica costs the
processor is part of every figure. Memory is resident memory of the largest of the nodes; under
load it is the highest of all rounds.

Silence is the longest time in which a librdkafka producer with default settings, which sends
a record every ten milliseconds, hears no acknowledgement when the leader of its partition is killed
(`kill -9`), stopped (`SIGTERM`) or paused (`SIGSTOP`). A paused leader keeps its connections, and
a producer would wait for a minute before it asks anybody else: there `socket.timeout.ms` is five
seconds. With ten thousand partitions one node leads all of them before it is killed; they hold no
records."""

CLUSTER: Final = Sheet(_INTRODUCTION, TITLES, METRICS)
