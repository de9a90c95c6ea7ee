"""What queries report of their batches, brought from Spark's listener to a queue."""

from __future__ import annotations

import json
import queue
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryListener


@dataclass(frozen=True, slots=True)
class QueryReport:
    run_id: str
    progress: dict[str, Any] | None = None
    ended_before: int | None = None
    """Said at the start: the last batch that an earlier run has ended. With neither, the query has
    ended, and nothing more comes of this run of it."""


def listener(reports: queue.SimpleQueue[QueryReport]) -> StreamingQueryListener:
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None: ...

        def onQueryIdle(self, event: Any) -> None: ...

        def onQueryProgress(self, event: Any) -> None:
            progress = json.loads(event.progress.json)
            reports.put(QueryReport(str(progress["runId"]), progress))

        def onQueryTerminated(self, event: Any) -> None:
            reports.put(QueryReport(str(event.runId)))

    return Listener()
