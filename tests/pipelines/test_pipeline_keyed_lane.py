"""Lanes against a real broker, without Spark: what is committed, restored, skipped and buried."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import TopicPartition

from penstock.pipelines.error import DeclarationError, RunError, TransientError
from penstock.pipelines.kafka import admin
from penstock.pipelines.keyed import task as task_module
from penstock.pipelines.keyed.event import Event
from penstock.pipelines.keyed.lane import Lane, LaneSpec, Rows
from penstock.pipelines.keyed.state import POSITION_KEY
from penstock.pipelines.keyed.task import run_task
from penstock.pipelines.retry import Retry
from penstock.pipelines.topic_making import ensure_topic
from penstock.testing.broker import Broker

COMMITTED = {"isolation.level": "read_committed"}


def count_up(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    if event.value == "poison":
        raise ValueError("no such thing")
    if event.value == "forget":
        return None, []
    total = (state or 0) + int(event.value)
    return total, [("totals", event.key, str(total))]


def spec(broker: Broker, **changes: Any) -> LaneSpec:
    usual: dict[str, Any] = {
        "pipeline": "adder",
        "run_ms": 1,
        "topic": "numbers",
        "step": count_up,
        "decode": bytes.decode,
        "outputs": {"totals": "totals"},
        "counters": ("late",),
        "dead_letters": "adder.dead-letters",
        "state": "adder.state",
        "encode_state": orjson.dumps,
        "decode_state": orjson.loads,
        "client": {"bootstrap.servers": broker.bootstrap_servers},
        "retry": Retry(attempts_max=3, backoff_s=0.001),
    }
    return LaneSpec(**{**usual, **changes})


def rows(start: int, *events: tuple[str, str]) -> Rows:
    now_ms = int(time.time() * 1000)
    return Rows(
        [key.encode() for key, _ in events],
        [value.encode() for _, value in events],
        list(range(start, start + len(events))),
        [now_ms] * len(events),
        lambda index: [("trace", b"t%d" % index), ("penstock.dlq.attempt", b"2")],
    )


@pytest.fixture
def broker(penstock: Broker) -> Broker:
    client = admin({"bootstrap.servers": penstock.bootstrap_servers})
    ensure_topic(client, "adder.state", 2, compacted=True)
    for topic in ("numbers", "totals", "adder.dead-letters"):
        ensure_topic(client, topic, 2)
    return penstock


@pytest.fixture(autouse=True)
def no_slots_left() -> Iterator[None]:
    yield
    for slot in list(task_module._slots.values()):
        task_module.drop(slot)


def totals(broker: Broker, count: int | None = None) -> list[tuple[str, str]]:
    # A commit is answered before its markers stand in every partition.
    if count is not None:
        broker.read("totals", settings=COMMITTED, count=count, timeout_s=20)
    found = broker.read("totals", settings=COMMITTED)
    return [((each.key or b"").decode(), (each.value or b"").decode()) for each in found]


def test_outputs_states_position_and_offset_come_with_one_commit(broker: Broker) -> None:
    lane = Lane(spec(broker), 1)
    lane.feed(rows(0, ("a", "1"), ("b", "2"), ("a", "3")), {})
    assert totals(broker) == []
    counts = lane.commit()
    assert (counts["events"], counts["states"], counts["totals"]) == (3, 2, 3)
    assert sorted(totals(broker, 3)) == [("a", "1"), ("a", "4"), ("b", "2")]
    written = broker.read("adder.state", partition=1, settings=COMMITTED, count=3)
    assert {each.key: each.value for each in written} == {
        b"a": b"4",
        b"b": b"2",
        POSITION_KEY: b'{"position":3,"run":1,"partitions":1}',
    }
    assert broker.read("adder.state", partition=0) == []


def test_a_lane_elsewhere_goes_on_from_what_was_committed(broker: Broker) -> None:
    first = Lane(spec(broker), 0)
    first.feed(rows(0, ("a", "1"), ("b", "2"), ("c", "3")), {})
    first.commit()
    first.feed(rows(3, ("a", "100"), ("c", "forget")), {})  # never committed

    second = Lane(spec(broker), 0)
    second.feed(rows(1, ("b", "2"), ("c", "3"), ("a", "10"), ("c", "forget")), {})
    counts = second.commit()
    assert (counts["skipped"], counts["events"], second.position) == (2, 2, 5)
    assert sorted(totals(broker, 4)) == [("a", "1"), ("a", "11"), ("b", "2"), ("c", "3")]
    third = Lane(spec(broker), 0)
    third.feed(rows(5, ("c", "7")), {})
    third.commit()
    assert ("c", "7") in totals(broker, 5)
    assert {key: bytes(value) for key, value in third.states.items() if key != b"c"} == {
        b"a": b"11",
        b"b": b"2",
    }


def test_the_one_that_was_fenced_out_catches_up_and_writes_nothing_twice(broker: Broker) -> None:
    old, new = Lane(spec(broker), 0), Lane(spec(broker), 0)
    old.feed(rows(0, ("a", "1")), {})
    new.feed(rows(0, ("a", "1"), ("a", "2")), {})
    new.commit()
    counts = old.commit()  # fenced: opens anew and finds its row written
    assert (counts["skipped"], counts["events"]) == (1, 0)
    old.feed(rows(1, ("a", "2"), ("a", "4")), {})
    old.commit()
    new.feed(rows(3, ("a", "8")), {})
    new.commit()
    assert totals(broker, 4) == [("a", "1"), ("a", "3"), ("a", "7"), ("a", "15")]


def test_an_older_run_gives_way_to_a_newer_one(broker: Broker) -> None:
    old, new = Lane(spec(broker, run_ms=5), 0), Lane(spec(broker, run_ms=6), 0)
    old.feed(rows(0, ("a", "1")), {})
    new.feed(rows(0, ("a", "1")), {})
    new.commit()
    with pytest.raises(RunError, match="newer run of adder"):
        old.commit()
    assert totals(broker, 1) == [("a", "1")]


def test_poison_goes_to_the_dead_letters_with_its_headers(broker: Broker) -> None:
    lane = Lane(spec(broker), 0)
    lane.feed(rows(4, ("a", "1"), ("b", "poison"), ("a", "x"), ("a", "2")), {})
    counts = lane.commit()
    assert (counts["dead_letters"], counts["events"]) == (2, 4)
    assert totals(broker, 2) == [("a", "1"), ("a", "3")]
    buried = broker.read("adder.dead-letters", settings=COMMITTED, count=2)
    letters = {each.value: each for each in buried}
    headers = dict(letters[b"poison"].headers)
    assert headers["trace"] == b"t1"
    assert headers["penstock.dlq.topic"] == b"numbers"
    assert headers["penstock.dlq.offset"] == b"5"
    assert headers["penstock.dlq.error"] == b"ValueError"
    assert headers["penstock.dlq.message"] == b"no such thing"
    assert headers["penstock.dlq.attempt"] == b"3"
    assert headers["penstock.dlq.class"] == b"poison"
    assert letters[b"x"].key == b"a"


def test_transient_failures_are_tried_again_then_buried(broker: Broker) -> None:
    calls: list[str] = []

    def shaky(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        calls.append(event.value)
        if event.value == "never" or calls.count(event.value) < 3:
            raise TransientError("not now")
        return 1, [("totals", event.key, event.value)]

    lane = Lane(spec(broker, step=shaky), 0)
    lane.feed(rows(0, ("a", "later"), ("b", "never")), {})
    lane.commit()
    assert totals(broker, 1) == [("a", "later")]
    (letter,) = broker.read("adder.dead-letters", settings=COMMITTED, count=1)
    headers = dict(letter.headers)
    assert headers["penstock.dlq.class"] == b"transient"
    assert headers["penstock.dlq.attempt"] == b"5"  # two before, three now


def test_an_output_that_was_not_declared_stops_the_run(broker: Broker) -> None:
    lane = Lane(spec(broker, step=lambda state, event, tables: (1, [("nowhere", "k", "v")])), 0)
    with pytest.raises(DeclarationError, match="nowhere"):
        lane.feed(rows(0, ("a", "1")), {})


@pytest.mark.penstock_only("a killed Kafka 4.3.0 may forget a transaction's markers")
def test_a_broker_killed_between_feed_and_commit_costs_nothing(broker: Broker) -> None:
    lane = Lane(spec(broker), 0)
    for number in range(4):
        lane.feed(rows(number * 50, *[("a", "1")] * 50), {})
        broker.kill()
        again = threading.Timer(0.5, broker.start)
        again.start()
        lane.commit()
        again.join()
    assert [value for _, value in totals(broker, 200)] == [str(n + 1) for n in range(200)]
    assert lane.position == 200


def produce(broker: Broker, partition: int, *events: tuple[str, str]) -> None:
    broker.produce("numbers", list(events), partition=partition)


def look_in(own: LaneSpec) -> dict[str, Any]:
    (told,) = run_task(own, {}, 0, [])
    row: dict[str, Any] = told.to_pylist()[0]
    return row


def test_a_slot_works_off_its_partitions_and_tells_what_it_did(broker: Broker) -> None:
    own = spec(broker, partitions=2, to_end=True)
    produce(broker, 0, ("a", "1"))
    produce(broker, 1, ("b", "2"), ("b", "3"))
    told = look_in(own)
    assert (told["events"], told["totals"], told["states"], told["skipped"]) == (3, 3, 2, 0)
    assert orjson.loads(told["positions"]) == {"0": 1, "1": 2}
    assert look_in(own)["events"] == 0
    assert sorted(totals(broker, 3)) == [("a", "1"), ("b", "2"), ("b", "5")]


def test_slots_share_the_partitions(broker: Broker) -> None:
    own = spec(broker, partitions=2, slots=2, to_end=True)
    produce(broker, 0, ("a", "1"))
    produce(broker, 1, ("b", "2"), ("b", "3"))
    (told,) = run_task(own, {}, 1, [])
    assert orjson.loads(told.to_pylist()[0]["positions"]) == {"1": 2}
    assert sorted(totals(broker, 2)) == [("b", "2"), ("b", "5")]


def test_a_slot_goes_on_without_a_task_until_it_is_told_to_halt(
    broker: Broker, tmp_path: Path
) -> None:
    own = spec(broker, epoch_s=0.1, overtime_s=300.0, halt=str(tmp_path / "halt"))
    look_in(own)
    produce(broker, 0, ("a", "1"))
    assert totals(broker, 1) == [("a", "1")]
    (tmp_path / "halt").touch()
    assert look_in(own)["events"] == 1
    produce(broker, 0, ("a", "2"))
    assert look_in(own)["events"] == 0


def test_a_failed_slot_begins_anew_from_what_was_committed(broker: Broker) -> None:
    produce(broker, 0, ("a", "1"))
    look_in(spec(broker, to_end=True))
    produce(broker, 0, ("a", "2"), ("a", "4"))
    undeclared = spec(broker, to_end=True, run_ms=2, outputs={})
    with pytest.raises(DeclarationError, match="none of its outputs"):
        look_in(undeclared)
    assert look_in(spec(broker, to_end=True, run_ms=3))["events"] == 2
    assert totals(broker, 3) == [("a", "1"), ("a", "3"), ("a", "7")]


def test_records_that_were_deleted_unread_stop_the_run(broker: Broker) -> None:
    produce(broker, 0, ("a", "1"))
    look_in(spec(broker, to_end=True))
    produce(broker, 0, ("a", "2"), ("a", "4"))
    client = admin({"bootstrap.servers": broker.bootstrap_servers})
    for done in client.delete_records([TopicPartition("numbers", 0, 2)]).values():
        done.result(20)
    with pytest.raises(RunError, match="data loss"):
        look_in(spec(broker, to_end=True, run_ms=2))
