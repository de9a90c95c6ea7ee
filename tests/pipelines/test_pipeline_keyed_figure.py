"""Figures of a keyed run from what lanes report and from Spark's progress documents."""

from __future__ import annotations

from typing import Any

from penstock.pipelines.keyed.figure import Figures
from penstock.pipelines.keyed.report import PartitionReport

COUNTED = ("events", "dead_letters", "out", "late")


def figures() -> Figures:
    return Figures("t", COUNTED, ("out",))


def report(offset: int, *counts: int, waited_ms: tuple[int, int] = (0, 0)) -> PartitionReport:
    return PartitionReport(offset, counts, waited_ms)


def document(batch: int, end: int, took_ms: int = 120) -> dict[str, Any]:
    return {
        "batchId": batch,
        "durationMs": {"triggerExecution": took_ms},
        "sources": [{"endOffset": {"t": {"0": end}}}],
    }


def test_partitions_and_queries_add_up() -> None:
    own = figures()
    own.new_query({0: 0, 1: 7})
    assert not own.take({0: report(0), 1: report(7)})
    assert own.take({0: report(10, 10, 1, 9, 2, waited_ms=(40, 70)), 1: report(7)})
    assert not own.take({0: report(10, 10, 1, 9, 2)})
    assert own.take({1: report(12, 5, 0, 5, 0, waited_ms=(60, 90))})
    own.ends({("t", 0): 20, ("t", 1): 12})
    progress = own.progress(restarts=3)
    assert (progress.input_rows, progress.output_rows, progress.lag) == (15, 14, 10)
    assert (progress.dead_letters, progress.late, progress.restarts) == (1, 2, 3)
    assert (progress.latency_ms_p50, progress.latency_ms_p99) == (60, 90)
    own.new_query({0: 10, 1: 12})
    assert own.progress(0).input_rows == 15
    own.take({0: report(20, 10, 0, 10, 0)})
    assert own.progress(0).input_rows == 25


def test_a_look_that_is_older_than_the_one_before_takes_nothing_back() -> None:
    own = figures()
    own.new_query({0: 0})
    own.take({0: report(10, 10, 0, 10, 0)})
    assert not own.take({0: report(5, 5, 0, 5, 0)})
    assert own.progress(0).input_rows == 10


def test_batches_are_spark_s_and_reach_over_offsets_that_hold_no_record() -> None:
    own = figures()
    own.new_query({0: 0})
    own.add(document(0, 10))
    own.add(document(0, 10))
    own.add(document(3, 40, took_ms=80))
    own.take({0: report(39, 30, 0, 30, 0)})  # the last offset is a marker of a transaction
    own.ends({("t", 0): 40})
    progress = own.progress(0)
    assert (progress.batches, progress.batch_ms_p50, progress.lag) == (4, 120, 0)
    assert own.has_reached({0: 40})
    assert not own.has_reached({0: 41})


def test_what_waits_shows_before_the_first_batch() -> None:
    own = figures()
    own.new_query({0: 7})
    own.ends({("t", 0): 107})
    assert own.progress(0).lag == 100
