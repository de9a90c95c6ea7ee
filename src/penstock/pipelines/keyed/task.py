"""What runs in a Spark worker: rows in Arrow to lanes, and a row of figures for each lane.

Lanes live as long as the worker process; a task finds those that earlier tasks left. All lanes of
a task commit side by side.
"""

from __future__ import annotations

import gc
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow
from confluent_kafka import KafkaException

from penstock.pipelines.keyed.event import Headers
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

if TYPE_CHECKING:
    from penstock.pipelines.sources.table import Table

COLUMNS = (
    "key",
    "value",
    "headers",
    "partition",
    "offset",
    "unix_millis(timestamp) as timestamp_ms",
)
LONGEST = (WAIT, WAIT_MAX)
# Where a task's time goes: waiting for rows, working on them, committing; and processor time.
TIMES = ("read_ms", "step_ms", "commit_ms", "cpu_ms", *LONGEST)
# A transaction's states and outputs wait in memory, and a long catch-up should show as it goes.
ROWS_PER_COMMIT = 50_000

_lanes: dict[tuple[str, str, int], Lane] = {}
_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def figures(spec: LaneSpec) -> list[str]:
    """The counted columns of the rows that a task returns."""
    return [EVENTS, SKIPPED, DEAD_LETTERS, STATES, *spec.outputs, *spec.counters, *TIMES]


def task(
    spec: LaneSpec, tables: Mapping[str, Table]
) -> Callable[[Iterable[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """The function that `mapInArrow` calls."""
    return partial(run_task, spec, tables)


def run_task(
    spec: LaneSpec, tables: Mapping[str, Table], batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    used: dict[int, Lane] = {}
    _open_all(spec)
    try:
        totals = _work(spec, tables, batches, used)
    except BaseException:
        # Whatever a lane holds now is half done; its next rows find it closed, and open it.
        for lane in used.values():
            lane.close()
        raise
    yield summary(spec, totals)


def _work(
    spec: LaneSpec,
    tables: Mapping[str, Table],
    batches: Iterable[pyarrow.RecordBatch],
    used: dict[int, Lane],
) -> Counter[str]:
    began, cpu = time.monotonic(), time.process_time()
    totals: Counter[str] = Counter()
    waiting = 0
    for batch in _timed(batches, totals):
        views = {name: table.follower().view() for name, table in tables.items()}
        for partition, rows in split(batch):
            used[partition] = lane = lane_of(spec, partition)
            lane.feed(rows, views)
        waiting += batch.num_rows
        if waiting >= ROWS_PER_COMMIT:
            _add(totals, commit(used.values()))
            waiting = 0
    _add(totals, commit(used.values()))
    elapsed_ms = int((time.monotonic() - began) * 1000)
    totals["step_ms"] = elapsed_ms - totals["commit_ms"] - totals["read_ms"]
    totals["cpu_ms"] = int((time.process_time() - cpu) * 1000)
    return totals


def _timed(
    batches: Iterable[pyarrow.RecordBatch], totals: Counter[str]
) -> Iterator[pyarrow.RecordBatch]:
    waited_s = 0.0
    began = time.monotonic()
    for batch in batches:
        waited_s += time.monotonic() - began
        yield batch
        began = time.monotonic()
    totals["read_ms"] = int((waited_s + time.monotonic() - began) * 1000)


def lane_of(spec: LaneSpec, partition: int) -> Lane:
    """This process's lane of the partition; one of an earlier run makes room."""
    key = (str(spec.client.get("bootstrap.servers")), spec.pipeline, partition)
    with _lock:
        lane = _lanes.get(key)
        if lane is None or lane.spec.run_ms != spec.run_ms:
            if lane is not None:
                lane.close()
            lane = _lanes[key] = Lane(spec, partition)
            # The states stay for good: looking through them again and again finds nothing.
            gc.freeze()
        return lane


def _open_all(spec: LaneSpec) -> None:
    """Open the lanes that this worker will get, side by side, where it has not done so yet."""
    lanes = [lane_of(spec, partition) for partition in range(spec.partitions)]
    if any(not lane.is_open for lane in lanes):
        list(_threads().map(_try_open, lanes))


def _try_open(lane: Lane) -> None:
    try:
        lane.open()
    except KafkaException:
        pass  # its first rows open it, with more patience


def split(batch: pyarrow.RecordBatch) -> Iterator[tuple[int, Rows]]:
    """The rows of each partition; Spark hands over one partition after the other."""
    partitions = batch.column("partition").to_numpy(zero_copy_only=False)
    start = 0
    while start < len(partitions):
        partition = partitions[start]
        differs = (partitions[start:] != partition).nonzero()[0]
        end = start + int(differs[0]) if len(differs) else len(partitions)
        yield int(partition), _rows(batch.slice(start, end - start))
        start = end


def _rows(batch: pyarrow.RecordBatch) -> Rows:
    headers = batch.column("headers")

    def headers_at(index: int) -> Headers:
        found = headers[index].as_py() or []
        return [(each["key"], each["value"]) for each in found]

    return Rows(
        batch.column("key").to_pylist(),
        batch.column("value").to_pylist(),
        batch.column("offset").to_pylist(),
        batch.column("timestamp_ms").to_pylist(),
        headers_at,
    )


def commit(lanes: Iterable[Lane]) -> Counter[str]:
    """Commit all of them side by side; what they came to together."""
    began = time.monotonic()
    lanes = list(lanes)
    totals: Counter[str] = Counter()
    if len(lanes) == 1:
        _add(totals, lanes[0].commit())
    elif lanes:
        for counts in list(_threads().map(Lane.commit, lanes)):
            _add(totals, counts)
    totals["commit_ms"] = int((time.monotonic() - began) * 1000)
    return totals


def _add(totals: Counter[str], counts: Counter[str]) -> None:
    for name, count in counts.items():
        totals[name] = max(totals[name], count) if name in LONGEST else totals[name] + count


def _threads() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max_workers=16, thread_name_prefix="lane")
    return _pool


def summary(spec: LaneSpec, totals: Mapping[str, int]) -> pyarrow.RecordBatch:
    names = figures(spec)
    columns: list[Any] = [pyarrow.array([totals.get(name, 0)], pyarrow.int64()) for name in names]
    return pyarrow.RecordBatch.from_arrays(columns, names)
