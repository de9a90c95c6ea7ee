"""What a Spark task does with the rows that Spark has read, in a Python worker.

It sorts them by partition, hands them to the lanes, and has these commit before it ends: so Spark
takes a batch as done only when all of it is written. Lanes stay in the worker process for the next
batch. That is for speed alone: a lane that did not work for the batch before opens anew, wherever
its partition was meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.pipelines.keyed.ahead import taken_together
from penstock.pipelines.keyed.event import Headers
from penstock.pipelines.keyed.expected import BROKEN
from penstock.pipelines.keyed.judging import Rows
from penstock.pipelines.keyed.lane import Lane, LaneSpec
from penstock.pipelines.worker_memory import settle

if TYPE_CHECKING:
    import pyarrow

    from penstock.pipelines.sources.table import Table

COLUMNS = ("key", "value", "partition", "offset", "timestamp_ms", "headers")
FOLLOWS = "follows"
"""A column of real-time mode: true for rows that are no event, and only follow one."""
SCHEMA = "partition int, position long"
"""What a task gives back: where each of its partitions stands."""
_BATCH_ID = "streaming.sql.batchId"
# A long catch-up is committed as it goes: a transaction is to end well before its time-out.
ROWS_PER_COMMIT = 20_000
SECONDS_PER_COMMIT = 5.0

Batches = Iterator["pyarrow.RecordBatch"]
_lanes: dict[tuple[str, int], Lane] = {}


def task(
    spec: LaneSpec, tables: Mapping[str, Table], partitions: Collection[int], *, real_time: bool
) -> Callable[[Batches], Batches]:
    """The function that `mapInArrow` calls, for the rows of these partitions."""
    return partial(_in_context, spec, tables, partitions, real_time)


def _in_context(
    spec: LaneSpec,
    tables: Mapping[str, Table],
    partitions: Collection[int],
    real_time: bool,
    batches: Batches,
) -> Batches:
    from pyspark import TaskContext

    settle()
    context = TaskContext.get()
    said = None if context is None else context.getLocalProperty(_BATCH_ID)
    batch = None if said is None else int(said)
    return run_task(spec, tables, partitions, batches, batch, real_time=real_time)


def run_task(
    spec: LaneSpec,
    tables: Mapping[str, Table],
    partitions: Collection[int],
    batches: Batches,
    batch: int | None = None,
    *,
    real_time: bool = False,
) -> Iterator[pyarrow.RecordBatch]:
    """In real-time mode a task goes on for as long as Spark's long batch, and commits what came
    at once; else at its end, or when there is much."""
    lanes = {each: lane_of(spec, each, batch) for each in partitions}
    try:
        for each in _joined(batches) if real_time else batches:
            views = {name: table.follower().view() for name, table in tables.items()}
            for partition, rows in rows_by_partition(each):
                lanes[partition].feed(rows, views)
            commit([lane for lane in lanes.values() if _is_due(lane, real_time)])
        commit([lane for lane in lanes.values() if lane.began_s is not None])
    except BaseException:
        drop(spec)
        raise
    for lane in lanes.values():
        lane.batch = batch
    yield _positions(lanes)


def lane_of(spec: LaneSpec, partition: int, batch: int | None) -> Lane:
    """This process's lane for the partition, in the state that the last batch has left."""
    lane = _lanes.get((spec.run, partition))
    if lane is None:
        # A worker works for one query at a time: what others have left here is of no more use.
        for key in [key for key in _lanes if key[0] != spec.run]:
            _lanes.pop(key).close()
        lane = _lanes[spec.run, partition] = Lane(spec, partition)
    elif batch is None or lane.batch != batch - 1:
        lane.close()
    return lane


def commit(lanes: list[Lane]) -> None:
    """All side by side."""
    if len(lanes) == 1:
        lanes[0].commit()
    elif lanes:
        with ThreadPoolExecutor(max_workers=min(len(lanes), 16)) as threads:
            list(threads.map(Lane.commit, lanes))


def drop(spec: LaneSpec) -> None:
    """The next task begins anew, from what was committed."""
    for key in [key for key in _lanes if key[0] == spec.run]:
        _lanes.pop(key).close()


def _is_due(lane: Lane, real_time: bool) -> bool:
    if real_time or lane.began_s is None:
        return lane.began_s is not None
    long = time.monotonic() - lane.began_s > SECONDS_PER_COMMIT
    return long or lane.rows_pending >= ROWS_PER_COMMIT


def _joined(batches: Batches) -> Batches:
    """Small batches as one, as many as are there: what is done once for each costs the most."""
    import pyarrow
    from pyarrow import compute

    for together in taken_together(batches):
        table = pyarrow.Table.from_batches(together)
        if FOLLOWS in table.column_names:
            table = table.filter(compute.invert(table.column(FOLLOWS)))
        yield from table.combine_chunks().to_batches()


def rows_by_partition(batch: pyarrow.RecordBatch) -> Iterator[tuple[int, Rows]]:
    """Spark reads one partition after the other; a batch may hold the end of one and the next."""
    numbers: Any = batch.column("partition").to_numpy()
    bounds = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
    for start, end in pairwise(bounds):
        if start < end:
            yield int(numbers[start]), _rows(batch.slice(start, end - start))


def _rows(batch: pyarrow.RecordBatch) -> Rows:
    headers = batch.column("headers")

    def headers_of(index: int) -> Headers:
        return [(each["key"], each["value"]) for each in headers[index].as_py() or ()]

    return Rows(
        batch.column("key").to_pylist(),
        batch.column("value").to_pylist(),
        batch.column("offset").to_pylist(),
        batch.column("timestamp_ms").to_pylist(),
        headers_of,
        batch.column(BROKEN).to_pylist() if BROKEN in batch.schema.names else (),
    )


def _positions(lanes: Mapping[int, Lane]) -> pyarrow.RecordBatch:
    import pyarrow

    numbers = pyarrow.array(list(lanes), pyarrow.int32())
    positions = pyarrow.array([lane.position for lane in lanes.values()], pyarrow.int64())
    return pyarrow.RecordBatch.from_arrays([numbers, positions], ["partition", "position"])
