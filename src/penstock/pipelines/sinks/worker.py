"""Python workers that one query has to itself while it runs.

Spark gives a task whichever idle worker it finds among those of the same environment, and opening
a producer in another worker costs a tenth of a second. A variable of our own in the environment
sets workers apart: where one task writes, one worker has its producer for good, whatever other
queries and functions do meanwhile. The value is a small number that a later query takes over, and
with it workers that have everything loaded.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_VARIABLE = "PENSTOCK_WORKERS"
_SLOT = "PENSTOCK_SLOT"
_holders: dict[int, StreamingQuery | weakref.ref[Workers]] = {}
_lock = threading.Lock()


@contextmanager
def own_workers(
    spark: SparkSession,
) -> Iterator[Callable[[StreamingQuery], StreamingQuery]]:
    """Python functions made inside run in workers of the query that is handed to what it gives."""
    environment = spark.sparkContext.environment
    with _lock:
        number = _free_number()
        environment[_VARIABLE] = str(number)

        def keep(query: StreamingQuery) -> StreamingQuery:
            _holders[number] = query
            return query

        try:
            yield keep
        finally:
            environment.pop(_VARIABLE, None)


class Workers:
    """The same for whoever makes functions now and then: its own workers while it lives."""

    def __init__(self, spark: SparkSession) -> None:
        self._environment = spark.sparkContext.environment
        with _lock:
            self._number = _free_number()
            _holders[self._number] = weakref.ref(self)

    @contextmanager
    def functions(self) -> Iterator[None]:
        with _lock:
            self._environment[_VARIABLE] = str(self._number)
            try:
                yield
            finally:
                self._environment.pop(_VARIABLE, None)


@contextmanager
def worker_slot(spark: SparkSession, slot: int) -> Iterator[None]:
    """Python functions made inside run in a worker that no other slot's functions run in."""
    environment = spark.sparkContext.environment
    environment[_SLOT] = str(slot)
    try:
        yield
    finally:
        environment.pop(_SLOT, None)


def _free_number() -> int:
    return next(each for each in range(len(_holders) + 1) if _is_free(each))


def _is_free(number: int) -> bool:
    holder = _holders.get(number)
    if holder is None:
        return True
    if isinstance(holder, weakref.ref):
        return holder() is None
    try:
        return not holder.isActive
    except Exception:
        return True  # its session is gone, and so are its workers
