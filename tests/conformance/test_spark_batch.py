"""Spark.

Batch jobs: a topic, or a part of it, read and written as a plain DataFrame.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import functions as f

from tests.conformance.clients.record import CODECS, Record
from tests.conformance.spark_stand import SparkStand, texts, values

MakeTopic = Callable[..., str]
pytestmark = pytest.mark.client("Spark")

# Whole seconds, a day apart from each other.
MONDAY, TUESDAY, WEDNESDAY = (1_700_000_000_000 + day * 86_400_000 for day in range(3))


@pytest.fixture
def week(stand: SparkStand, make_topic: MakeTopic) -> str:
    """Partition 0 has a record for each of three days, partition 1 for the first alone."""
    topic = make_topic(2)
    for partition, days in enumerate([(MONDAY, TUESDAY, WEDNESDAY), (MONDAY,)]):
        for number, day in enumerate(days):
            record = texts(f"{partition}-{number}", partition=partition, timestamp=day)
            stand.produce(topic, record)
    return topic


@pytest.mark.feature("Batch read: key, value and where and when each record is")
def test_batch_read(stand: SparkStand, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    stand.produce(topic, [Record(b"a", key=b"k", timestamp=MONDAY)])
    stand.produce(topic, [Record(None, key=b"gone", partition=1, timestamp=TUESDAY)])
    frame = (
        stand.batch().option("subscribe", topic).load().withColumn("ms", f.unix_millis("timestamp"))
    )
    first, second = frame.drop("timestamp").orderBy("partition").collect()
    assert first.asDict() == {
        "key": b"k",
        "value": b"a",
        "topic": topic,
        "partition": 0,
        "offset": 0,
        "timestampType": 0,
        "ms": MONDAY,
    }
    assert (second["key"], second["value"], second["ms"]) == (b"gone", None, TUESDAY)


@pytest.mark.feature("Record headers, read (`includeHeaders`) and written")
def test_headers(stand: SparkStand, topic: str) -> None:
    headers = (("trace", b"1"), ("trace", b"2"), ("none", None))
    frame = stand.spark.sql(
        "SELECT 'k' AS key, 'v' AS value, array("
        "named_struct('key', 'trace', 'value', binary('1')),"
        "named_struct('key', 'trace', 'value', binary('2')),"
        "named_struct('key', 'none', 'value', CAST(NULL AS BINARY))) AS headers"
    )
    stand.to_kafka(frame).option("topic", topic).option("includeHeaders", "true").save()
    assert stand.take(topic, 1)[0].headers == headers
    back = stand.batch().option("subscribe", topic).option("includeHeaders", "true").load()
    assert [(h["key"], h["value"]) for h in back.first()["headers"]] == list(headers)  # type: ignore[index]


@pytest.mark.feature("Batch write: rows name their topic and their partition")
def test_batch_write(stand: SparkStand, make_topic: MakeTopic) -> None:
    one, two = make_topic(2), make_topic(2)
    rows = [(one, 1, "a", "1"), (two, 0, "b", "2"), (two, 1, None, "3")]
    stand.to_kafka(
        stand.spark.createDataFrame(rows, "topic string, partition int, key string, value string")
    ).save()
    assert stand.take(one, 1, partition=1)[0].content() == (b"a", b"1", ())
    assert stand.take(two, 1)[0].content() == (b"b", b"2", ())
    assert stand.take(two, 1, partition=1)[0].content() == (None, b"3", ())


@pytest.mark.feature("Compressed records of every codec")
def test_codecs(stand: SparkStand, topic: str) -> None:
    expected: list[str] = []
    for codec in CODECS:
        words = [f"{codec}-{n}-" + "ab" * 50 for n in range(50)]
        stand.produce(topic, texts(*words), codec=codec)
        expected += words
    lines = stand.spark.range(100).selectExpr("concat('spark-', id, repeat('cd', 50)) AS value")
    for codec in CODECS[1:]:
        writer = stand.to_kafka(lines).option("topic", topic)
        writer.option("kafka.compression.type", codec).save()
    frame = stand.batch().option("subscribe", topic).load()
    found = values(frame.collect())
    assert [text for text in found if not text.startswith("spark")] == sorted(expected)
    assert len(found) == len(expected) + 400


@pytest.mark.feature("Transactions: `kafka.isolation.level` keeps aborted records out")
def test_read_committed(stand: SparkStand, topic: str) -> None:
    producer = stand.transactions.start("confluent-kafka", topic)
    for name in ("committed", "aborted", "last"):
        producer.begin()
        producer.send(topic, texts(f"{name}-0", f"{name}-1"))
        if name == "aborted":
            producer.abort()
        else:
            producer.commit()
    frame = stand.batch().option("subscribe", topic)
    committed = frame.option("kafka.isolation.level", "read_committed").load()
    assert values(committed.collect()) == ["committed-0", "committed-1", "last-0", "last-1"]
    everything = frame.option("kafka.isolation.level", "read_uncommitted").load()
    assert len(everything.collect()) == 6


@pytest.mark.feature("Several topics, topics by pattern, partitions by name")
def test_subscriptions(stand: SparkStand, make_topic: MakeTopic) -> None:
    one, two = make_topic(2), make_topic(1)
    stand.produce(one, texts("one-0"))
    stand.produce(one, texts("one-1", partition=1))
    stand.produce(two, texts("two-0"))
    several = stand.batch().option("subscribe", f"{one},{two}").load()
    assert values(several.collect()) == ["one-0", "one-1", "two-0"]
    pattern = stand.batch().option("subscribePattern", f"({one}|{two})").load()
    assert values(pattern.collect()) == ["one-0", "one-1", "two-0"]
    named = stand.batch().option("assign", json.dumps({one: [1], two: [0]})).load()
    assert values(named.collect()) == ["one-1", "two-0"]


@pytest.mark.feature("`startingOffsets` and `endingOffsets` by offset")
def test_offsets(stand: SparkStand, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    for partition in range(2):
        stand.produce(topic, texts(*(f"{partition}-{n}" for n in range(5)), partition=partition))
    reader = stand.batch().option("subscribe", topic)
    reader = reader.option("startingOffsets", json.dumps({topic: {"0": 3, "1": -2}}))
    until = reader.option("endingOffsets", json.dumps({topic: {"0": -1, "1": 2}})).load()
    assert values(until.collect()) == ["0-3", "0-4", "1-0", "1-1"]
    whole = reader.option("endingOffsets", "latest").load()
    assert whole.count() == 7


@pytest.mark.feature("`startingTimestamp` and `endingTimestamp`, for all or by partition")
def test_timestamps(stand: SparkStand, week: str) -> None:
    reader = stand.batch().option("subscribe", week)
    bounded = reader.option("startingTimestamp", MONDAY).option("endingTimestamp", WEDNESDAY)
    assert values(bounded.load().collect()) == ["0-0", "0-1", "1-0"]
    reader = stand.batch().option("subscribe", week)
    starts = {week: {"0": TUESDAY - 1, "1": MONDAY}}
    ends = {week: {"0": WEDNESDAY + 1, "1": MONDAY}}
    frame = (
        reader.option("startingOffsetsByTimestamp", json.dumps(starts))
        .option("endingOffsetsByTimestamp", json.dumps(ends))
        .load()
    )
    assert values(frame.collect()) == ["0-1", "0-2"]
    assert frame.select("timestamp").agg(f.min("timestamp")).first()[0] == _utc(TUESDAY)  # type: ignore[index]


@pytest.mark.feature("A `startingTimestamp` later than all records: an error, or the end")
def test_timestamp_strategy(stand: SparkStand, week: str) -> None:
    reader = stand.batch().option("subscribe", week).option("startingTimestamp", TUESDAY)
    with pytest.raises(PySparkException, match="timestamp"):
        reader.load().collect()
    latest = reader.option("startingOffsetsByTimestampStrategy", "latest").load()
    assert values(latest.collect()) == ["0-1", "0-2"]


@pytest.mark.feature("`minPartitions`: one partition read by several tasks")
def test_min_partitions(stand: SparkStand, topic: str) -> None:
    words = [f"{n:03}" for n in range(200)]
    stand.produce(topic, texts(*words))
    frame = stand.batch().option("subscribe", topic).option("minPartitions", 6).load()
    assert frame.rdd.getNumPartitions() == 6
    assert values(frame.collect()) == words


@pytest.mark.feature("`failOnDataLoss` in a batch: deleted records are an error, or left out")
def test_batch_data_loss(stand: SparkStand, topic: str) -> None:
    stand.produce(topic, texts(*"abcdef"))
    stand.delete_before(topic, 4)
    reader = stand.batch().option("subscribe", topic)
    assert values(reader.load().collect()) == ["e", "f"]
    reader = reader.option("startingOffsets", json.dumps({topic: {"0": 1}}))
    with pytest.raises(Py4JJavaError, match="data may have been lost"):
        reader.option("failOnDataLoss", "true").load().collect()
    assert values(reader.option("failOnDataLoss", "false").load().collect()) == ["e", "f"]


def _utc(milliseconds: int) -> datetime:
    """As Spark gives a time stamp to Python: local time without a zone."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone().replace(tzinfo=None)
