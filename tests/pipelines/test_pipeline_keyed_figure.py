"""Figures of a keyed run from Spark's progress documents."""

from __future__ import annotations

import json
from typing import Any

from penstock.pipelines.keyed.figure import Figures


def document(batch: int, rows: int, end: int, **observed: int) -> dict[str, Any]:
    figures = {"events": rows, "commits": 2, "batch_ms": 120, **observed}
    return {
        "batchId": batch,
        "durationMs": {"triggerExecution": 2120},
        "observedMetrics": {"lanes": {**figures, "positions": [json.dumps({"0": end})]}},
    }


def test_batches_add_up_and_are_counted_once() -> None:
    figures = Figures("t", ("out",))
    figures.new_query({0: 0})
    assert figures.add(document(0, 10, 10, out=9, dead_letters=1, late=2, wait_ms=40))
    assert not figures.add(document(0, 10, 10, out=9))
    assert not figures.add(document(1, 0, 10))
    assert figures.add(document(1, 5, 15, out=5, wait_ms=60))
    figures.ends({("t", 0): 20})
    progress = figures.progress(restarts=3)
    assert (progress.input_rows, progress.output_rows, progress.batches) == (15, 14, 4)
    assert (progress.dead_letters, progress.late, progress.restarts) == (1, 2, 3)
    assert progress.batch_ms_p50 == 120
    assert progress.latency_ms_p50 == 60
    assert progress.lag == 5
    figures.new_query({0: 15})
    assert figures.add(document(0, 5, 20))
    assert figures.progress(0).input_rows == 20


def test_what_waits_shows_before_the_first_batch_and_between_batches() -> None:
    figures = Figures("t", ("out",))
    figures.new_query({0: 7})
    figures.ends({("t", 0): 107})
    assert figures.progress(0).lag == 100
    figures.add(document(0, 10, 17))
    figures.ends({("t", 0): 40})
    assert figures.progress(0).lag == 23
