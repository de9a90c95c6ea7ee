"""Does a table hold every record of a topic once? A job that names what is missing or doubled.

python -m examples.reconciliation orders penstock-pipelines/tables/bronze
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession

from penstock.pipelines import RunSettings, session, sources


def differences(records: DataFrame, rows: DataFrame) -> DataFrame:
    """Records by partition and offset, how often each is in the table, and what that makes it.

    Offsets are compared with those that are read, not counted up: transactions and compaction
    leave offsets without a record.
    """
    expected = records.selectExpr("partition", "offset")
    found = rows.selectExpr("_partition AS partition", "_offset AS offset")
    counted = found.groupBy("partition", "offset").count().withColumnRenamed("count", "copies")
    both = expected.withColumn("expected", expected["offset"].isNotNull()).join(
        counted, ["partition", "offset"], "full"
    )
    kind = (
        "CASE WHEN copies IS NULL THEN 'missing' WHEN expected IS NULL THEN 'unknown'"
        " WHEN copies > 1 THEN 'doubled' END AS kind"
    )
    judged = both.selectExpr("partition", "offset", "coalesce(copies, 0) AS copies", kind)
    return judged.where("kind IS NOT NULL").orderBy("partition", "offset")


def reconcile(spark: SparkSession, topic: str, rows: DataFrame, settings: RunSettings) -> DataFrame:
    records = sources.topic(topic).range(spark, settings, "earliest", "latest")
    return differences(records, rows.where(rows["_topic"] == topic))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("topic")
    parser.add_argument("table", help="a folder of Parquet, with _topic, _partition and _offset")
    parser.add_argument("--bootstrap-servers", default="127.0.0.1:9092")
    given = parser.parse_args()
    spark = session(name="reconciliation")
    settings = RunSettings(given.bootstrap_servers)
    found = reconcile(spark, given.topic, spark.read.parquet(given.table), settings).collect()
    for row in found:
        print(
            f"{given.topic}-{row.partition} offset {row.offset}: {row.kind} ({row.copies} copies)"
        )
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
