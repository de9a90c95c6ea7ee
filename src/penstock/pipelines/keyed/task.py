"""What runs in a Spark worker: it polls the slot of its process, and returns a row of figures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow

from penstock.pipelines.keyed.lane import DEAD_LETTERS, EVENTS, SKIPPED, STATES, LaneSpec
from penstock.pipelines.keyed.slot import COMMIT, COMMITS, LONGEST, READ, STEP, Slot

if TYPE_CHECKING:
    from penstock.pipelines.sources.table import Table

CPU = "cpu_ms"
# Where a slot's time goes: waiting for rows, working on them, committing; and processor time.
TIMES = (READ, STEP, COMMIT, CPU, *LONGEST)
POSITIONS = "positions"

_slots: dict[tuple[str, str, int], Slot] = {}
_lock = threading.Lock()
_cpu_s = 0.0


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
        totals = slot.attend(spec, tables)
    except BaseException:
        drop(slot)
        raise
    totals[CPU] = _cpu_ms()
    yield summary(spec, totals, slot.positions())


def slot_of(spec: LaneSpec, number: int) -> Slot:
    """This process's slot of that number; one of an earlier run makes room."""
    key = _key(spec, number)
    with _lock:
        slot = _slots.get(key)
        if slot is None or not slot.is_of(spec):
            if slot is not None:
                slot.close()
            slot = _slots[key] = Slot(spec, number)
        return slot


def drop(slot: Slot) -> None:
    """The next task begins anew, from what was committed."""
    with _lock:
        _slots.pop(_key(slot.spec, slot.number), None)
    slot.close()


def _key(spec: LaneSpec, number: int) -> tuple[str, str, int]:
    return str(spec.client.get("bootstrap.servers")), spec.pipeline, number


def _cpu_ms() -> int:
    """Processor time of this worker since the last call."""
    global _cpu_s
    before, _cpu_s = _cpu_s, time.process_time()
    return round((_cpu_s - before) * 1000)


def summary(
    spec: LaneSpec, totals: Mapping[str, int], positions: Mapping[int, int]
) -> pyarrow.RecordBatch:
    names = figures(spec)
    columns: list[Any] = [pyarrow.array([totals.get(name, 0)], pyarrow.int64()) for name in names]
    said = orjson.dumps({str(each): offset for each, offset in positions.items()}).decode()
    columns.append(pyarrow.array([said], pyarrow.string()))
    return pyarrow.RecordBatch.from_arrays(columns, [*names, POSITIONS])
