"""Lanes against a real broker, without Spark: what is committed, restored, skipped and buried."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow
import pytest
from confluent_kafka import TopicPartition

from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import admin
from penstock.pipelines.keyed import Event, KeyedPipeline, keyed
from penstock.pipelines.keyed import task as task_module
from penstock.pipelines.keyed.claim import Claim
from penstock.pipelines.keyed.judging import Rows
from penstock.pipelines.keyed.lane import Lane, LaneSpec
from penstock.pipelines.keyed.preparation import ensure_topics, starts
from penstock.pipelines.keyed.query import lane_spec
from penstock.pipelines.keyed.report import ReportReader
from penstock.pipelines.keyed.state import POSITION_KEY, PartitionState, decode_position
from penstock.pipelines.keyed.task import run_task
from penstock.pipelines.retry import Retry
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.sources.topic import topic
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


def adder(**more: Any) -> KeyedPipeline:
    retry = Retry(attempts_max=3, backoff_s=0.001)
    return keyed(
        name="adder",
        source=topic("numbers"),
        decode=bytes.decode,
        outputs={"totals": "totals"},
        retry=retry,
        **more,
    )(count_up)


def claimed(broker: Broker, **more: Any) -> LaneSpec:
    """What lanes of a new run get, which has claimed both partitions; they go on where they are."""
    settings = RunSettings(bootstrap_servers=broker.bootstrap_servers)
    pipeline = adder(**more)
    claim = Claim(pipeline, settings.client(), 2)
    claim.write({0: 0, 1: 0, **positions(broker)})
    return lane_spec(pipeline, settings, claim.run, 2)


def positions(broker: Broker) -> dict[int, int]:
    found = {}
    for partition in range(2):
        state = PartitionState("adder.state", partition)
        state.restore({"bootstrap.servers": broker.bootstrap_servers}, "look")
        if state.position is not None:
            found[partition] = state.position.offset
    return found


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
    for each in ("numbers", "totals", "adder.dead-letters"):
        ensure_topic(client, each, 2)
    return penstock


@pytest.fixture(autouse=True)
def no_lanes_left() -> Iterator[None]:
    yield
    task_module._lanes.clear()


def totals(broker: Broker, count: int | None = None) -> list[tuple[str, str]]:
    # A commit is answered before its markers stand in every partition.
    if count is not None:
        broker.read("totals", settings=COMMITTED, count=count, timeout_s=20)
    found = broker.read("totals", settings=COMMITTED)
    return [((each.key or b"").decode(), (each.value or b"").decode()) for each in found]


def test_outputs_states_position_and_offset_come_with_one_commit(broker: Broker) -> None:
    spec = claimed(broker)
    lane = Lane(spec, 1)
    lane.feed(rows(0, ("a", "1"), ("b", "2"), ("a", "3")), {})
    assert totals(broker) == []
    counts = lane.commit()
    assert (counts["events"], counts["totals"]) == (3, 3)
    assert sorted(totals(broker, 3)) == [("a", "1"), ("a", "4"), ("b", "2")]
    written = broker.read("adder.state", partition=1, settings=COMMITTED, count=4)
    found = {each.key: each.value for each in written}
    position = decode_position(found.pop(POSITION_KEY))
    assert found == {b"a": b"4", b"b": b"2"}
    assert position is not None
    assert (position.offset, position.run, position.partitions) == (3, spec.run, 2)
    client = {"bootstrap.servers": broker.bootstrap_servers}
    reports = ReportReader(client, "adder", "numbers").read_last(spec.run, 2)
    told = dict(zip(spec.counted, reports[1].counts, strict=True))
    assert (reports[1].offset, told["events"], told["states"], told["totals"]) == (3, 3, 2, 3)
    assert (reports[0].offset, reports[0].counts) == (0, ())


def test_a_lane_elsewhere_goes_on_from_what_was_committed(broker: Broker) -> None:
    spec = claimed(broker)
    first = Lane(spec, 0)
    first.feed(rows(0, ("a", "1"), ("b", "2"), ("c", "3")), {})
    first.commit()
    first.feed(rows(3, ("a", "100"), ("c", "forget")), {})  # never committed

    second = Lane(spec, 0)
    second.feed(rows(1, ("b", "2"), ("c", "3"), ("a", "10"), ("c", "forget")), {})
    counts = second.commit()
    assert (counts["skipped"], counts["events"], second.position) == (2, 2, 5)
    assert second.totals["events"] == 5
    assert sorted(totals(broker, 4)) == [("a", "1"), ("a", "11"), ("b", "2"), ("c", "3")]
    third = Lane(spec, 0)
    third.feed(rows(5, ("c", "7")), {})
    third.commit()
    assert ("c", "7") in totals(broker, 5)
    assert third.states == {b"a": b"11", b"b": b"2", b"c": b"7"}


def test_the_one_that_was_fenced_out_fails_and_does_not_take_the_partition_back(
    broker: Broker,
) -> None:
    spec = claimed(broker)
    old, new = Lane(spec, 0), Lane(spec, 0)
    old.feed(rows(0, ("a", "1")), {})
    new.feed(rows(0, ("a", "1"), ("a", "2")), {})
    with pytest.raises(RunError, match="another attempt"):
        old.commit()
    new.commit()
    new.feed(rows(2, ("a", "4")), {})
    new.commit()
    assert totals(broker, 3) == [("a", "1"), ("a", "3"), ("a", "7")]


def test_a_run_that_was_taken_over_gives_up(broker: Broker) -> None:
    old = claimed(broker)
    lane = Lane(old, 0)
    lane.feed(rows(0, ("a", "1")), {})
    new = claimed(broker)
    with pytest.raises(RunError, match="another attempt"):
        lane.commit()
    # Whatever it opens, now and later, with whatever clock: the name stands in the topic.
    with pytest.raises(RunError, match="newer run of adder has taken over partition 0"):
        Lane(old, 0).open()
    lane = Lane(new, 0)
    lane.feed(rows(0, ("a", "1")), {})
    lane.commit()
    assert totals(broker, 1) == [("a", "1")]


def test_positions_of_earlier_versions_are_read() -> None:
    position = decode_position(b'{"position":3,"run":1700000000000,"partitions":2}')
    assert position == (3, "1700000000000", 2, ())


def test_large_poison_goes_to_the_dead_letters(broker: Broker) -> None:
    """As large as the topics take it, which a client's own limit is below."""
    large = "x" * 1_040_000
    lane = Lane(claimed(broker), 0)
    lane.feed(rows(0, ("a", large), ("a", "2")), {})
    assert lane.commit()["dead_letters"] == 1
    (letter,) = broker.read("adder.dead-letters", settings=COMMITTED, count=1)
    assert letter.value == large.encode()


def test_dead_letters_have_room_for_the_largest_record_of_the_source(penstock: Broker) -> None:
    penstock.create_topic("numbers", config={"max.message.bytes": 3_000_000})
    settings = RunSettings(bootstrap_servers=penstock.bootstrap_servers)
    ensure_topics(adder(), settings)
    large = os.urandom(2_999_000)
    (stood,) = penstock.produce(
        "adder.dead-letters",
        [large],
        headers=[("penstock.dlq.message", b"x" * 4_000)],
        settings={"message.max.bytes": 4_000_000},
    )
    assert stood.value == large


def test_more_poison_than_the_queue_holds_goes_to_the_dead_letters(broker: Broker) -> None:
    spec = claimed(broker)
    small = {**spec.client, "queue.buffering.max.messages": 10}
    lane = Lane(replace(spec, client=small), 0)
    lane.feed(rows(0, *(("a", f"poison {number}") for number in range(50))), {})
    assert lane.commit()["dead_letters"] == 50
    assert len(broker.read("adder.dead-letters", settings=COMMITTED, count=50)) == 50


def test_poison_goes_to_the_dead_letters_with_its_headers(broker: Broker) -> None:
    lane = Lane(claimed(broker), 0)
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


@pytest.mark.penstock_only("a killed Kafka 4.3.0 may forget a transaction's markers")
def test_a_broker_killed_between_feed_and_commit_costs_nothing(broker: Broker) -> None:
    lane = Lane(claimed(broker), 0)
    for number in range(4):
        lane.feed(rows(number * 50, *[("a", "1")] * 50), {})
        broker.kill()
        again = threading.Timer(0.5, broker.start)
        again.start()
        lane.commit()
        again.join()
    assert [value for _, value in totals(broker, 200)] == [str(n + 1) for n in range(200)]
    assert (lane.position, lane.totals["events"]) == (200, 200)


def arrow(*records: tuple[int, int, str, str]) -> pyarrow.RecordBatch:
    """Rows as Spark hands them over: partition, offset, key, value."""
    numbers, offsets, keys, values = zip(*records, strict=True)
    header = pyarrow.list_(pyarrow.struct({"key": pyarrow.string(), "value": pyarrow.binary()}))
    columns = {
        "key": pyarrow.array([each.encode() for each in keys], pyarrow.binary()),
        "value": pyarrow.array([each.encode() for each in values], pyarrow.binary()),
        "partition": pyarrow.array(numbers, pyarrow.int32()),
        "offset": pyarrow.array(offsets, pyarrow.int64()),
        "timestamp_ms": pyarrow.array([1] * len(keys), pyarrow.int64()),
        "headers": pyarrow.array([None] * len(keys), header),
    }
    return pyarrow.RecordBatch.from_pydict(columns)


def judge(spec: LaneSpec, batch: int, *batches: pyarrow.RecordBatch) -> dict[int, int]:
    (told,) = run_task(spec, {}, (0, 1), iter(batches), batch)
    return {each["partition"]: each["position"] for each in told.to_pylist()}


def test_a_task_deals_rows_to_its_lanes_and_ends_when_they_have_committed(broker: Broker) -> None:
    spec = claimed(broker)
    first = arrow((0, 0, "a", "1"), (1, 0, "b", "2"))
    assert judge(spec, 0, first, arrow((1, 3, "b", "3"))) == {0: 1, 1: 4}
    assert sorted(totals(broker, 3)) == [("a", "1"), ("b", "2"), ("b", "5")]
    judge(spec, 0, first)  # a second attempt at the same batch
    judge(spec, 1, arrow((0, 1, "a", "4")))
    assert sorted(totals(broker, 4)) == [("a", "1"), ("a", "5"), ("b", "2"), ("b", "5")]


def test_lanes_that_missed_a_batch_catch_up_with_whoever_had_it(broker: Broker) -> None:
    spec = claimed(broker)
    judge(spec, 0, arrow((0, 0, "a", "1")))
    mine = dict(task_module._lanes)
    task_module._lanes.clear()
    judge(spec, 1, arrow((0, 1, "a", "2")))  # in another worker
    task_module._lanes.clear()
    task_module._lanes.update(mine)
    judge(spec, 2, arrow((0, 2, "a", "4")))
    assert totals(broker, 3) == [("a", "1"), ("a", "3"), ("a", "7")]


def test_a_task_that_fails_leaves_nothing_and_the_next_begins_anew(broker: Broker) -> None:
    spec = claimed(broker)
    judge(spec, 0, arrow((0, 0, "a", "1")))

    def cut_off() -> Iterator[pyarrow.RecordBatch]:
        yield arrow((0, 1, "a", "2"))
        raise EOFError("Spark is gone")

    with pytest.raises(EOFError):
        list(run_task(spec, {}, (0, 1), cut_off(), 1))
    assert task_module._lanes == {}
    judge(spec, 1, arrow((0, 1, "a", "2"), (0, 2, "a", "4")))
    assert totals(broker, 3) == [("a", "1"), ("a", "3"), ("a", "7")]


def test_a_long_catch_up_is_committed_as_it_goes(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_module, "ROWS_PER_COMMIT", 2)
    spec = claimed(broker)
    batches = [arrow((0, 2 * each, "a", "1"), (0, 2 * each + 1, "a", "1")) for each in range(3)]
    judge(spec, 0, *batches)
    assert task_module._lanes[spec.run, 0].totals["commits"] == 3
    assert [value for _, value in totals(broker, 6)] == ["1", "2", "3", "4", "5", "6"]


def test_no_key_of_an_event_is_taken_for_the_position(broker: Broker) -> None:
    spec = claimed(broker)
    keys = [POSITION_KEY, b"\xff\xffkey:a", b"a"]
    events = Rows(keys, [b"1"] * 3, [0, 1, 2], [0] * 3, lambda _: [])
    lane = Lane(spec, 0)
    lane.feed(events, {})
    lane.commit()
    state = PartitionState("adder.state", 0)
    state.restore(spec.client, "look")
    assert state.states == dict.fromkeys(keys, b"1")
    assert positions(broker)[0] == 3
    Claim(adder(), spec.client, 2).write({0: 3, 1: 0}, forget=True)
    emptied = PartitionState("adder.state", 0)
    emptied.restore(spec.client, "look")
    assert (emptied.states, positions(broker)[0]) == ({}, 3)


def test_records_that_were_deleted_unread_stop_the_start(broker: Broker) -> None:
    broker.produce("numbers", [("a", "1"), ("a", "2"), ("a", "4")], partition=0)
    settings = RunSettings(bootstrap_servers=broker.bootstrap_servers)
    assert starts(adder(), settings, {0: 1}, 2, {}) == {0: 1, 1: 0}
    client = admin({"bootstrap.servers": broker.bootstrap_servers})
    for done in client.delete_records([TopicPartition("numbers", 0, 2)]).values():
        done.result(20)
    with pytest.raises(RunError, match="data loss"):
        starts(adder(), settings, {0: 1}, 2, {})
    assert starts(adder(), settings, {}, 2, {}) == {0: 2, 1: 0}
