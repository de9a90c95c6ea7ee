"""Orders in three tables: as they came, one row for each order, and what each customer did."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.pipelines import decode, pipeline, sinks, sources

ORDERS = "id string NOT NULL, customer string NOT NULL, amount double, at timestamp"


@pipeline(
    inputs={
        "orders": sources.topic("orders", decode=decode.json(ORDERS)),
        "records": sources.topic("orders"),
    },
    outputs={
        "bronze": sinks.parquet(),
        "silver": sinks.iceberg("silver.orders", key="id", order="at"),
        "gold": sinks.iceberg("gold.customers", key="customer", mode="update"),
    },
)
def order_tables(orders: DataFrame, records: DataFrame) -> dict[str, DataFrame]:
    bronze = records.select("value", "_key", "_topic", "_partition", "_offset", "_timestamp")
    silver = orders.select("id", "customer", "amount", "at")
    gold = orders.groupBy("customer").agg(
        F.max("amount").alias("largest_order"), F.max("at").alias("last_order_at")
    )
    return {"bronze": bronze, "silver": silver, "gold": gold}
