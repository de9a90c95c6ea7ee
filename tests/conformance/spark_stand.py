"""What the Spark tests stand on: one session for the run, topics filled by another client.

The Spark code itself stays in the tests, written as a Spark user would write it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions
from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamReader

from penstock.pipelines.error import SetupError
from penstock.pipelines.java import require_java
from tests.conformance.clients.confluent import ConfluentClient
from tests.conformance.clients.record import PATIENCE_SECONDS, Record
from tests.conformance.clients.transaction_set import TransactionSet
from tests.patience import wait_until

QUERY_SECONDS = 120


def skip_without_java() -> None:
    try:
        require_java()
    except SetupError as error:
        pytest.skip(str(error))


@dataclass(frozen=True)
class SparkStand:
    """A Spark session, a broker to use it on, and a folder for checkpoints."""

    spark: SparkSession
    servers: str
    admin: AdminClient
    transactions: TransactionSet
    folder: Path

    # --- Spark's side ---------------------------------------------------------------------------

    def batch(self) -> DataFrameReader:
        return self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.servers)

    def stream(self) -> DataStreamReader:
        return self.spark.readStream.format("kafka").option("kafka.bootstrap.servers", self.servers)

    def to_kafka(self, frame: DataFrame) -> DataFrameWriter:
        return frame.write.format("kafka").option("kafka.bootstrap.servers", self.servers)

    def checkpoint(self, name: str = "checkpoint") -> str:
        return str(self.folder / name)

    @contextlib.contextmanager
    def setting(self, key: str, value: str) -> Iterator[None]:
        before = self.spark.conf.get(key)
        self.spark.conf.set(key, value)
        yield
        self.spark.conf.set(key, str(before))

    def drain(self, frame: DataFrame, checkpoint: str = "checkpoint") -> list[list[Row]]:
        """Run the stream over what there is now: the rows of each micro-batch."""
        batches: list[list[Row]] = []
        query = (
            frame.writeStream.option("checkpointLocation", self.checkpoint(checkpoint))
            .foreachBatch(lambda batch, _: batches.append(batch.collect()))
            .trigger(availableNow=True)
            .start()
        )
        finish(query)
        return batches

    # --- the other client's side ----------------------------------------------------------------

    def produce(self, topic: str, records: Sequence[Record], codec: str = "none") -> None:
        ConfluentClient(self.servers).produce(topic, records, codec=codec)

    def take(self, topic: str, count: int, partition: int = 0) -> list[Record]:
        with ConfluentClient(self.servers).open_reader(topic, partitions=[partition]) as reader:
            return reader.take(count)

    def delete_before(self, topic: str, offset: int, partition: int = 0) -> None:
        _wait(self.admin.delete_records([TopicPartition(topic, partition, offset)]))

    def grow(self, topic: str, partitions: int) -> None:
        _wait(self.admin.create_partitions([NewPartitions(topic, partitions)]))


def finish(query: StreamingQuery) -> None:
    try:
        assert query.awaitTermination(QUERY_SECONDS), "the query did not end"
    finally:
        query.stop()


def wait_for(query: StreamingQuery, condition: Callable[[], bool]) -> None:
    """Until it is so; a query that failed says why."""

    def checked() -> bool:
        error = query.exception()
        if error is not None:
            raise error
        return condition()

    wait_until(checked)


def texts(*words: str, partition: int = 0, **fields: Any) -> list[Record]:
    return [Record(word.encode(), partition=partition, **fields) for word in words]


def values(rows: Iterable[Row | Record]) -> list[str]:
    """What the records say, sorted: partitions and batches have no order among them."""
    found = [row["value"] if isinstance(row, Row) else row.value for row in rows]
    return sorted(bytes(value or b"").decode() for value in found)


def end_offsets(query: StreamingQuery) -> dict[str, dict[str, int]]:
    """How far the last finished micro-batch went, by topic and partition."""
    progress = query.lastProgress
    return {} if progress is None else json.loads(progress["sources"][0]["endOffset"])


def flat(batches: Iterable[list[Row]]) -> list[Row]:
    return [row for batch in batches for row in batch]


def _wait(futures: dict[Any, Future[Any]]) -> None:
    for future in futures.values():
        future.result(PATIENCE_SECONDS)
