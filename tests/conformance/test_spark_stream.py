"""Spark.

Streaming queries: started, fed while they run, stopped and started again from their checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka.admin import NewTopic
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row
from pyspark.sql import functions as f

from tests.conformance.clients.record import PATIENCE_SECONDS, Record
from tests.conformance.spark_stand import SparkStand, end_offsets, flat, texts, values, wait_for

MakeTopic = Callable[..., str]
pytestmark = pytest.mark.client("Spark")

A_MINUTE_MS = 60_000
NOON = 1_700_000_040_000  # a whole minute


@pytest.mark.feature("`availableNow`: what is there now, then only what came since")
def test_available_now(stand: SparkStand, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    frame = stand.stream().option("subscribe", topic).option("startingOffsets", "earliest").load()
    stand.produce(topic, texts("a", "b"))
    stand.produce(topic, texts("c", partition=1))
    assert values(flat(stand.drain(frame))) == ["a", "b", "c"]
    stand.produce(topic, texts("d", partition=1))
    assert values(flat(stand.drain(frame))) == ["d"]


@pytest.mark.feature("A running query: topic in, topic out")
def test_running_query(stand: SparkStand, make_topic: MakeTopic) -> None:
    source, target = make_topic(2), make_topic(2)
    stand.produce(source, texts("before"))
    query = (
        stand.stream()
        .option("subscribe", source)
        .option("startingOffsets", "latest")
        .option("includeHeaders", "true")
        .load()
        .select("key", f.upper(f.col("value").cast("string")).alias("value"), "headers")
        .withColumn("partition", f.lit(1))
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", stand.servers)
        .option("topic", target)
        .option("includeHeaders", "true")
        .option("checkpointLocation", stand.checkpoint())
        .start()
    )
    wait_for(query, lambda: query.lastProgress is not None)
    for number in range(3):
        sent = Record(b"after-%d" % number, key=b"k", headers=(("n", b"%d" % number),))
        stand.produce(source, [sent])
        came = stand.take(target, number + 1, partition=1)
        assert came[-1].content() == (b"k", b"AFTER-%d" % number, sent.headers)
    query.stop()
    assert query.exception() is None


@pytest.mark.feature("`maxOffsetsPerTrigger`: a backlog in batches of that size")
def test_max_offsets(stand: SparkStand, topic: str) -> None:
    words = [f"{n:02}" for n in range(25)]
    stand.produce(topic, texts(*words))
    reader = stand.stream().option("subscribe", topic).option("startingOffsets", "earliest")
    batches = stand.drain(reader.option("maxOffsetsPerTrigger", 10).load())
    assert [len(batch) for batch in batches] == [10, 10, 5]
    assert values(flat(batches)) == words


@pytest.mark.feature("A topic that grows partitions, and a new topic of the pattern, while it runs")
def test_growth(stand: SparkStand, make_topic: MakeTopic) -> None:
    topic, later = make_topic(1), f"{make_topic(1)}-later"
    seen: list[Row] = []
    query = (
        stand.stream()
        .option("subscribePattern", f"{topic}|{later}")
        .option("startingOffsets", "earliest")
        .option("kafka.metadata.max.age.ms", 200)
        .load()
        .writeStream.foreachBatch(lambda batch, _: seen.extend(batch.collect()))
        .option("checkpointLocation", stand.checkpoint())
        .start()
    )
    stand.produce(topic, texts("first"))
    wait_for(query, lambda: values(seen) == ["first"])
    stand.grow(topic, 2)
    stand.admin.create_topics([NewTopic(later, 1)])[later].result(PATIENCE_SECONDS)
    stand.produce(topic, texts("grown", partition=1))
    stand.produce(later, texts("new"))
    wait_for(query, lambda: values(seen) == ["first", "grown", "new"])
    wait_for(query, lambda: end_offsets(query) == {topic: {"0": 1, "1": 1}, later: {"0": 1}})
    query.stop()


@pytest.mark.feature("`failOnDataLoss` in a stream: records deleted behind a checkpoint")
def test_stream_data_loss(stand: SparkStand, topic: str) -> None:
    reader = stand.stream().option("subscribe", topic).option("startingOffsets", "earliest")
    stand.produce(topic, texts("a", "b"))
    assert values(flat(stand.drain(reader.load()))) == ["a", "b"]
    stand.produce(topic, texts("c", "d", "e"))
    stand.delete_before(topic, 4)
    with pytest.raises(StreamingQueryException, match="data may have been lost"):
        stand.drain(reader.option("failOnDataLoss", "true").load())
    assert values(flat(stand.drain(reader.option("failOnDataLoss", "false").load()))) == ["e"]


@pytest.mark.feature("A stream that starts at a time stamp")
def test_stream_timestamp(stand: SparkStand, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    for partition, minutes in enumerate([(0, 1, 2), (0,)]):
        for minute in minutes:
            when = NOON + minute * A_MINUTE_MS
            word = texts(f"{partition}-{minute}", partition=partition, timestamp=when)
            stand.produce(topic, word)
    frame = (
        stand.stream()
        .option("subscribe", topic)
        .option("startingTimestamp", NOON + A_MINUTE_MS)
        .option("startingOffsetsByTimestampStrategy", "latest")
        .load()
    )
    assert values(flat(stand.drain(frame))) == ["0-1", "0-2"]


@pytest.mark.feature("Transactions in a stream: aborted records and markers are passed over")
def test_stream_read_committed(stand: SparkStand, topic: str) -> None:
    reader = stand.stream().option("subscribe", topic).option("startingOffsets", "earliest")
    frame = reader.option("kafka.isolation.level", "read_committed").load()
    producer = stand.transactions.start("confluent-kafka", topic)
    for word, ends in (("a", True), ("aborted", False), ("b", True)):
        producer.begin()
        producer.send(topic, texts(word))
        if ends:
            producer.commit()
        else:
            producer.abort()
    assert values(flat(stand.drain(frame))) == ["a", "b"]
    producer.begin()
    producer.send(topic, texts("open"))
    assert flat(stand.drain(frame)) == []
    producer.commit()
    assert values(flat(stand.drain(frame))) == ["open"]


@pytest.mark.feature("Windows counted per key with a watermark, restarted from the checkpoint")
def test_window_restart(stand: SparkStand, topic: str) -> None:
    def counted() -> list[tuple[str, int, int]]:
        frame = (
            stand.stream()
            .option("subscribe", topic)
            .option("startingOffsets", "earliest")
            .load()
            .withWatermark("timestamp", "10 seconds")
            .groupBy(f.window("timestamp", "1 minute"), f.col("key").cast("string").alias("key"))
            .count()
            .select("key", f.unix_millis("window.start").alias("start"), "count")
        )
        return sorted((row["key"], row["start"], row["count"]) for row in flat(stand.drain(frame)))

    def at(second: int, key: str) -> Record:
        return Record(b"x", key=key.encode(), timestamp=NOON + second * 1000)

    # Spark's default: a batch without data follows, that the new watermark may close windows.
    with stand.setting("spark.sql.streaming.noDataMicroBatches.enabled", "true"):
        stand.produce(topic, [at(1, "a"), at(2, "a"), at(3, "b")])
        assert counted() == []
        stand.produce(topic, [at(50, "a"), at(100, "b")])
        assert counted() == [("a", NOON, 3), ("b", NOON, 1)]
        stand.produce(topic, [at(30, "a"), at(200, "c")])
        assert counted() == [("b", NOON + A_MINUTE_MS, 1)]


@pytest.mark.feature("Real-time mode: topic in, topic out, without micro-batches")
def test_real_time(stand: SparkStand, make_topic: MakeTopic) -> None:
    source, target = make_topic(1), make_topic(1)
    query = (
        stand.stream()
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .load()
        .select(f.concat(f.lit("seen "), f.col("value").cast("string")).alias("value"))
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", stand.servers)
        .option("topic", target)
        .option("checkpointLocation", stand.checkpoint())
        .outputMode("update")
        .trigger(realTime="5 minutes")  # type: ignore[call-overload]
        .start()
    )
    stand.produce(source, texts("0"))
    assert values(stand.take(target, 1)) == ["seen 0"]
    stand.produce(source, texts("1", "2"))
    assert values(stand.take(target, 3)) == ["seen 0", "seen 1", "seen 2"]
    assert query.exception() is None
    query.stop()
