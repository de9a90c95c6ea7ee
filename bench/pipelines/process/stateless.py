"""The stateless verdicts: SQL expressions on one payment, Spark's real-time mode, its own sink."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.pipelines import RunSettings
from penstock.pipelines.jobs.fraud.model import PAYMENTS, VERDICTS

_PAYMENT = (
    "payment STRING, account STRING, amount DOUBLE, currency STRING,"
    " merchant STRING, country STRING, device STRING, time BIGINT"
)
# How long one real-time batch lasts: verdicts stall at the boundary between two.
BATCH = "60 seconds"


def start(spark: SparkSession, settings: RunSettings) -> StreamingQuery:
    reader = spark.readStream.format("kafka").options(**settings.spark_kafka())
    payments = (
        reader.option("subscribe", PAYMENTS)
        .option("startingOffsets", "earliest")
        .option("kafka.fetch.max.wait.ms", "10")
        .load()
    )
    writer = verdicts(payments).writeStream.format("kafka").options(**settings.spark_kafka())
    query: StreamingQuery = (
        writer.option("topic", VERDICTS)
        .option("kafka.linger.ms", "1")
        .option("checkpointLocation", str(settings.home("stateless")))
        .outputMode("update")
        # Its type stubs do not know real-time mode yet.
        .trigger(realTime=BATCH)  # type: ignore[call-overload]
        .start()
    )
    return query


def verdicts(payments: DataFrame) -> DataFrame:
    parsed = payments.selectExpr(f"from_json(CAST(value AS STRING), '{_PAYMENT}') AS p")
    return parsed.selectExpr(
        "p.payment AS key",
        "to_json(named_struct('payment', p.payment, 'account', p.account, 'decision',"
        " CASE WHEN p.amount > 500 OR p.merchant IN ('merchant-0013', 'merchant-0666')"
        " THEN 'review' ELSE 'accept' END, 'time', p.time)) AS value",
    )
