"""A query while it runs: started again after what passes, stopped between batches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.pipelines.run.batch_boundary import wait_for_boundary
from penstock.pipelines.run.batch_log import Positions, as_positions
from penstock.pipelines.run.plan import INPUT_METRIC, OUTPUT_METRIC
from penstock.pipelines.run.rejected import RejectedRows, Search
from penstock.pipelines.run.shared_query import SharedQuery
from penstock.pipelines.sinks.contract import ROWS_METRIC
from penstock.pipelines.transforms.each import FAILED
from penstock.pipelines.transforms.expectation import outcomes

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.declare import Pipeline


@dataclass(slots=True)
class OutputQuery:
    name: str
    outputs: tuple[str, ...]
    pipeline: Pipeline
    begin: Callable[[], StreamingQuery]
    rejected: RejectedRows
    shared: SharedQuery | None = None
    """What it hands batches to, where it has several outputs."""
    inputs: tuple[str, ...] = ()
    """Those that its frame is made of, where that is known."""
    owns_poison: frozenset[str] = frozenset()
    """Inputs whose dead letters this query tells; each input has one that does."""
    query: StreamingQuery | None = None
    finished: bool = False
    waits: bool = False
    """Stopped, until what has ended is followed up."""
    failures: int = 0
    """In a row, without a batch between them."""
    positions: dict[tuple[str, int], int] = field(default_factory=dict)
    seen_batch: int = -1
    """The last batch whose report was handled."""
    boundary: threading.Condition = field(default_factory=threading.Condition)

    def start(self) -> None:
        self.query = self.begin()
        self.rejected.query_id = str(self.query.id)

    @property
    def failing(self) -> str:
        """The output at which it fails, as far as that is known."""
        writing = None if self.shared is None else self.shared.writing
        return writing or ", ".join(self.outputs)

    def told(self, progress: dict[str, Any]) -> dict[str, Any]:
        return progress if self.shared is None else self.shared.told(progress)

    def search(self, progress: Mapping[str, Any]) -> Search:
        """What the batch says it holds; with no such word, all there may be."""
        watermark = _millis((progress.get("eventTime") or {}).get("watermark"))
        poison, late = set(), set()
        failed: dict[str, list[dict[str, Any]]] = {}
        for name in set(self.rejected.inputs):
            told = self._told_of(name, progress)
            if name in self.owns_poison and (told is None or (told.get("poison") or 0) > 0):
                poison.add(name)
                if told is not None and told.get(FAILED) is not None:
                    failed[name] = told[FAILED]
            if self.pipeline.inputs[name].event_time is not None:
                oldest = None if told is None else told.get("oldest_ms")
                if told is None or (oldest is not None and oldest < watermark):
                    late.add(name)
        return Search(frozenset(poison), frozenset(late), failed)

    def _told_of(self, name: str, progress: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What the batch counted of an input; None where it does not tell of all that is in it.

        A sink that has a batch leaves it out when it is repeated, and then nothing was counted.
        """
        told = (progress.get("observedMetrics") or {}).get(INPUT_METRIC + name)
        # Spark's log has an input twice that is joined with itself, and its reports once.
        names, sources = tuple(dict.fromkeys(self.rejected.inputs)), progress["sources"]
        if told is None or len(names) != len(sources):
            return None
        start, end = _range(sources[names.index(name)])
        return told if told.get("rows") or start == end else None

    def everything(self) -> Search:
        timed = {n for n, each in self.pipeline.inputs.items() if each.event_time is not None}
        return Search(self.owns_poison, frozenset(timed))

    def judged(self, progress: Mapping[str, Any]) -> Iterator[tuple[str, str, int, int]]:
        """What came of expectations: the input or output, the rule, rows passed and failed."""
        observed = progress.get("observedMetrics") or {}
        for name in sorted(self.owns_poison):
            told = observed.get(INPUT_METRIC + name) or {}
            for rule, passed, failed in outcomes(self.pipeline.inputs[name].expect, told):
                yield name, rule, passed, failed
        for output in self.outputs:
            told = observed.get(OUTPUT_METRIC + output) or {}
            for rule, passed, failed in outcomes(self.pipeline.expect.get(output, ()), told):
                yield output, rule, passed, failed

    def rows_and_poison(self, progress: Mapping[str, Any]) -> tuple[int, int]:
        """Of the inputs whose dead letters this query tells, as the batch reported them."""
        observed = progress.get("observedMetrics") or {}
        told = [observed.get(INPUT_METRIC + name) or {} for name in self.owns_poison]
        # A sink that calls a function for each row has dead letters of its own.
        own = int((observed.get(ROWS_METRIC) or {}).get("dead_letters") or 0)
        return (
            sum(int(each.get("rows") or 0) for each in told),
            sum(int(each.get("poison") or 0) for each in told) + own,
        )

    def read_up_to(self, progress: Mapping[str, Any]) -> None:
        for source in progress["sources"]:
            end = as_positions(source.get("endOffset")) or {}
            for topic, partitions in end.items():
                for partition, offset in partitions.items():
                    self.positions[topic, int(partition)] = offset

    def batch_ended(self, number: int) -> None:
        with self.boundary:
            self.seen_batch = max(self.seen_batch, number)
            self.boundary.notify_all()

    def stop_between_batches(self, patience_s: float) -> None:
        """Wait for the batch under way, then stop: at once where the query only waits for data.

        What the next batch may have begun by then is begun again at the next start.
        """
        query = self.query
        if query is None or not query.isActive:
            return
        wait_for_boundary(query, patience_s)
        query.stop()


def _range(source: Mapping[str, Any]) -> tuple[Positions | None, Positions | None]:
    return as_positions(source.get("startOffset")), as_positions(source.get("endOffset"))


def _millis(stamp: str | None) -> int:
    from datetime import datetime

    if stamp is None:
        return 0
    return int(datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp() * 1000)
