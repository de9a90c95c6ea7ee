"""Orders and their payments, which come in another topic within an hour, or never."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.pipelines import decode, pipeline, sinks, sources

ORDERS = decode.json("id string NOT NULL, amount double, at timestamp NOT NULL")
PAYMENTS = decode.json("order_id string NOT NULL, paid double, paid_at timestamp NOT NULL")


@pipeline(
    inputs={
        "orders": sources.topic("orders", decode=ORDERS, event_time="at", lateness="5 minutes"),
        "payments": sources.topic(
            "payments", decode=PAYMENTS, event_time="paid_at", lateness="5 minutes"
        ),
    },
    outputs={"orders": sinks.topic("orders-with-payments")},
)
def orders_with_payments(orders: DataFrame, payments: DataFrame) -> DataFrame:
    in_time = F.expr("order_id = id AND paid_at BETWEEN at AND at + INTERVAL 1 HOUR")
    joined = orders.select("id", "amount", "at").join(
        payments.select("order_id", "paid", "paid_at"), in_time, "leftOuter"
    )
    state = "CASE WHEN paid IS NULL THEN 'unpaid' WHEN paid < amount THEN 'partly' ELSE 'paid' END"
    return joined.selectExpr("id AS key", f"to_json(struct(id, {state} AS state, paid)) AS value")
