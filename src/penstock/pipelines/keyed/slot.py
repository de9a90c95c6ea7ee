"""A slot: the partitions that one worker process looks after, their lanes and who feeds them.

A thread of its own reads, has the lanes work and commit, and reads again. Spark's tasks only look
in: each starts the thread if it is not there, waits for its time, and takes the figures. The thread
goes on for a moment without a task, so the events of that moment do not wait for the next one; a
slot that no task has asked for that long comes to rest. All lanes commit side by side.
"""

from __future__ import annotations

import gc
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import OFFSET_BEGINNING

from penstock.pipelines.kafka import admin, end_offsets
from penstock.pipelines.keyed.lane import WAIT, WAIT_MAX, Lane, LaneSpec, Rows
from penstock.pipelines.keyed.reader import Reader

if TYPE_CHECKING:
    from penstock.pipelines.sources.table import Table

COMMITS, BATCH = "commits", "batch_ms"
READ, STEP, COMMIT = "read_ms", "step_ms", "commit_ms"
# The longest of all counts: from a record's time stamp to its commit, and for one transaction.
LONGEST = (WAIT, WAIT_MAX, BATCH)
# A transaction costs the same for one row as for many: so long one waits for more of them,
READ_S = 0.03
# and with so many it does not wait: they are in memory, and a long catch-up should show as it goes.
ROWS_PER_COMMIT = 10_000


class Slot:
    def __init__(self, spec: LaneSpec, number: int) -> None:
        self.spec = spec
        self.number = number
        own = range(number, spec.partitions, spec.slots)
        self._lanes = {partition: Lane(spec, partition) for partition in own}
        self._reader: Reader | None = None
        self._pool = ThreadPoolExecutor(max_workers=16, thread_name_prefix="lane")
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._totals: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._until = 0.0

    def is_of(self, spec: LaneSpec) -> bool:
        """Whether it belongs to the same run over the same partitions."""
        own = self.spec
        mine = (own.run_ms, own.partitions, own.slots)
        return mine == (spec.run_ms, spec.partitions, spec.slots)

    def positions(self) -> dict[int, int]:
        found = {partition: lane.position for partition, lane in self._lanes.items()}
        return {each: position for each, position in found.items() if position is not None}

    def attend(self, spec: LaneSpec, tables: Mapping[str, Table]) -> Counter[str]:
        """Have it work for an epoch, or to the end where that is asked; what it came to."""
        # What a start says anew (where to stop, and when) holds from here.
        self.spec = spec
        self._until = float("inf")
        thread = self._thread
        if thread is None or not thread.is_alive():
            thread = self._thread = threading.Thread(
                target=self._run, args=(tables,), name=f"slot-{self.number}", daemon=True
            )
            thread.start()
        thread.join(None if spec.to_end else spec.epoch_s)
        self._until = time.monotonic() + spec.overtime_s
        if not spec.overtime_s:
            thread.join()
        if self._failure is not None:
            raise self._failure
        with self._lock:
            totals, self._totals = self._totals, Counter()
        # Of a record in the middle of its transaction; the mean of all transactions.
        totals[WAIT] //= totals[COMMITS] or 1
        return totals

    def close(self) -> None:
        """Leave what is not committed."""
        self._until = 0.0
        if self._thread is not None:
            self._thread.join()
        for lane in self._lanes.values():
            lane.close()
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._pool.shutdown()

    def _run(self, tables: Mapping[str, Table]) -> None:
        try:
            reader = self._open()
            ends = self._ends() if self.spec.to_end else None
            while not self._is_over(reader, ends):
                self._once(reader, tables)
        except BaseException as failure:
            # Rows were taken from the reader that no lane has committed: no going on from here.
            self._failure = failure

    def _is_over(self, reader: Reader, ends: Mapping[int, int] | None) -> bool:
        if time.monotonic() > self._until or Path(self.spec.halt).is_file():
            return True
        return ends is not None and reader.has_reached(ends)

    def _once(self, reader: Reader, tables: Mapping[str, Table]) -> None:
        asked = time.monotonic()
        parts = reader.read(ROWS_PER_COMMIT, READ_S)
        came = time.monotonic()
        counts = self._work(parts, tables) if parts else Counter()
        took_ms = _ms(time.monotonic() - came)
        counts[READ] = _ms(came - asked)
        if parts:
            counts[BATCH] = took_ms
            counts[STEP] = took_ms - counts[COMMIT]
        wait_ms = counts.pop(WAIT, 0)
        with self._lock:
            add_counts(self._totals, counts)
            self._totals[WAIT] += wait_ms

    def _work(self, parts: Mapping[int, Rows], tables: Mapping[str, Table]) -> Counter[str]:
        views = {name: table.follower().view() for name, table in tables.items()}
        for partition, rows in parts.items():
            self._lanes[partition].feed(rows, views)
        return self._commit([self._lanes[partition] for partition in parts])

    def _commit(self, lanes: list[Lane]) -> Counter[str]:
        began = time.monotonic()
        totals: Counter[str] = Counter({COMMITS: 1})
        done = [lanes[0].commit()] if len(lanes) == 1 else self._pool.map(Lane.commit, lanes)
        for counts in done:
            add_counts(totals, counts)
        totals[COMMIT] = _ms(time.monotonic() - began)
        return totals

    def _open(self) -> Reader:
        if self._reader is None:
            list(self._pool.map(Lane.open, self._lanes.values()))
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


def add_counts(totals: Counter[str], counts: Counter[str]) -> None:
    for name, count in counts.items():
        totals[name] = max(totals[name], count) if name in LONGEST else totals[name] + count


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
