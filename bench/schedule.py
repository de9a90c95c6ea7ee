"""Runs the cases on all peers in turns, so that a slow minute of the machine hits each alike."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from confluent_kafka import KafkaException

from bench.case import (
    consume,
    group_commit,
    group_heartbeat,
    group_load,
    group_rebalance,
    idle,
    latency,
    partition,
    produce,
    start,
    transaction,
)
from bench.case.scale import Scale
from bench.load.child import LoadFailedError
from bench.metric import Metric
from bench.peer import KAFKA, PENSTOCK, PENSTOCK_FSYNC, PENSTOCK_UNREAD, Peer
from bench.process import peak_rss_mb, reset_peak
from tools.apache_kafka import KafkaFailedError
from tools.penstock_broker import PenstockFailedError

ALL: Final = (KAFKA, PENSTOCK, PENSTOCK_FSYNC)
BOTH: Final = (KAFKA, PENSTOCK)
PRODUCING: Final = (*ALL, PENSTOCK_UNREAD)


@dataclass(frozen=True)
class Case:
    group: str
    title: str
    run: Callable[[Peer, Scale], dict[str, float]]
    peers: Sequence[str] = ALL
    # Its broker's memory counts as memory under load.
    is_load: bool = False
    # A slow case that says nothing new when Apache Kafka repeats it.
    kafka_once: bool = False


def _sized(function: Callable[[Peer, int, Scale], dict[str, float]], size: int) -> Case:
    def run(peer: Peer, scale: Scale) -> dict[str, float]:
        return function(peer, size, scale)

    title = f"produce {function.__name__} {size} B"
    return Case("produce", title, run, PRODUCING, is_load=True)


def _waiting(kind: str) -> Case:
    def run(peer: Peer, scale: Scale) -> dict[str, float]:
        return latency.latency(peer, kind, scale)

    return Case("latency", f"latency {kind}", run)


CASES: Final = (
    *(_sized(produce.native, size) for size in produce.SIZES),
    *(_sized(produce.java, size) for size in produce.SIZES),
    Case("consume", "consume", consume.consume, BOTH, is_load=True),
    _waiting("ack"),
    _waiting("consumed"),
    Case("start", "start and idle memory", start.start, BOTH),
    Case("partitions", "many partitions", partition.partition, BOTH, kafka_once=True),
    Case("idle", "idle consumers", idle.idle, BOTH),
    Case("commit", "offset commits", group_commit.commit),
    Case("rebalance", "rebalance", group_rebalance.rebalance, BOTH),
    Case("coordinator", "coordinator start", group_load.coordinator_start, BOTH),
    Case("heartbeat", "heartbeating groups", group_heartbeat.heartbeat, BOTH),
    Case("transaction", "transactional copy", transaction.transaction),
)
GROUPS: Final = tuple(dict.fromkeys(case.group for case in CASES))

Say = Callable[[str], None]


@dataclass
class Results:
    """Every measured value, by metric and peer, in the order of the rounds."""

    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, peer: str, measured: dict[str, float]) -> None:
        for key, value in measured.items():
            self.values.setdefault(key, {}).setdefault(peer, []).append(value)

    def figure(self, metric: Metric, peer: str) -> float | None:
        values = self.values.get(metric.key, {}).get(peer)
        if not values:
            return None
        return max(values) if metric.is_peak else median(values)


@dataclass(frozen=True)
class Schedule:
    peers: Sequence[Peer]
    groups: Sequence[str]
    rounds: int
    scale: Scale
    say: Say

    def run(self) -> Results:
        results = Results()
        self._warm_up(results)
        for case in CASES:
            if case.group in self.groups:
                self._run_case(case, results)
        return results

    def _warm_up(self, results: Results) -> None:
        """A virtual machine that has just started is not what Kafka's users have."""
        for peer in self.peers:
            if peer.name in BOTH:
                for case in CASES[:2]:
                    self._attempt(case, peer, "warm-up", Results(), results.failures)

    def _run_case(self, case: Case, results: Results) -> None:
        for number in range(1, self.rounds + 1):
            for peer in self.peers:
                again = case.kafka_once and peer.name == KAFKA and number > 1
                if peer.name in case.peers and not again:
                    label = f"round {number}/{self.rounds}"
                    self._attempt(case, peer, label, results, results.failures)

    def _attempt(
        self, case: Case, peer: Peer, label: str, results: Results, failures: list[str]
    ) -> None:
        self._settle()
        began = time.monotonic()
        try:
            reset_peak(peer.broker.pid)
            measured = case.run(peer, self.scale)
            if case.is_load:
                measured["memory.load"] = peak_rss_mb(peer.broker.pid)
        except FAILURES as error:
            failures.append(f"{case.title}, {peer.name}, {label}: {error}")
            self.say(f"{case.title:24} {peer.name:15} {label}: FAILED: {error}")
            return
        results.add(peer.name, measured)
        shown = ", ".join(f"{key} {value:.4g}" for key, value in measured.items())
        took = time.monotonic() - began
        self.say(f"{case.title:24} {peer.name:15} {label} ({took:.0f} s): {shown}")

    def _settle(self) -> None:
        # What the one left unwritten must not be written while the other is measured.
        os.sync()
        time.sleep(self.scale.settle_seconds / 2)


FAILURES = (
    LoadFailedError,
    KafkaFailedError,
    PenstockFailedError,
    subprocess.TimeoutExpired,
    KafkaException,
    OSError,
    LookupError,
)
