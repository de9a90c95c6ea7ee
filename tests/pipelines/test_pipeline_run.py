"""A pipeline against a broker: what goes in comes out once, and what cannot is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from penstock.pipelines import decode, pipeline, sinks, sources
from penstock.pipelines.transforms import dead_letter


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
