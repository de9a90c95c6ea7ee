"""Keyed pipelines on real Spark: restart, kills, resets of the group, tables that change."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from penstock.pipelines import sinks
from penstock.pipelines.error import AlreadyRunningError, DeclarationError, RunError
from penstock.pipelines.kafka import admin, ensure_partitions
from penstock.pipelines.keyed import Event, KeyedPipeline, keyed
from penstock.pipelines.keyed.claim import Claim
from penstock.pipelines.keyed.preparation import positions
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.sources.table import table
from penstock.pipelines.sources.topic import topic
from penstock.pipelines.transforms import decode
from penstock.testing.broker import Broker
from tests.pipelines.totals_kit import COMMITTED, PATIENCE_S, totals, workers_of, write_and_kill

pytestmark = [pytest.mark.java, pytest.mark.timeout(400)]


def adder(**more: Any) -> KeyedPipeline:
    # Within a function, so that the workers get it by value: they cannot import this module.
    @keyed(
        name="adder",
        source=topic("numbers"),
        decode=int,
        outputs={"totals": "totals"},
        **more,
    )
    def add(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        total = (state or 0) + event.value
        return total, [("totals", event.key, f"{total} {os.getpid()}")]

    return add


def test_it_goes_on_after_a_restart_with_state_and_shows_its_offsets(
    penstock: Broker, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=2)
    penstock.produce("numbers", [("a", "1"), ("b", "x"), ("a", "2"), ("c", "5")])
    progress = pipeline_run(adder())
    assert (progress.input_rows, progress.dead_letters, progress.lag) == (4, 1, 0)
    assert progress.extra["totals"] == 3
    penstock.produce("numbers", [("a", "4"), ("c", "5"), ("d", "1")])
    pipeline_run(adder())
    assert totals(penstock, 6) == {b"a": [1, 3, 7], b"c": [5, 10], b"d": [1]}
    (letter,) = penstock.read("adder.dead-letters", count=1, settings=COMMITTED)
    assert (letter.key, letter.value) == (b"b", b"x")
    assert dict(letter.headers)["penstock.dlq.pipeline"] == b"adder"
    assert sum(_group(penstock).values()) == 7


def test_spark_reads_every_event_and_says_so(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=3)
    penstock.produce("numbers", [(f"k{each}", "1") for each in range(50)])
    running = pipeline_start(adder(), trigger={"availableNow": True})
    assert running.wait(PATIENCE_S)
    (query,) = running.queries
    told = [json.loads(each.json) for each in query.recentProgress]
    assert sum(each["numInputRows"] for each in told) == 50
    read = [source for each in told for source in each["sources"]]
    assert {"KafkaV2[Assign[numbers-0, numbers-2]]", "KafkaV2[Assign[numbers-1]]"} == {
        source["description"] for source in read
    }
    assert running.progress().input_rows == 50


def _group(broker: Broker) -> dict[int, int]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "adder"})
    places = consumer.committed([TopicPartition("numbers", each) for each in range(2)], timeout=20)
    consumer.close()
    return {each.partition: each.offset for each in places}


def test_a_group_that_was_moved_is_followed_only_when_asked_for(
    penstock: Broker, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers")
    penstock.produce("numbers", [("a", "1"), ("a", "2")])
    pipeline_run(adder())
    _move(penstock, 1)
    penstock.produce("numbers", [("a", "4")])
    pipeline_run(adder())
    assert totals(penstock, 3) == {b"a": [1, 3, 7]}
    _move(penstock, 2)
    pipeline_run(adder(), from_group=True)
    assert totals(penstock, 4) == {b"a": [1, 3, 7, 4]}  # the group's offset, and new state


def _move(broker: Broker, offset: int) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "adder"})
    place = TopicPartition("numbers", 0, offset)
    deadline = time.monotonic() + 30
    while True:
        try:
            consumer.commit(offsets=[place], asynchronous=False)
            break
        except KafkaException:
            # A run that ended while it was still joining holds the group for its session's time.
            assert time.monotonic() < deadline
            time.sleep(0.5)
    consumer.close()


def grow(broker: Broker, partitions: int) -> None:
    ensure_partitions(admin({"bootstrap.servers": broker.bootstrap_servers}), "numbers", partitions)


def test_states_follow_their_keys_when_the_source_grows(
    penstock: Broker, pipeline_run: Callable[..., Any], pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=2)
    once = [(f"k{key}", "1") for key in range(20)]
    penstock.produce("numbers", once)
    pipeline_run(adder())
    grow(penstock, 3)
    penstock.produce("numbers", once)
    pipeline_run(adder())
    assert totals(penstock, 40) == {key.encode(): [1, 2] for key, _ in once}
    running = pipeline_start(adder())
    penstock.produce("numbers", once)
    assert totals(penstock, 60) == {key.encode(): [1, 2, 3] for key, _ in once}
    grow(penstock, 6)
    penstock.produce("numbers", once)
    assert totals(penstock, 80) == {key.encode(): [1, 2, 3, 4] for key, _ in once}
    running.stop()


def test_states_follow_their_keys_when_the_source_grows_from_one_partition(
    penstock: Broker, pipeline_run: Callable[..., Any], pipeline_start: Callable[..., Any]
) -> None:
    """All keys being in one place, where they stand does not tell how producers place them."""
    penstock.create_topic("numbers", partitions=1)
    once = [(f"k{key}", "1") for key in range(20)]
    penstock.produce("numbers", once)
    pipeline_run(adder())
    grow(penstock, 3)
    # Nothing is there yet that would tell it.
    penstock.produce("numbers", once[:5], partition=0)
    pipeline_run(adder())
    assert totals(penstock, 25)[b"k0"] == [1, 2]
    running = pipeline_start(adder())
    penstock.produce("numbers", once)
    wanted = {b"k%d" % key: [1, 2, 3] if key < 5 else [1, 2] for key in range(20)}
    assert totals(penstock, 45) == wanted
    running.stop()
    assert set(positions(adder(), RunSettings(penstock.bootstrap_servers), 3)) == {0, 1, 2}


def test_a_source_that_grows_from_one_partition_between_runs(
    penstock: Broker, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=1)
    once = [(f"k{key}", "1") for key in range(20)]
    penstock.produce("numbers", once)
    pipeline_run(adder())
    grow(penstock, 4)
    penstock.produce("numbers", once)
    pipeline_run(adder())
    assert totals(penstock, 40) == {key.encode(): [1, 2] for key, _ in once}


def test_states_that_cannot_follow_stop_the_run_with_one_line(
    penstock: Broker, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=2)
    for partition in range(2):
        penstock.produce("numbers", [("a", "1"), ("b", "1")], partition=partition)
    pipeline_run(adder())
    grow(penstock, 3)
    with pytest.raises(RunError, match="grown from 2 to 3 partitions"):
        pipeline_run(adder())
    assert len(penstock.read("totals", settings=COMMITTED)) == 4


@pytest.mark.penstock_only("a killed Kafka 4.3.0 may forget a transaction's markers")
def test_workers_and_broker_killed_mid_stream_change_no_total(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=2)
    running = pipeline_start(adder(), retry_backoff_s=0.1)
    expected = write_and_kill(penstock, 50, workers_at=(12, 24), broker_at=36)
    assert totals(penstock, 250) == expected
    running.stop()
    assert totals(penstock, 250) == expected
    assert len(workers_of(penstock)) > 1


def test_a_run_that_was_taken_over_ends_and_takes_nothing_back(
    penstock: Broker, spark: Any, pipeline_run: Callable[..., Any], tmp_path: Any
) -> None:
    penstock.create_topic("numbers")
    servers = penstock.bootstrap_servers
    settings = RunSettings(bootstrap_servers=servers, directory=tmp_path / "old")
    old = adder().start(spark, settings)
    penstock.produce("numbers", [("a", "1")])
    assert totals(penstock, 1) == {b"a": [1]}
    newer = Claim(adder(), settings.client(), 1)
    newer.write({0: 1})
    penstock.produce("numbers", [("a", "2")])
    with pytest.raises(RunError, match="newer run of adder has taken over partition 0"):
        assert old.wait(PATIENCE_S)
    assert list(positions(adder(), settings, 1).values()) == [(1, newer.run, 1, ())]
    pipeline_run(adder())
    assert totals(penstock, 2) == {b"a": [1, 3]}


@pytest.mark.penstock_only("a killed Kafka 4.3.0 may forget a transaction's markers")
def test_in_real_time_mode_each_event_is_judged_once_whatever_is_killed(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers", partitions=2)
    running = pipeline_start(adder(), trigger={"realTime": "5 minutes"}, retry_backoff_s=0.1)
    expected = write_and_kill(penstock, 36, workers_at=(12,), broker_at=24)
    assert totals(penstock, 180) == expected  # the last ones too, long before Spark's batch ends
    running.stop()
    assert totals(penstock, 180) == expected
    progress = running.progress()
    assert (progress.input_rows, progress.lag) == (180, 0)


def test_a_table_that_changes_takes_effect_while_it_runs(
    penstock: Broker, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers")
    penstock.create_topic("factors", config={"cleanup.policy": "compact"})
    penstock.produce("factors", [("x", '{"factor": 10}')])

    @keyed(
        name="adder",
        source=topic("numbers"),
        outputs={"totals": "totals"},
        tables={"factors": table("factors", decode=decode.json("factor long"))},
    )
    def times(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        factor = tables["factors"].get("x", {"factor": 0})["factor"]
        number = int(event.value["value"])
        return state, [("totals", event.key, str(number * factor))]

    running = pipeline_start(times)
    counts = itertools.count(1)

    def send() -> int:
        penstock.produce("numbers", [("a", "1")])
        return totals(penstock, next(counts))[b"a"][-1]

    def send_until(before: int, after: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (found := send()) != after:
            assert found == before
            assert time.monotonic() < deadline

    assert send() == 10
    penstock.produce("factors", [("x", '{"factor": 20}')])
    send_until(10, 20)
    penstock.produce("factors", [("x", None)])
    send_until(20, 0)
    with pytest.raises(AlreadyRunningError):
        pipeline_start(times)
    running.stop()
    told = running.progress().extra
    assert told["commits"] >= 3
    assert told["opens"] == 1  # the lane was kept from batch to batch


def test_what_cannot_run_is_told_in_one_line(penstock: Broker, spark: Any, tmp_path: Any) -> None:
    settings = RunSettings(bootstrap_servers=penstock.bootstrap_servers, directory=tmp_path)
    with pytest.raises(RunError, match="there is no topic numbers"):
        adder().start(spark, settings)
    split = topic("numbers", options={"minPartitions": "8"})
    pipeline = keyed(source=split, outputs={}, name="split")(lambda state, event, tables: (1, []))
    with pytest.raises(DeclarationError, match="minPartitions"):
        pipeline.start(spark, settings)
    with pytest.raises(DeclarationError, match="one source topic"):
        keyed(source=topic("a", "b"), outputs={})
    with pytest.raises(DeclarationError, match="leave out event_time="):
        keyed(source=topic("a", event_time="_timestamp"), outputs={})
    with pytest.raises(DeclarationError, match=r"say sinks.topic\('t'\) and no more"):
        keyed(source=topic("a"), outputs={"o": sinks.topic("t", mode="update")})(lambda *_: (1, []))
    penstock.create_topic("numbers", partitions=3)
    with pytest.raises(RunError, match="3 partitions of numbers takes a core"):
        adder().start(spark, replace(settings, trigger={"realTime": "5 minutes"}))


def test_a_state_topic_that_would_lose_states_is_refused(
    penstock: Broker, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("numbers")
    penstock.create_topic("adder.state", config={"cleanup.policy": "compact,delete"})
    with pytest.raises(RunError, match=r"penstock topics alter adder\.state --set cleanup\.policy"):
        pipeline_run(adder())


def test_a_table_is_looked_up_and_framed(penstock: Broker, spark: Any, tmp_path: Any) -> None:
    penstock.create_topic("limits", config={"cleanup.policy": "compact"})
    penstock.produce("limits", [("a", '{"limit": 1.5}'), ("b", '{"limit": 2.5}')])
    source = table("limits", decode=decode.json("limit double"))
    limits = source.open(RunSettings(bootstrap_servers=penstock.bootstrap_servers))
    people = spark.createDataFrame([("a",), ("z",)], "name string")
    found = people.select("name", limits.lookup("name").alias("row")).collect()
    assert [(each["name"], each["row"] and each["row"]["limit"]) for each in found] == [
        ("a", 1.5),
        ("z", None),
    ]
    framed = {each["_key"]: each["limit"] for each in limits.frame(spark).collect()}
    assert framed == {"a": 1.5, "b": 2.5}
