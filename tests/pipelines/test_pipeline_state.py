"""State per key outlives the run: in SQL, and in `transformWithStateInPandas`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from penstock.pipelines import decode, pipeline, sinks, sources

ORDERS = sources.topic("orders", decode=decode.json("id string, amount double"))


@pipeline(inputs={"orders": ORDERS}, outputs={"totals": sinks.topic("totals", mode="update")})
def totals(orders: Any) -> Any:
    summed = orders.groupBy("id").agg({"amount": "sum"})
    return summed.selectExpr("id AS key", "cast(`sum(amount)` AS string) AS value")


@pipeline(inputs={"orders": ORDERS}, outputs={"first": sinks.topic("first")})
def first_only(orders: Any) -> Any:
    return orders.dropDuplicates(["id"]).selectExpr("id AS key", "cast(amount AS string) AS value")


ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pipeline(
    inputs={"orders": ORDERS},
    outputs={"counted": sinks.topic("counted", mode="update")},
    options={"spark.sql.streaming.stateStore.providerClass": ROCKS_DB},
)
def counted(orders: Any) -> Any:
    import pandas
    from pyspark.sql.streaming import StatefulProcessor

    class Count(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self._seen = handle.getValueState("seen", "seen long")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:
            seen = self._seen.get()[0] if self._seen.exists() else 0
            seen += sum(len(each) for each in rows)
            self._seen.update((seen,))
            yield pandas.DataFrame({"key": [key[0]], "value": [str(seen)]})

        def close(self) -> None:
            pass

    return orders.groupBy("id").transformWithStateInPandas(
        statefulProcessor=Count(),
        outputStructType="key string, value string",
        outputMode="Update",
        timeMode="None",
    )


def order(name: str, amount: float) -> str:
    return json.dumps({"id": name, "amount": amount})


def pairs(penstock: Any, topic: str) -> list[tuple[bytes, bytes]]:
    return [(each.key, each.value) for each in penstock.read(topic)]


def test_a_sum_goes_on_after_a_restart(penstock: Any, pipeline_run: Callable[..., Any]) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [order("a", 1), order("a", 2)])
    pipeline_run(totals)
    penstock.produce("orders", [order("a", 4)])
    pipeline_run(totals)
    assert pairs(penstock, "totals") == [(b"a", b"3.0"), (b"a", b"7.0")]


def test_a_duplicate_is_known_after_a_restart(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [order("a", 1)])
    pipeline_run(first_only)
    penstock.produce("orders", [order("a", 2), order("b", 3)])
    pipeline_run(first_only)
    assert sorted(pairs(penstock, "first")) == [(b"a", b"1.0"), (b"b", b"3.0")]


def test_state_in_python_goes_on_after_a_restart(
    penstock: Any, pipeline_run: Callable[..., Any]
) -> None:
    penstock.create_topic("orders")
    penstock.produce("orders", [order("a", 1), order("a", 2)])
    pipeline_run(counted)
    penstock.produce("orders", [order("a", 4)])
    pipeline_run(counted)
    assert pairs(penstock, "counted") == [(b"a", b"2"), (b"a", b"3")]
