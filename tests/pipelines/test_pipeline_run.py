"""A pipeline against a broker: what goes in comes out once, and what cannot is kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from penstock.pipelines import decode, pipeline, sinks, sources
from penstock.pipelines.error import RunError, TransientError
from penstock.pipelines.transforms import dead_letter
from tests.patience import wait_until


def big_orders() -> Any:
    @pipeline(
        inputs={
            "orders": sources.topic(
                "orders", decode=decode.json("id string NOT NULL, amount double")
            )
        },
        outputs={"big": sinks.topic("big-orders")},
    )
    def big_orders(orders: Any) -> Any:
        return orders.where("amount > 100").selectExpr(
            "id AS key", "to_json(struct(id, amount)) AS value"
        )

    return big_orders


def order(number: int, amount: float) -> str:
    return json.dumps({"id": f"o{number}", "amount": amount})


def test_rows_come_out_and_poison_is_kept(penstock: Any, pipeline_run: Callable[..., Any]) -> None:
    penstock.create_topic("orders", partitions=2)
    penstock.produce("orders", [order(0, 500), order(1, 5)])
    penstock.produce("orders", "no order", key="k", headers=[("trace", b"1")], partition=1)
    progress = pipeline_run(big_orders())
    assert [each.key for each in penstock.read("big-orders")] == [b"o0"]
    (letter,) = penstock.read("big-orders.dead-letters")
    assert (letter.key, letter.value) == (b"k", b"no order")
    said = dict(letter.headers)
    assert said.pop("trace") == b"1"
    assert said.pop(dead_letter.TIMESTAMP).isdigit()
    assert said == {
        dead_letter.TOPIC: b"orders",
        dead_letter.PARTITION: b"1",
        dead_letter.OFFSET: str(len(penstock.read("orders", partition=1)) - 1).encode(),
        dead_letter.ERROR: b"NotJson",
        dead_letter.MESSAGE: b"the value is not one JSON document",
        dead_letter.ATTEMPT: b"1",
        dead_letter.PIPELINE: b"big-orders",
        dead_letter.CLASS: b"poison",
    }
    assert (progress.input_rows, progress.output_rows, progress.dead_letters) == (3, 1, 1)
    assert progress.lag == 0


def test_a_second_run_goes_on_where_the_first_ended(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders", partitions=2)
    penstock.produce("orders", [order(each, 500) for each in range(5)])
    pipeline_run(big_orders())
    penstock.produce("orders", [order(each, 500) for each in range(5, 8)])
    assert pipeline_run(big_orders()).input_rows == 3
    assert pipeline_run(big_orders()).input_rows == 0
    found = sorted(each.key for each in penstock.read("big-orders"))
    assert found == [f"o{each}".encode() for each in range(8)]


def test_a_missing_topic_is_one_line(penstock: Any, pipeline_run: Callable[..., Any]) -> None:
    with pytest.raises(RunError, match=r"there is no topic orders at .*penstock topics create"):
        pipeline_run(big_orders())


def test_a_failure_that_stays_is_one_line(penstock: Any, pipeline_run: Callable[..., Any]) -> None:
    from pyspark.sql.functions import udf

    @pipeline(
        inputs={"orders": sources.topic("orders", decode=decode.text())},
        outputs={"out": sinks.topic("out")},
    )
    def broken(orders: Any) -> Any:
        fail = udf(lambda value: value / 0, "string")
        return orders.select(fail("value").alias("value"))

    penstock.create_topic("orders")
    penstock.produce("orders", ["x"])
    with pytest.raises(RunError) as caught:
        pipeline_run(broken)
    assert "TypeError: unsupported operand" in str(caught.value)
    assert "\n" not in str(caught.value)


class FlakySink:
    """Raises as a user's foreachBatch may, the first times it is called."""

    def __init__(self, failures: int, error: type[Exception]) -> None:
        self.failures = failures
        self.error = error
        self.rows: list[str] = []

    def start(self, frame: Any, *, checkpoint: str, trigger: Any, **_: Any) -> Any:
        def write(batch: Any, number: int) -> None:
            if self.failures > 0:
                self.failures -= 1
                raise self.error("the other side does not answer")
            self.rows += [each.value for each in batch.collect()]

        writer = frame.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
        return writer.trigger(**trigger).start()


def flaky(sink: FlakySink) -> Any:
    @pipeline(
        inputs={"orders": sources.topic("orders", decode=decode.text())}, outputs={"out": sink}
    )
    def flaky(orders: Any) -> Any:
        return orders.select("value")

    return flaky


def test_a_transient_failure_is_tried_again(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ["x"])
    sink = FlakySink(2, TransientError)
    progress = pipeline_run(flaky(sink), retry_backoff_s=0.01)
    assert sink.rows == ["x"]
    assert progress.restarts == 2


def test_patience_with_transient_failures_has_an_end(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", ["x"])
    with pytest.raises(RunError, match=r"gave up after 2 failures .* does not answer"):
        pipeline_run(flaky(FlakySink(9, TransientError)), retry_backoff_s=0.01, retries_max=1)
    with pytest.raises(RunError, match="ValueError: the other side does not answer"):
        pipeline_run(flaky(FlakySink(1, ValueError)))


def test_a_broker_that_restarts_is_waited_for(
    penstock: Any, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [order(0, 500)])
    running = pipeline_start(big_orders())
    wait_until(lambda: running.progress().output_rows == 1)
    penstock.kill()
    time.sleep(1)
    penstock.start()
    penstock.produce("orders", [order(1, 500)])
    wait_until(lambda: len(penstock.read("big-orders")) == 2)
    running.stop()
    assert running.wait(0)
    assert sorted(each.key for each in penstock.read("big-orders")) == [b"o0", b"o1"]
