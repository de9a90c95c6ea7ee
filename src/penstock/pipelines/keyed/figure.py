"""How a keyed run goes, from what lanes and Spark tell. Asks nothing of the broker."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from penstock.pipelines.keyed.judging import DEAD_LETTERS, EVENTS
from penstock.pipelines.keyed.report import PartitionReport
from penstock.pipelines.run.progress import PartitionProgress, Progress
from penstock.pipelines.transforms.expectation import Expectation, metric_names, outcomes

WINDOW_S = 10.0
LATE = "late"


class _Sample(NamedTuple):
    at_s: float
    read: int
    written: int
    middle_ms: int
    longest_ms: int


class Figures:
    """Adds up partitions and queries; a new query of the same run begins at `new_query`."""

    def __init__(
        self,
        topic: str,
        counted: tuple[str, ...],
        outputs: tuple[str, ...],
        rules: Sequence[Expectation] = (),
    ) -> None:
        self._topic = topic
        self._counted = counted
        self._outputs = outputs
        self._rules = rules
        self._earlier: Counter[str] = Counter()
        self._own: dict[int, Counter[str]] = {}
        self._positions: dict[int, int] = {}
        self._planned: dict[int, int] = {}
        self._limits: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._samples: deque[_Sample] = deque(maxlen=600)
        self._batches = 0
        self._batch_ms: deque[tuple[float, int]] = deque(maxlen=600)
        self._last_batch = -1
        self._durations: dict[str, int] = {}
        self._lock = threading.Lock()

    def new_query(
        self, positions: Mapping[int, int], limits: Mapping[int, int] | None = None
    ) -> None:
        """`limits`: where a bounded run ends; Spark reads beyond, and that is left out."""
        with self._lock:
            self._limits = dict(limits or {})
            self._earlier = self._totals()
            self._own.clear()
            self._planned.clear()
            self._last_batch = -1
            self._positions.update(positions)

    def ends(self, ends: Mapping[tuple[str, int], int]) -> None:
        """Where the source's partitions end now; Spark tells only where they did at planning."""
        with self._lock:
            self._ends.update({partition: end for (_, partition), end in ends.items()})

    def take(self, reports: Mapping[int, PartitionReport]) -> bool:
        """What lanes have told; False when they have done nothing since they were last asked."""
        with self._lock:
            before = self._totals()
            for partition, report in reports.items():
                counts = Counter(dict(zip(self._counted, report.counts, strict=False)))
                # A look that waited for nobody may be older than the one before it.
                if counts[EVENTS] >= self._own.get(partition, Counter())[EVENTS]:
                    self._own[partition] = counts
                    self._positions[partition] = report.offset
            now = self._totals()
            waits = [each.waited_ms for each in reports.values() if each.counts]
            if now[EVENTS] == before[EVENTS]:
                return False
            middle, longest = (max(each) for each in zip(*waits, strict=True))
            written = sum(now[name] - before[name] for name in self._outputs)
            read = now[EVENTS] - before[EVENTS]
            self._samples.append(_Sample(time.monotonic(), read, written, middle, longest))
            return True

    def add(self, document: Mapping[str, Any]) -> None:
        """The progress that Spark tells of the last batch."""
        with self._lock:
            batch = int(document["batchId"])
            if batch <= self._last_batch:
                return
            self._batches += batch - self._last_batch
            self._last_batch = batch
            self._durations = dict(document["durationMs"])
            took_ms = int(self._durations.get("triggerExecution", 0))
            self._batch_ms.append((time.monotonic(), took_ms))
            for source in document["sources"]:
                said = (source.get("endOffset") or {}).get(self._topic, {})
                self._planned.update({int(each): int(offset) for each, offset in said.items()})

    def has_reached(self, offsets: Mapping[int, int]) -> bool:
        with self._lock:
            return all(self._position(each) >= offset for each, offset in offsets.items())

    def progress(self, restarts: int) -> Progress:
        with self._lock:
            now, totals = time.monotonic(), self._totals()
            recent = [each for each in self._samples if each.at_s > now - WINDOW_S]
            span_s = max(1.0, now - recent[0].at_s) if recent else 1.0
            took_ms = [took for at_s, took in self._batch_ms if at_s > now - WINDOW_S]
            return Progress(
                input_rate=sum(each.read for each in recent) / span_s,
                output_rate=sum(each.written for each in recent) / span_s,
                input_rows=totals[EVENTS],
                output_rows=sum(totals[name] for name in self._outputs),
                batches=self._batches,
                batch_ms_p50=_share(took_ms, 0.5),
                batch_ms_p99=_share(took_ms, 0.99),
                latency_ms_p50=_share([each.middle_ms for each in recent], 0.5),
                latency_ms_p99=_share([each.longest_ms for each in recent], 0.99),
                dead_letters=totals[DEAD_LETTERS],
                late=totals[LATE],
                restarts=restarts,
                partitions=tuple(self._partitions()),
                extra={**self._named(totals), "duration_ms": self._durations},
            )

    def _named(self, totals: Counter[str]) -> dict[str, Any]:
        if not self._rules:
            return dict(totals)
        outcome = {
            rule: {"passed": passed, "failed": failed}
            for rule, passed, failed in outcomes(self._rules, totals)
        }
        of_rules = metric_names(self._rules)
        named = {name: count for name, count in totals.items() if name not in of_rules}
        return {**named, "expectations": {EVENTS: outcome}}

    def _totals(self) -> Counter[str]:
        totals = Counter(dict.fromkeys(self._counted, 0))
        for counts in (self._earlier, *self._own.values()):
            totals.update(counts)
        return totals

    def _partitions(self) -> list[PartitionProgress]:
        found = {each: self._position(each) for each in sorted(self._positions)}
        return [
            PartitionProgress(self._topic, each, at, max(at, self._ends.get(each, at)))
            for each, at in found.items()
        ]

    def _position(self, partition: int) -> int:
        """What a batch was planned to is read when it has ended, also where no record stands."""
        at = max(self._positions.get(partition, 0), self._planned.get(partition, 0))
        return min(at, self._limits.get(partition, at))


def _share(values: list[int], share: float) -> float:
    ranked = sorted(values)
    return float(ranked[min(len(ranked) - 1, int(len(ranked) * share))]) if ranked else 0.0
