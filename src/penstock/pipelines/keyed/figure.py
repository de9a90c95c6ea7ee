"""How a keyed run goes, from what Spark tells of its batches. Asks nothing of the broker."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any

from penstock.pipelines.keyed.lane import DEAD_LETTERS, EVENTS, SKIPPED, WAIT, WAIT_MAX
from penstock.pipelines.keyed.query import OBSERVATION
from penstock.pipelines.keyed.slot import BATCH, COMMITS, LONGEST
from penstock.pipelines.keyed.task import POSITIONS, TIMES
from penstock.pipelines.run.progress import PartitionProgress, Progress

WINDOW_S = 10.0


class Figures:
    """Adds up batches; a new query of the same run begins at `new_query`."""

    def __init__(self, topic: str, outputs: tuple[str, ...]) -> None:
        self._topic = topic
        self._outputs = outputs
        self._totals: Counter[str] = Counter()
        self._recent: deque[tuple[float, dict[str, int]]] = deque(maxlen=2000)
        self._last_batch = -1
        self._positions: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._durations: dict[str, int] = {}
        self._lock = threading.Lock()

    def new_query(self, positions: Mapping[int, int]) -> None:
        with self._lock:
            self._last_batch = -1
            self._positions.update(positions)

    def ends(self, ends: Mapping[tuple[str, int], int]) -> None:
        """Where the source's partitions end now; Spark tells only where they did at planning."""
        with self._lock:
            self._ends.update({partition: end for (_, partition), end in ends.items()})

    def add(self, document: dict[str, Any]) -> bool:
        """Count one of Spark's progress documents; False for one that says nothing new."""
        with self._lock:
            batch = int(document["batchId"])
            if batch <= self._last_batch:
                return False
            figures, positions = _observed(document)
            self._positions.update(positions)
            if not figures.get(EVENTS, 0) + figures.get(SKIPPED, 0):
                return False
            self._last_batch = batch
            for name, count in figures.items():
                if name not in LONGEST:
                    self._totals[name] += count
            self._recent.append((time.monotonic(), figures))
            self._durations = document["durationMs"]
            return True

    def has_reached(self, offsets: Mapping[int, int]) -> bool:
        with self._lock:
            return all(self._positions.get(each, 0) >= offset for each, offset in offsets.items())

    def progress(self, restarts: int) -> Progress:
        with self._lock:
            now = time.monotonic()
            recent = [each for each in self._recent if each[0] > now - WINDOW_S]
            span_s = max(1.0, now - recent[0][0]) if recent else 1.0
            read = sum(each[1].get(EVENTS, 0) for each in recent)
            written = sum(each[1].get(name, 0) for each in recent for name in self._outputs)
            return Progress(
                input_rate=read / span_s,
                output_rate=written / span_s,
                input_rows=self._totals[EVENTS],
                output_rows=sum(self._totals[name] for name in self._outputs),
                batches=self._totals[COMMITS],
                batch_ms_p50=_share([each[1].get(BATCH, 0) for each in recent], 0.5),
                batch_ms_p99=_share([each[1].get(BATCH, 0) for each in recent], 0.99),
                latency_ms_p50=_share([each[1].get(WAIT, 0) for each in recent], 0.5),
                latency_ms_p99=_share([each[1].get(WAIT_MAX, 0) for each in recent], 0.99),
                dead_letters=self._totals[DEAD_LETTERS],
                late=self._totals["late"],
                restarts=restarts,
                partitions=tuple(
                    PartitionProgress(self._topic, each, at, max(at, self._ends.get(each, at)))
                    for each, at in sorted(self._positions.items())
                ),
                extra={
                    **{name: count for name, count in self._totals.items() if name not in TIMES},
                    "duration_ms": self._durations,
                },
            )


def _observed(document: dict[str, Any]) -> tuple[dict[str, int], dict[int, int]]:
    """Counts, and the positions of all partitions: each slot tells its own as JSON."""
    row = dict(document.get("observedMetrics", {}).get(OBSERVATION) or {})
    told = [json.loads(each) for each in row.pop(POSITIONS, None) or []]
    positions = {int(each): offset for part in told for each, offset in part.items()}
    return {name: int(count or 0) for name, count in row.items()}, positions


def _share(values: list[int], share: float) -> float:
    ranked = sorted(values)
    return float(ranked[min(len(ranked) - 1, int(len(ranked) * share))]) if ranked else 0.0
