"""The saga's funnel as a Spark pipeline: how far orders get, minute by minute, and who is stuck.

It knows the services by their topics alone, as docs/saga.md has them. An order is stuck when
nothing was heard of it for a while and its customer was told of no outcome. Time is that of the
events: it goes on when any order does. What is found stuck and goes on later is taken off the list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.pipelines import decode, sinks, sources
from penstock.pipelines.declare import Pipeline, pipeline

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

NAME = "saga-funnel"
FUNNEL = "saga_funnel"
STUCK = "saga_stuck"
NOTIFIED = "notifications.sent"
STEPS = (
    "orders.placed",
    "inventory.reserved",
    "inventory.rejected",
    "payments.paid",
    "payments.declined",
    "orders.cancel-requested",
    "fulfilment.stopped",
    "fulfilment.fulfilled",
    "orders.failed",
    "orders.cancelled",
    "orders.completed",
    "payments.refunded",
    NOTIFIED,
)
"""Topics, in the order in which events of an order come; the last one is the end of every order."""
_AFTER_THE_END = ("payments.refunded", "fulfilment.stopped")
"""What may come long after the customer was told: of itself it says nothing of how things stand."""


def funnel(events: DataFrame, forget_after: str = "1 day") -> DataFrame:
    """Of the orders placed in each minute, how many have come to each step."""
    from pyspark.sql import functions as F

    placed = events.withColumn("placed_at", F.timestamp_millis("placed"))
    kept = placed.withWatermark("placed_at", forget_after)
    steps = kept.groupBy(F.window("placed_at", "1 minute"), F.col("_topic").alias("step"))
    return steps.agg(F.count(F.lit(1)).alias("orders")).select(
        F.col("window.start").alias("minute"), "step", "orders"
    )


def stuck(
    events: DataFrame, silent_for: str = "1 minute", lateness: str = "10 seconds"
) -> DataFrame:
    """Orders that nothing was heard of for so long, without an end; who ended after all goes."""
    from pyspark.sql import functions as F

    timed = events.withWatermark("_timestamp", lateness)
    heard = timed.groupBy("order", F.session_window("_timestamp", silent_for).alias("session")).agg(
        F.max(F.struct(_rank().alias("rank"), F.col("_topic").alias("step"))).alias("last"),
        F.max("_timestamp").alias("since"),
        F.max(F.timestamp_millis("placed")).alias("placed_at"),
        F.max(F.col("_topic") == NOTIFIED).alias("_deleted"),
        F.max(~F.col("_topic").isin(*_AFTER_THE_END)).alias("tells"),
    )
    columns = (F.col("order").alias("order_id"), F.col("last.step").alias("step"))
    return heard.where("tells").select(*columns, "placed_at", "since", "_deleted")


def _rank() -> Column:
    from pyspark.sql import functions as F

    return F.array_position(F.array(*map(F.lit, STEPS)), F.col("_topic"))


def declared(silent_for: str = "1 minute", lateness: str = "10 seconds") -> Pipeline:
    @pipeline(
        name=NAME,
        inputs={
            "events": sources.topic(
                *STEPS, decode=decode.json("order string NOT NULL, placed long NOT NULL")
            )
        },
        outputs={
            "funnel": sinks.database(FUNNEL, key=("minute", "step"), mode="update"),
            "stuck": sinks.database(STUCK, key="order_id"),
        },
        options={
            "spark.sql.shuffle.partitions": "2",
            # A session is closed by a batch that may have no rows.
            "spark.sql.streaming.noDataMicroBatches.enabled": "true",
        },
    )
    def saga_funnel(events: DataFrame) -> dict[str, DataFrame]:
        return {"funnel": funnel(events), "stuck": stuck(events, silent_for, lateness)}

    return saga_funnel


saga_funnel = declared()
