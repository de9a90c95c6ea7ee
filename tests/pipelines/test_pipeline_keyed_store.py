"""Keyed pipelines with their states in Spark's store, on real Spark: restarts, kills, progress."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from penstock.pipelines.error import DeclarationError
from penstock.pipelines.kafka import admin, partition_count
from penstock.pipelines.keyed import Event, KeyedPipeline, keyed
from penstock.pipelines.sources.topic import topic
from penstock.testing.broker import Broker

pytestmark = [pytest.mark.java, pytest.mark.timeout(400)]

COMMITTED = {"isolation.level": "read_committed"}
PATIENCE_S = 120.0


def adder(**more: Any) -> KeyedPipeline:
    # Within a function, so that the workers get it by value: they cannot import this module.
    @keyed(
        name="adder",
        source=topic("numbers"),
        decode=int,
        outputs={"totals": "totals"},
        state_in="spark",
        **more,
    )
    def add(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        state = state or {"total": 0}
        state["total"] += event.value
        late = [("late", None, None)] if event.value > 100 else []
        return state, [("totals", event.key, f"{state['total']} {os.getpid()}"), *late]

    return add


def totals(broker: Broker, count: int) -> dict[bytes, list[int]]:
    """The totals of each key in their order; all of one key are in one partition."""
    broker.read("totals", count=count, timeout_s=PATIENCE_S, settings=COMMITTED)
    found: dict[bytes, list[int]] = {}
    for each in broker.read("totals", timeout_s=PATIENCE_S, settings=COMMITTED):
        found.setdefault(each.key or b"", []).append(int((each.value or b"").split()[0]))
    return found


def test_it_goes_on_after_a_restart_and_spark_itself_counts_events_and_state(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=2)
    penstock.produce("numbers", [("a", "1"), ("b", "x"), ("a", "2"), ("c", "500")])
    running = pipeline_start(adder(), trigger={"availableNow": True})
    assert running.wait(PATIENCE_S)
    progress = running.progress()
    assert (progress.input_rows, progress.output_rows, progress.lag) == (4, 3, 0)
    assert (progress.dead_letters, progress.late) == (1, 1)
    assert progress.extra["totals"] == 3
    told = [each for query in running.queries for each in query.recentProgress]
    assert sum(each.numInputRows for each in told) == 4
    (operator,) = told[0].stateOperators
    assert operator.operatorName == "transformWithStateInPandasExec"
    assert operator.numRowsTotal > 0
    penstock.produce("numbers", [("a", "4"), ("c", "5"), ("d", "1")])
    pipeline_start(adder(), trigger={"availableNow": True}).wait(PATIENCE_S)
    assert totals(penstock, 6) == {b"a": [1, 3, 7], b"c": [500, 505], b"d": [1]}
    (letter,) = penstock.read("adder.dead-letters", count=1, settings=COMMITTED)
    assert (letter.key, letter.value) == (b"b", b"x")
    assert dict(letter.headers)["penstock.dlq.pipeline"] == b"adder"
    client = admin({"bootstrap.servers": penstock.bootstrap_servers})
    assert partition_count(client, "adder.state") == 0


@pytest.mark.penstock_only("a killed Kafka 4.3.0 may forget a transaction's markers")
def test_workers_and_broker_killed_mid_stream_change_no_total(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=2)
    running = pipeline_start(adder(), retry_backoff_s=0.1)
    expected = {b"k%d" % key: list(range(1, 61)) for key in range(5)}
    for number in range(60):
        penstock.produce("numbers", [(f"k{key}", "1") for key in range(5)])
        if number in (15, 30):
            _kill_worker(penstock)
        if number == 45:
            penstock.kill()
            penstock.start()
    assert totals(penstock, 300) == expected
    running.stop()
    assert totals(penstock, 300) == expected
    written = penstock.read("totals", settings=COMMITTED)
    assert len({(each.value or b"").split()[1] for each in written}) > 1  # several workers


def _kill_worker(broker: Broker) -> None:
    """The process that has judged last."""
    broker.read("totals", count=5, timeout_s=PATIENCE_S, settings=COMMITTED)
    last = max(broker.read("totals", settings=COMMITTED), key=lambda each: each.timestamp_ms or 0)
    try:
        os.kill(int((last.value or b"").split()[1]), signal.SIGKILL)
    except ProcessLookupError:
        pass


def test_what_cannot_run_is_told_in_one_line(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers")
    with pytest.raises(DeclarationError, match="not for real-time mode"):
        pipeline_start(adder(), trigger={"realTime": "10 seconds"})
    with pytest.raises(DeclarationError, match="not in 'memory'"):
        adder().with_state_in("memory")
