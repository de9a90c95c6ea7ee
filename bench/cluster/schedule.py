"""Runs the cases on the clusters in turns, so that a slow minute of the machine hits each alike.

In every round each system's cluster is started anew, warmed up, measured and ended.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.case import latency, produce
from bench.cluster import peer as clusters
from bench.cluster.case import failover, memory, silence
from bench.cluster.peer import ClusterPeer
from bench.cluster.scale import Scale
from bench.cluster.warm_up import warm_up
from bench.peer import KAFKA, PENSTOCK, PENSTOCK_FSYNC
from bench.schedule import FAILURES, Results, Say

SYSTEMS: Final = {KAFKA: (KAFKA,), PENSTOCK: (PENSTOCK, PENSTOCK_FSYNC)}
"""The peers of each system, which share a cluster."""
ALL: Final = (KAFKA, PENSTOCK, PENSTOCK_FSYNC)
# Both as they come, which is with fsync for Penstock.
DEFAULTS: Final = (KAFKA, PENSTOCK_FSYNC)
# Also what a cluster under test says of itself.
_FAILURES: Final = (*FAILURES, RuntimeError)


@dataclass(frozen=True)
class Case:
    group: str
    title: str
    run: Callable[[ClusterPeer, Scale], dict[str, float]]
    peers: Sequence[str] = ALL
    # Its nodes' memory counts as memory under load.
    is_load: bool = False
    # A slow case that says nothing new when Apache Kafka repeats it.
    kafka_once: bool = False
    # For nodes that have worked for a while.
    is_warm: bool = False


def _produce(size: int) -> Case:
    def run(peer: ClusterPeer, scale: Scale) -> dict[str, float]:
        return produce.native(peer, size, scale)

    return Case("produce", f"produce {size} B", run, is_load=True, is_warm=True)


def _ack(peer: ClusterPeer, scale: Scale) -> dict[str, float]:
    return latency.latency(peer, "ack", scale)


CASES: Final = (
    Case("memory", "idle memory", memory.idle, (KAFKA, PENSTOCK)),
    *(_produce(size) for size in produce.SIZES),
    Case("latency", "latency ack", _ack, is_warm=True),
    Case("silence", "silence", silence.silence, DEFAULTS),
    # Last: it leaves the nodes with all these partitions.
    Case("failover", "failover", failover.failover, DEFAULTS, kafka_once=True),
)
GROUPS: Final = tuple(dict.fromkeys(case.group for case in CASES))


@dataclass(frozen=True)
class Schedule:
    names: Sequence[str]
    groups: Sequence[str]
    rounds: int
    scale: Scale
    scratch: Path | None
    say: Say

    def run(self) -> Results:
        results = Results()
        for number in range(1, self.rounds + 1):
            for system in SYSTEMS:
                cases = self._cases(system, number)
                if cases:
                    self._run_system(system, cases, f"round {number}/{self.rounds}", results)
        return results

    def _cases(self, system: str, number: int) -> list[Case]:
        names = {name for name in SYSTEMS[system] if name in self.names}
        return [
            case
            for case in CASES
            if case.group in self.groups
            and names & set(case.peers)
            and not (case.kafka_once and system == KAFKA and number > 1)
        ]

    def _run_system(self, system: str, cases: Sequence[Case], label: str, results: Results) -> None:
        names = [name for name in SYSTEMS[system] if name in self.names]
        began = time.monotonic()
        try:
            with clusters.peers(names, self.scratch) as peers:
                self.say(f"{system}: three nodes up after {time.monotonic() - began:.1f} s")
                self._run_cases(peers, cases, label, results)
        except _FAILURES as error:
            results.failures.append(f"cluster, {system}, {label}: {error}")
            self.say(f"{system} {label}: FAILED: {error}")

    def _run_cases(
        self, peers: Sequence[ClusterPeer], cases: Sequence[Case], label: str, results: Results
    ) -> None:
        is_warm = False
        for case in cases:
            if case.is_warm and not is_warm:
                warm_up(peers[0], self.scale, self.say)
                is_warm = True
            for peer in peers:
                if peer.name in case.peers:
                    self._attempt(case, peer, label, results, results.failures)

    def _attempt(
        self, case: Case, peer: ClusterPeer, label: str, results: Results, failures: list[str]
    ) -> None:
        # What the one left unwritten must not be written while the other is measured.
        os.sync()
        time.sleep(self.scale.settle_seconds / 2)
        began = time.monotonic()
        try:
            memory.reset_peaks(peer)
            measured = case.run(peer, self.scale)
            if case.is_load:
                measured["memory.load"] = memory.peak_mb(peer)
        except _FAILURES as error:
            failures.append(f"{case.title}, {peer.name}, {label}: {error}")
            self.say(f"{case.title:15} {peer.name:15} {label}: FAILED: {error}")
            return
        results.add(peer.name, measured)
        shown = ", ".join(f"{key} {value:.4g}" for key, value in measured.items())
        took = time.monotonic() - began
        self.say(f"{case.title:15} {peer.name:15} {label} ({took:.0f} s): {shown}")
