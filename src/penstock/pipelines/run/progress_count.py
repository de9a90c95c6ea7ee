"""Counting what the queries of a run report, into a `Progress`."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

from penstock.pipelines.run.progress import PartitionProgress, Progress

_WINDOW_S = 10.0
_BATCHES_KEPT = 512
_SINK_METRIC = "penstock.sink"


class ProgressCount:
    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        rules: Iterable[tuple[str, str]] = (),
    ) -> None:
        """`rules`: the expectations there are, by input or output and name."""
        self._monotonic = monotonic
        self._rules: dict[str, dict[str, dict[str, int]]] = {}
        for place, rule in rules:
            self._rules.setdefault(place, {})[rule] = {"passed": 0, "failed": 0}
        self._lock = threading.Lock()
        self._recent: deque[tuple[float, int, int]] = deque()
        self._durations_ms: deque[float] = deque(maxlen=_BATCHES_KEPT)
        self._begun = monotonic()
        self._input_rows = self._output_rows = self._batches = 0
        self._dead_letters = self._late = self._restarts = 0
        self._named: Counter[str] = Counter()
        """What the sink's own metric counts beside its rows."""
        self._positions: dict[tuple[str, int], int] = {}
        self._ends: dict[tuple[str, int], int] = {}

    def batch(self, progress: Mapping[str, Any], *, read: int | None = None) -> None:
        """One batch that had something to do. `read`: how much, if it is not what Spark counts."""
        if read is None:
            read = int(progress.get("numInputRows") or 0)
        written = _rows_written(progress)
        named = _observed(progress)
        spent = float(progress.get("durationMs", {}).get("triggerExecution", 0))
        with self._lock:
            self._recent.append((self._monotonic(), read, written))
            self._durations_ms.append(spent)
            self._input_rows += read
            self._output_rows += written
            self._batches += 1
            self._dead_letters += named.get("dead_letters", 0)
            self._late += named.get("late", 0)
            self._named.update({name: count for name, count in named.items() if name != "rows"})

    def add(self, *, dead_letters: int = 0, late: int = 0, restarts: int = 0) -> None:
        with self._lock:
            self._dead_letters += dead_letters
            self._late += late
            self._restarts += restarts

    def judged(self, told: Iterable[tuple[str, str, int, int]]) -> None:
        with self._lock:
            for place, rule, passed, failed in told:
                self._rules[place][rule]["passed"] += passed
                self._rules[place][rule]["failed"] += failed

    def stand(self, positions: Mapping[tuple[str, int], int]) -> None:
        with self._lock:
            self._positions.update(positions)

    def places(self) -> list[tuple[str, int]]:
        with self._lock:
            return list(self._positions)

    def ends(self, ends: Mapping[tuple[str, int], int]) -> None:
        with self._lock:
            self._ends.update(ends)

    def progress(self) -> Progress:
        with self._lock:
            read, written = self._rates()
            durations = sorted(self._durations_ms)
            return Progress(
                input_rate=read,
                output_rate=written,
                input_rows=self._input_rows,
                output_rows=self._output_rows,
                batches=self._batches,
                batch_ms_p50=quantile(durations, 0.5),
                batch_ms_p99=quantile(durations, 0.99),
                dead_letters=self._dead_letters,
                late=self._late,
                restarts=self._restarts,
                partitions=self._partitions(),
                extra=self._extra(),
            )

    def _extra(self) -> dict[str, Any]:
        rules = {"expectations": deepcopy(self._rules)} if self._rules else {}
        return {**self._named, **rules}

    def _rates(self) -> tuple[float, float]:
        now = self._monotonic()
        while self._recent and self._recent[0][0] < now - _WINDOW_S:
            self._recent.popleft()
        span = max(1.0, min(_WINDOW_S, now - self._begun))
        read = sum(each[1] for each in self._recent)
        written = sum(each[2] for each in self._recent)
        return round(read / span, 1), round(written / span, 1)

    def _partitions(self) -> tuple[PartitionProgress, ...]:
        return tuple(
            PartitionProgress(*where, position, max(position, self._ends.get(where, position)))
            for where, position in sorted(self._positions.items())
        )


def quantile(ordered: list[float], share: float) -> float:
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _rows_written(progress: Mapping[str, Any]) -> int:
    observed = _observed(progress)
    if "rows" in observed:
        return observed["rows"]
    return max(0, int(progress.get("sink", {}).get("numOutputRows") or 0))


def _observed(progress: Mapping[str, Any]) -> dict[str, int]:
    told = progress.get("observedMetrics", {}).get(_SINK_METRIC) or {}
    return {name: int(count or 0) for name, count in told.items()}
