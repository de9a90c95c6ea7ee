"""The form of dead letters, as plain frames; and that nothing of them is written twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from penstock.pipelines import decode, pipeline, sinks, sources
from penstock.pipelines.error import RunError
from penstock.pipelines.folder import Folder
from penstock.pipelines.run.rejected import Found, RejectedRows
from penstock.pipelines.transforms import dead_letter

RAW = (
    "key binary, value binary, headers array<struct<key:string,value:binary>>, topic string,"
    " partition int, offset long, timestamp timestamp"
)
AT = datetime.fromisoformat("2026-01-02T03:04:05.678")


def letters(spark: Any, rows: list[Any]) -> list[Any]:
    decoder = decode.json("id string")
    applied = decoder.apply(spark.createDataFrame(rows, RAW))
    return dead_letter.dead_letters(applied, "p").collect()


def headers(row: Any) -> dict[str, str | None]:
    return {each.key: each.value and bytes(each.value).decode() for each in row.headers}


def test_a_letter_holds_the_record_and_why(spark: Any) -> None:
    own = [("trace", b"1"), ("empty", None)]
    rows = [
        (b"k", b"x", own, "t", 3, 42, AT),
        (b"k", b'{"id":"fine"}', own, "t", 3, 43, AT),
        (None, None, None, "t", 3, 44, AT),
    ]
    poison, tombstone = letters(spark, rows)
    assert (bytes(poison.key), bytes(poison.value)) == (b"k", b"x")
    assert headers(poison) == {
        "trace": "1",
        "empty": None,
        "penstock.dlq.topic": "t",
        "penstock.dlq.partition": "3",
        "penstock.dlq.offset": "42",
        "penstock.dlq.timestamp": "1767323045678",
        "penstock.dlq.error": "NotJson",
        "penstock.dlq.message": "the value is not one JSON document",
        "penstock.dlq.attempt": "1",
        "penstock.dlq.pipeline": "p",
        "penstock.dlq.class": "poison",
    }
    assert (tombstone.key, tombstone.value) == (None, None)
    assert headers(tombstone)["penstock.dlq.error"] == "Tombstone"


def test_a_letter_sent_back_and_failed_again_keeps_its_history(spark: Any) -> None:
    history = json.dumps([{"error": "NotJson", "message": "m", "attempt": 1, "time": 1}])
    before = [
        (dead_letter.TOPIC, b"elsewhere"),
        (dead_letter.ATTEMPT, b"1"),
        (dead_letter.REDRIVEN, b"1"),
        (dead_letter.HISTORY, history.encode()),
        ("trace", b"1"),
    ]
    (again,) = letters(spark, [(b"k", b"x", before, "t", 0, 7, AT)])
    said = headers(again)
    assert said[dead_letter.TOPIC] == "t"
    assert said[dead_letter.ATTEMPT] == "2"
    assert said[dead_letter.REDRIVEN] == "1"
    assert said[dead_letter.HISTORY] == history
    assert said["trace"] == "1"
    assert len(again.headers) == len(said)


@pipeline(
    inputs={"orders": sources.topic("orders", decode=decode.json("id string"))},
    outputs={"left": sinks.topic("left"), "right": sinks.topic("right")},
)
def both_ways(orders: Any) -> Any:
    rows = orders.selectExpr("id AS key", "id AS value")
    return {"left": rows, "right": rows}


def test_letters_are_written_once_whatever_the_outputs_and_restarts(
    penstock: Any, pipeline_run: Callable[..., Any], tmp_path: Any
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ['{"id":"a"}', "x", "y"])
    assert pipeline_run(both_ways).dead_letters == 2
    # As if the run had been killed before it noted that it has seen to the batch.
    (tmp_path / "pipelines" / "both-ways" / "@orders" / "penstock-aside.json").unlink()
    penstock.produce("orders", ["z"])
    pipeline_run(both_ways)
    found = [each.value for each in penstock.read("both-ways.dead-letters")]
    assert sorted(found) == [b"x", b"y", b"z"]
    assert [each.value for each in penstock.read("left")] == [b"a"]
    assert [each.value for each in penstock.read("right")] == [b"a"]


def test_letters_of_a_batch_that_was_not_seen_to_are_written_at_the_next_start(
    penstock: Any, pipeline_run: Callable[..., Any], monkeypatch: Any
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ["x"])
    with monkeypatch.context() as killed:
        killed.setattr(RejectedRows, "see_to", lambda *_: Found())
        pipeline_run(both_ways)
    penstock.produce("orders", ["y"])
    pipeline_run(both_ways)
    found = [each.value for each in penstock.read("both-ways.dead-letters")]
    assert sorted(found) == [b"x", b"y"]


@pipeline(
    inputs={
        "raw": sources.topic("orders"),
        "orders": sources.topic("orders", decode=decode.json("id string")),
    },
    outputs={"left": sinks.topic("left")},
)
def second_alone(raw: Any, orders: Any) -> Any:
    return orders.selectExpr("id AS key", "id AS value")


def test_letters_of_the_second_of_two_inputs_of_one_topic(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ['{"id":"a"}', "x"])
    assert pipeline_run(second_alone).dead_letters == 1
    assert [each.value for each in penstock.read("second-alone.dead-letters")] == [b"x"]


@pipeline(
    inputs={
        "orders": sources.topic(
            "orders", decode=decode.json("id string"), options={"maxOffsetsPerTrigger": "1"}
        )
    },
    outputs={"left": sinks.topic("left")},
    options={"spark.sql.streaming.minBatchesToRetain": "10"},
)
def one_by_one(orders: Any) -> Any:
    return {"left": orders.selectExpr("id AS key", "id AS value")}


def test_batches_that_end_faster_than_their_letters_are_written_wait_for_them(
    penstock: Any, pipeline_run: Callable[..., Any], monkeypatch: Any
) -> None:
    """Spark forgets old batches, and with them where their letters are to be found."""
    see_to = RejectedRows.see_to

    def slowly(self: Any, number: int, search: Any) -> Any:
        time.sleep(0.2)
        return see_to(self, number, search)

    monkeypatch.setattr(RejectedRows, "see_to", slowly)
    penstock.create_topic("orders")
    penstock.produce("orders", [f"x{number}" for number in range(40)])
    assert pipeline_run(one_by_one).dead_letters == 40
    assert len(penstock.read("one-by-one.dead-letters")) == 40


def test_a_kill_while_a_batch_is_noted_takes_no_earlier_note_away(
    penstock: Any, pipeline_run: Callable[..., Any], monkeypatch: Any
) -> None:
    """Without any note, batches would have to be looked through that Spark has forgotten."""
    rename, noted = Folder.rename, []

    def killed(self: Any, name: str, new_name: str) -> None:
        if "penstock-aside" in new_name:
            noted.append(new_name)
            if len(noted) == 30:
                raise RunError("killed")
        rename(self, name, new_name)

    penstock.create_topic("orders")
    penstock.produce("orders", [*['{"id":"a"}'] * 39, "x"])
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "rename", killed)
        with pytest.raises(RunError, match="killed"):
            pipeline_run(one_by_one)
    penstock.produce("orders", ["y"])
    pipeline_run(one_by_one)
    found = sorted(each.value for each in penstock.read("one-by-one.dead-letters"))
    assert found == [b"x", b"y"]


@pipeline(
    inputs={"orders": sources.topic("orders", decode=decode.json("id string"))},
    outputs={"kept": sinks.database("kept", key="id")},
)
def kept(orders: Any) -> Any:
    return orders.select("id")


def test_letters_of_a_batch_that_its_sink_has_when_it_is_repeated(
    penstock: Any, pipeline_run: Callable[..., Any], monkeypatch: Any, tmp_path: Any
) -> None:
    """As if killed after the table's commit, and before Spark's own: the sink leaves the batch out
    then, and so nothing of it is counted."""
    penstock.create_topic("orders")
    penstock.produce("orders", ['{"id":"a"}', "x"])
    with monkeypatch.context() as killed:
        killed.setattr(RejectedRows, "see_to", lambda *_: Found())
        pipeline_run(kept)
    for name in ("0", ".0.crc"):
        (tmp_path / "pipelines" / "kept" / "kept" / "commits" / name).unlink()
    assert pipeline_run(kept).dead_letters == 1
    assert [each.value for each in penstock.read("kept.dead-letters")] == [b"x"]


@pipeline(
    inputs={"orders": sources.topic("orders", decode=decode.json("id string, of string"))},
    outputs={"pairs": sinks.topic("pairs")},
)
def pairs(orders: Any) -> Any:
    from pyspark.sql.functions import expr

    parts = orders.selectExpr("of", "id AS part").alias("parts")
    joined = orders.alias("whole").join(parts, expr("whole.id = parts.of"))
    return joined.selectExpr("whole.id AS key", "part AS value")


def test_letters_of_an_input_that_is_joined_with_itself(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ['{"id":"a"}', '{"id":"b","of":"a"}', "x"])
    assert pipeline_run(pairs).dead_letters == 1
    penstock.produce("orders", ["y"])
    pipeline_run(pairs)
    assert sorted(each.value for each in penstock.read("pairs.dead-letters")) == [b"x", b"y"]
    assert [(each.key, each.value) for each in penstock.read("pairs")] == [(b"a", b"b")]
