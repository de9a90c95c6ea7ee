"""Keyed pipelines with their states in Spark's store, on real Spark: restarts, kills, progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.kafka import admin, ensure_partitions, partition_count
from penstock.pipelines.keyed import Event, KeyedPipeline, keyed
from penstock.pipelines.sources.topic import topic
from penstock.testing.broker import Broker
from tests.pipelines.totals_kit import COMMITTED, PATIENCE_S, totals, workers_of, write_and_kill

pytestmark = [pytest.mark.java, pytest.mark.timeout(400)]

NOW = {"availableNow": True}


def adder(**more: Any) -> KeyedPipeline:
    # Within a function, so that the workers get it by value: they cannot import this module.
    @keyed(
        name="adder",
        source=topic("numbers"),
        decode=int,
        outputs={"totals": "totals"},
        state_in="spark",
        options={"spark.sql.shuffle.partitions": "2"},
        **more,
    )
    def add(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        state = state or {"total": 0}
        state["total"] += event.value
        late = [("late", None, None)] if event.value > 100 else []
        return state, [("totals", event.key, f"{state['total']} {os.getpid()}"), *late]

    return add


def test_it_goes_on_after_a_restart_and_spark_itself_counts_events_and_state(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=2)
    once = [(f"k{key}", "1") for key in range(20)]
    penstock.produce("numbers", [*once, ("a", "500"), ("b", "x")])
    running = pipeline_start(adder(), trigger=NOW)
    assert running.wait(PATIENCE_S)
    progress = running.progress()
    assert (progress.input_rows, progress.output_rows, progress.lag) == (22, 21, 0)
    assert (progress.dead_letters, progress.late) == (1, 1)
    assert progress.extra["totals"] == 21
    told = [each for query in running.queries for each in query.recentProgress]
    assert sum(each.numInputRows for each in told) == 22
    (operator,) = told[0].stateOperators
    assert operator.operatorName == "transformWithStateInPandasExec"
    assert operator.numShufflePartitions == 2
    assert operator.numRowsTotal == 4  # in both buckets an entry, and the head
    # A source that grows sends keys elsewhere; their states are where they were.
    client = admin({"bootstrap.servers": penstock.bootstrap_servers})
    ensure_partitions(client, "numbers", 3)
    penstock.produce("numbers", [*once, ("a", "5")])
    pipeline_start(adder(), trigger=NOW).wait(PATIENCE_S)
    expected = {key.encode(): [1, 2] for key, _ in once}
    assert totals(penstock, 42) == {**expected, b"a": [500, 505]}
    (letter,) = penstock.read("adder.dead-letters", count=1, settings=COMMITTED)
    assert (letter.key, letter.value) == (b"b", b"x")
    assert dict(letter.headers)["penstock.dlq.pipeline"] == b"adder"
    assert partition_count(client, "adder.state") == 0


def test_a_batch_whose_end_was_not_noted_is_judged_again_and_written_once(
    penstock: Broker, pipeline_start: Callable[..., Any], tmp_path: Path
) -> None:
    """As a driver leaves it that is killed between the last commit of a task and Spark's own."""
    penstock.create_topic("numbers", partitions=2)
    pairs = [(f"k{key}", "1") for key in range(10)]
    for _ in range(2):
        penstock.produce("numbers", pairs)
        pipeline_start(adder(), trigger=NOW).wait(PATIENCE_S)
    ended = tmp_path / "pipelines" / "adder" / "state" / "commits"
    (ended / "1").unlink()
    (ended / ".1.crc").unlink(missing_ok=True)
    penstock.produce("numbers", pairs)
    running = pipeline_start(adder(), trigger=NOW)
    assert running.wait(PATIENCE_S)
    assert running.progress().input_rows == 20  # the batch was judged again
    assert totals(penstock, 30) == {key.encode(): [1, 2, 3] for key, _ in pairs}
    with pytest.raises(RunError, match="has its states in Spark's store"):
        pipeline_start(adder().with_state_in("topic"), trigger=NOW)


@pytest.mark.penstock_only("a killed Kafka 4.3.0 may forget a transaction's markers")
def test_workers_and_broker_killed_mid_stream_change_no_total(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=2)
    running = pipeline_start(adder(), retry_backoff_s=0.1)
    expected = write_and_kill(penstock, 36, workers_at=(12,), broker_at=24)
    assert totals(penstock, 180) == expected
    running.stop()
    assert totals(penstock, 180) == expected
    assert len(workers_of(penstock)) > 1


def test_what_cannot_run_is_told_in_one_line(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers")
    with pytest.raises(DeclarationError, match="not for real-time mode"):
        pipeline_start(adder(), trigger={"realTime": "10 seconds"})
    with pytest.raises(DeclarationError, match="not in 'memory'"):
        adder().with_state_in("memory")
