"""A breaking change of a schema: a new topic, and a pipeline that carries the old one over."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from penstock.pipelines import decode, pipeline, sinks, sources

VERSION_1 = "id string NOT NULL, customer string NOT NULL, amount double NOT NULL"


@pipeline(
    inputs={"orders": sources.topic("orders", decode=decode.json(VERSION_1))},
    outputs={"orders": sinks.topic("orders-v2")},
)
def orders_to_v2(orders: DataFrame) -> DataFrame:
    """In version 2 a customer has a first and a last name, and amounts are whole cents."""
    name = F.split("customer", " ", 2)
    order = F.struct(
        "id",
        name[0].alias("first_name"),
        F.coalesce(F.try_element_at(name, F.lit(2)), F.lit("")).alias("last_name"),
        F.round(F.col("amount") * 100).cast("bigint").alias("amount_cents"),
    )
    origin = F.concat_ws("-", "_topic", "_partition", "_offset").cast("binary")
    headers = F.array(F.struct(F.lit("migrated-from").alias("key"), origin.alias("value")))
    return orders.select(
        F.col("_key").alias("key"), F.to_json(order).alias("value"), headers.alias("headers")
    )
