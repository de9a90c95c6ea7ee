"""What runs in a Spark worker: a slot's partitions followed for a while, and a row of figures.

A slot has the partitions that one worker looks after: their lanes and the reader that feeds them.
It lives as long as the worker process, and each task of that slot takes it up where the last one
left it. All lanes of a slot commit side by side.
"""

from __future__ import annotations

import gc
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow
from confluent_kafka import OFFSET_BEGINNING

from penstock.pipelines.keyed.kafka import admin, end_offsets
from penstock.pipelines.keyed.lane import (
    DEAD_LETTERS,
    EVENTS,
    SKIPPED,
    STATES,
    WAIT,
    WAIT_MAX,
    Lane,
    LaneSpec,
    Rows,
)
from penstock.pipelines.keyed.reader import Reader

if TYPE_CHECKING:
    from penstock.pipelines.sources.table import Table

COMMITS = "commits"
BATCH = "batch_ms"
LONGEST = (WAIT, WAIT_MAX, BATCH)
# Where a task's time goes: waiting for rows, working on them, committing; and processor time.
TIMES = ("read_ms", "step_ms", "commit_ms", "cpu_ms", *LONGEST)
POSITIONS = "positions"
# A transaction costs the same for one row as for many: so long one waits for more of them,
READ_S = 0.03
# and with so many it does not wait: they are in memory, and a long catch-up should show as it goes.
ROWS_PER_COMMIT = 10_000

_slots: dict[tuple[str, str, int], Slot] = {}
_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def figures(spec: LaneSpec) -> list[str]:
    """The counted columns of the rows that a task returns."""
    counted = [EVENTS, SKIPPED, DEAD_LETTERS, STATES, COMMITS]
    return [*counted, *spec.outputs, *spec.counters, *TIMES]


def task(
    spec: LaneSpec, tables: Mapping[str, Table], slot: int
) -> Callable[[Iterable[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """The function that `mapInArrow` calls."""
    return partial(run_task, spec, tables, slot)


def run_task(
    spec: LaneSpec, tables: Mapping[str, Table], number: int, clock: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    for _ in clock:
        pass  # it says that it is time, and nothing else
    slot = slot_of(spec, number)
    try:
        totals = slot.follow(tables)
    except BaseException:
        # Rows were taken from the reader that no lane has committed: begin again from the lanes.
        drop(slot)
        raise
    yield summary(spec, totals, slot.positions())


class Slot:
    def __init__(self, spec: LaneSpec, number: int) -> None:
        self.spec = spec
        self.number = number
        own = range(number, spec.partitions, spec.slots)
        self._lanes = {partition: Lane(spec, partition) for partition in own}
        self._reader: Reader | None = None

    def is_of(self, spec: LaneSpec) -> bool:
        """Whether it belongs to the same run over the same partitions."""
        own = self.spec
        return (own.run_ms, own.partitions, own.slots) == (
            spec.run_ms,
            spec.partitions,
            spec.slots,
        )

    def positions(self) -> dict[int, int]:
        found = {partition: lane.position for partition, lane in self._lanes.items()}
        return {each: position for each, position in found.items() if position is not None}

    def follow(self, tables: Mapping[str, Table]) -> Counter[str]:
        """Work on what comes until the time is over, or the end is reached where that is asked."""
        began, cpu = time.monotonic(), time.process_time()
        totals: Counter[str] = Counter()
        waits: list[int] = []
        reader = self._open()
        ends = self._ends() if self.spec.to_end else None
        while not self._is_done(reader, ends, began):
            asked = time.monotonic()
            parts = reader.read(ROWS_PER_COMMIT, READ_S)
            totals["read_ms"] += _ms_since(asked)
            if parts:
                counts = self._work(parts, tables)
                waits.append(counts.pop(WAIT, 0))
                _add(totals, counts)
        totals["step_ms"] = _ms_since(began) - totals["commit_ms"] - totals["read_ms"]
        totals["cpu_ms"] = int((time.process_time() - cpu) * 1000)
        totals[WAIT] = int(median(waits)) if waits else 0
        return totals

    def close(self) -> None:
        for lane in self._lanes.values():
            lane.close()
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self) -> Reader:
        if self._reader is None:
            list(_threads().map(Lane.open, self._lanes.values()))
            # The states stay for good: looking through them again and again finds nothing.
            gc.freeze()
            spec = self.spec
            starts = {
                partition: spec.starting.get(partition, OFFSET_BEGINNING)
                if lane.position is None
                else lane.position
                for partition, lane in self._lanes.items()
            }
            self._reader = Reader(spec.client, f"{spec.pipeline}.read", spec.topic, starts)
        return self._reader

    def _ends(self) -> dict[int, int]:
        places = [(self.spec.topic, each) for each in self._lanes]
        found = end_offsets(admin(self.spec.client), places)
        return {partition: end for (_, partition), end in found.items()}

    def _is_done(self, reader: Reader, ends: Mapping[int, int] | None, began: float) -> bool:
        if self.spec.halt and Path(self.spec.halt).exists():
            return True
        if ends is not None:
            return reader.has_reached(ends)
        return time.monotonic() - began >= self.spec.epoch_s

    def _work(self, parts: Mapping[int, Rows], tables: Mapping[str, Table]) -> Counter[str]:
        began = time.monotonic()
        views = {name: table.follower().view() for name, table in tables.items()}
        for partition, rows in parts.items():
            self._lanes[partition].feed(rows, views)
        counts = commit([self._lanes[partition] for partition in parts])
        counts[BATCH] = _ms_since(began)
        return counts


def slot_of(spec: LaneSpec, number: int) -> Slot:
    """This process's slot of that number; one of an earlier run makes room."""
    key = _key(spec, number)
    with _lock:
        slot = _slots.get(key)
        if slot is None or not slot.is_of(spec):
            if slot is not None:
                slot.close()
            slot = _slots[key] = Slot(spec, number)
        # What a start says anew (where to stop, and when) holds from here.
        slot.spec = spec
        return slot


def drop(slot: Slot) -> None:
    with _lock:
        _slots.pop(_key(slot.spec, slot.number), None)
    slot.close()


def _key(spec: LaneSpec, number: int) -> tuple[str, str, int]:
    return str(spec.client.get("bootstrap.servers")), spec.pipeline, number


def commit(lanes: list[Lane]) -> Counter[str]:
    """Commit all of them side by side; what they came to together."""
    began = time.monotonic()
    totals: Counter[str] = Counter()
    if len(lanes) == 1:
        _add(totals, lanes[0].commit())
    elif lanes:
        for counts in list(_threads().map(Lane.commit, lanes)):
            _add(totals, counts)
    totals["commit_ms"] = _ms_since(began)
    totals[COMMITS] = 1
    return totals


def _add(totals: Counter[str], counts: Counter[str]) -> None:
    for name, count in counts.items():
        totals[name] = max(totals[name], count) if name in LONGEST else totals[name] + count


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


def _threads() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max_workers=16, thread_name_prefix="lane")
    return _pool


def summary(
    spec: LaneSpec, totals: Mapping[str, int], positions: Mapping[int, int]
) -> pyarrow.RecordBatch:
    names = figures(spec)
    columns: list[Any] = [pyarrow.array([totals.get(name, 0)], pyarrow.int64()) for name in names]
    said = orjson.dumps({str(each): offset for each, offset in positions.items()}).decode()
    columns.append(pyarrow.array([said], pyarrow.string()))
    return pyarrow.RecordBatch.from_arrays(columns, [*names, POSITIONS])
