"""A function for each record, on real Spark: what raises is a dead letter; the stream goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock.pipelines import decode, each, pipeline, sinks, sources
from penstock.pipelines.declare import Pipeline
from penstock.pipelines.error import TransientError
from penstock.pipelines.retry import Retry
from penstock.pipelines.transforms.dead_letter import dead_letters
from penstock.testing.broker import Broker
from tests.pipelines.test_pipeline_decode import rows

pytestmark = [pytest.mark.java, pytest.mark.timeout(400)]

COMMITTED = {"isolation.level": "read_committed"}


def halved(calls: Path) -> Pipeline:
    """A pipeline that notes in a folder how often the function was called for each record."""
    calls.mkdir()

    # Within a function, so that the workers get it by value: they cannot import this module.
    @each("id string NOT NULL, half long", retry=Retry(attempts_max=3, backoff_s=0.001))
    def half(order: dict[str, Any]) -> Mapping[str, Any]:
        if order["id"] == "shape":
            return {"id": "shape", "half": "much"}
        with open(calls / order["id"], "a") as log:
            log.write(".")
        tried = (calls / order["id"]).stat().st_size
        if order["id"] == "never" or (order["id"] == "later" and tried < 3):
            raise TransientError("not now")
        return {"id": order["id"], "half": 10 // order["amount"]}

    source = sources.topic("orders", decode=decode.json("id string, amount long"), each=half)

    @pipeline(inputs={"orders": source}, outputs={"halves": sinks.topic("halves")})
    def halves(orders: Any) -> Any:
        return orders.selectExpr("id AS key", "string(half) AS value")

    return halves


def letters(broker: Broker, count: int) -> dict[str, dict[str, str]]:
    found = broker.read("halves.dead-letters", count=count, settings=COMMITTED)
    return {
        json.loads(letter.value or b"{}").get("id", "?") if letter.key != b"x" else "x": {
            name.removeprefix("penstock.dlq."): value.decode() for name, value in letter.headers
        }
        for letter in found
    }


def order(identity: str, amount: int) -> tuple[str, str]:
    return identity, json.dumps({"id": identity, "amount": amount})


def test_a_record_that_the_function_fails_for_is_a_dead_letter(
    penstock: Broker, pipeline_run: Callable[..., Any], tmp_path: Path
) -> None:
    penstock.create_topic("orders")
    sent = [order("two", 2), order("zero", 0), ("x", "no order"), order("never", 1)]
    penstock.produce("orders", [*sent, order("later", 5), order("shape", 1)])
    progress = pipeline_run(halved(tmp_path / "calls"))
    assert (progress.input_rows, progress.dead_letters) == (6, 4)
    written = penstock.read("halves", settings=COMMITTED, count=2)
    assert {row.key: row.value for row in written} == {b"two": b"5", b"later": b"2"}
    buried = letters(penstock, 4)
    assert set(buried) == {"zero", "never", "shape", "x"}
    assert buried["zero"] == {
        "topic": "orders",
        "partition": "0",
        "offset": "1",
        "timestamp": buried["zero"]["timestamp"],
        "error": "ZeroDivisionError",
        "message": "integer division or modulo by zero",
        "attempt": "1",
        "pipeline": "halves",
        "class": "poison",
    }
    assert (buried["never"]["class"], buried["never"]["attempt"]) == ("transient", "3")
    assert (buried["x"]["class"], buried["x"]["error"]) == ("poison", "NotJson")
    assert "not of its schema" in buried["shape"]["message"]
    # Once each: the dead letters were told by the batch, and nothing was called again for them.
    assert {path.name: path.stat().st_size for path in (tmp_path / "calls").iterdir()} == {
        "two": 1,
        "zero": 1,
        "never": 3,
        "later": 3,
    }


def test_what_a_batch_reports_twice_is_one_letter(spark: Any) -> None:
    """As where an executor is lost whose rows were on the way: another makes them once more."""
    decoder = decode.json("id string, amount long")

    @each("half long")
    def half(order: dict[str, Any]) -> Mapping[str, Any]:
        raise AssertionError("a batch that has reported is not made again")

    place = {"topic": "t", "partition": 0, "offset": 1}
    why = {"error": "OSError", "message": "gone", "class": "poison", "tries": 1, "rule": None}
    values: list[bytes | None] = [b'{"id":"a"}', b'{"id":"b"}', b"no order"]
    known = half.known(decoder.apply(rows(spark, values)), [place | why, place | why])
    made = dead_letters(known, "p").collect()
    assert sorted(bytes(each.value) for each in made) == [b"no order", b'{"id":"b"}']


def test_the_stream_goes_on_behind_it(
    penstock: Broker, pipeline_start: Callable[..., Any], tmp_path: Path
) -> None:
    for topic in ("orders", "halves", "halves.dead-letters"):
        penstock.create_topic(topic)
    running = pipeline_start(halved(tmp_path / "calls"))
    for number in range(3):
        penstock.produce("orders", [order("zero", 0), order(f"n{number}", 1)])
        penstock.read("halves", count=number + 1, timeout_s=60, settings=COMMITTED)
        penstock.read("halves.dead-letters", count=number + 1, timeout_s=60, settings=COMMITTED)
    running.stop()
    assert running.progress().restarts == 0
    assert len(penstock.read("halves.dead-letters", settings=COMMITTED)) == 3


def test_the_function_alone_is_called_as_it_is() -> None:
    @each("half long")
    def half(order: dict[str, Any]) -> Mapping[str, Any]:
        return {"half": order["amount"] // 2}

    assert half({"amount": 9}) == {"half": 4}
