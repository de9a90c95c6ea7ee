"""Debezium's changes of a database table into a table of the lake: inserts, updates, deletes."""

from __future__ import annotations

from pyspark.sql import DataFrame

from penstock.pipelines import decode, pipeline, sinks, sources

ROW = "struct<id: bigint, name: string, email: string>"
CHANGES = f"before {ROW}, after {ROW}, op string NOT NULL, source struct<lsn: bigint> NOT NULL"


@pipeline(
    inputs={
        "changes": sources.topic(
            "shop.public.customers",
            # After a delete Debezium writes a tombstone, for compaction: the delete says it all.
            decode=decode.json(CHANGES, tombstones="drop"),
        )
    },
    outputs={"customers": sinks.iceberg("shop.customers", key="id", order="lsn")},
)
def customers(changes: DataFrame) -> DataFrame:
    return changes.selectExpr(
        "coalesce(after.id, before.id) AS id",
        "after.name AS name",
        "after.email AS email",
        "source.lsn AS lsn",
        "op = 'd' AS _deleted",
    )
