"""Between two batches of a query: the place to stop it at."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_POLL_S = 0.01


def wait_for_boundary(query: StreamingQuery, patience_s: float) -> None:
    """Until the batch under way has ended; at once where the query only waits for data."""
    before = _last_batch(query)
    deadline = time.monotonic() + patience_s
    while query.isActive and query.status["isTriggerActive"]:
        if _last_batch(query) != before or time.monotonic() > deadline:
            return
        time.sleep(_POLL_S)


def _last_batch(query: StreamingQuery) -> int:
    last = query.lastProgress
    return -1 if last is None else int(last["batchId"])
