"""What a Spark task does with the rows of one batch for a topic, in a Python worker.

One transaction a task and batch: all rows and the fence, or nothing. It never decides which rows
it gets: the driver hands each key to the same task whenever a batch is replayed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from penstock.pipelines.sinks.fence import Target
from penstock.pipelines.sinks.task_producer import (
    QUEUE_MESSAGES_MAX,
    begun_producer,
    drop_producer,
    is_written_by_another,
    says_fenced,
)
from penstock.pipelines.worker_memory import settle

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ID = "streaming.sql.batchId"
QUERY_ID = "sql.streaming.queryId"
_CHUNK_ROWS = 20_000
_UNSENT_MESSAGES_MAX = QUEUE_MESSAGES_MAX // 4
_UNSENT_BYTES_MAX = 64 << 20


def write_task(
    target: Target,
    tasks: int,
    batches: Iterator[pa.RecordBatch],
    batch: tuple[str, int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """`batch`: of which checkpoint it is, and its number, where Spark does not say so."""
    from pyspark import TaskContext

    settle()
    context = TaskContext.get()
    if context is None or context.partitionId() >= tasks:
        raise RuntimeError(f"a batch was split into more than the {tasks} tasks that are fenced")
    query_id, number = batch or _told_by_spark(context)
    filled = (each for each in batches if each.num_rows)
    first = next(filled, None)
    if first is not None:
        task, attempt = context.partitionId(), context.attemptNumber()
        write_batch(target, query_id, task, number, chain([first], filled), attempt)
    return iter(())


def _told_by_spark(context: Any) -> tuple[str, int]:
    batch_id, query_id = context.getLocalProperty(BATCH_ID), context.getLocalProperty(QUERY_ID)
    if batch_id is None or query_id is None:
        raise RuntimeError("only a micro-batch of a streaming query can be written exactly once")
    return query_id, int(batch_id)


def write_batch(
    target: Target,
    query_id: str,
    task: int,
    batch: int,
    rows: Iterable[pa.RecordBatch],
    attempt: int = 0,
) -> bool:
    """Whether it was written now, by this attempt; False: another has written it."""
    producer = begun_producer(target, query_id, task, batch, attempt)
    if producer is None:
        _read_to_the_end(rows)
        return False
    try:
        send_rows(producer.producer, target.topic, rows)
        producer.commit(batch)
    except BaseException as failure:
        fenced = not drop_producer(target, query_id, task) or says_fenced(failure)
        if not fenced or not is_written_by_another(target, query_id, task, batch):
            raise
        _read_to_the_end(rows)
        return False
    return True


def _read_to_the_end(rows: Iterable[pa.RecordBatch]) -> None:
    """The JVM at the other end expects it."""
    for _ in rows:
        pass


def send_rows(producer: Any, topic: str, rows: Iterable[pa.RecordBatch]) -> None:
    unsent_bytes = 0
    for batch in rows:
        for start in range(0, batch.num_rows, _CHUNK_ROWS):
            chunk = batch.slice(start, _CHUNK_ROWS)
            unsent_bytes += chunk.get_total_buffer_size() if start == 0 else 0
            if len(producer) > _UNSENT_MESSAGES_MAX or unsent_bytes > _UNSENT_BYTES_MAX:
                # Room for the whole chunk: were only a part of it taken, order would be lost.
                producer.flush()
                unsent_bytes = 0
            _send_chunk(producer, topic, chunk)


def _send_chunk(producer: Any, topic: str, chunk: pa.RecordBatch) -> None:
    names = set(chunk.schema.names)
    keys = chunk.column("key").to_pylist()
    values = chunk.column("value").to_pylist()
    if "headers" in names:
        topics = chunk.column("topic").to_pylist() if "topic" in names else [None] * len(keys)
        headers = chunk.column("headers").to_pylist()
        for name, key, value, pairs in zip(topics, keys, values, headers, strict=True):
            _send_one(producer, name or topic, key, value, pairs)
    elif "topic" in names:
        by_topic: dict[str, list[dict[str, Any]]] = defaultdict(list)
        names_of_rows = chunk.column("topic").to_pylist()
        for name, key, value in zip(names_of_rows, keys, values, strict=True):
            by_topic[name or topic].append({"key": key, "value": value})
        for name, messages in by_topic.items():
            _send_many(producer, name, messages)
    else:
        rows = zip(keys, values, strict=True)
        _send_many(producer, topic, [{"key": key, "value": value} for key, value in rows])


def _send_one(
    producer: Any, topic: str, key: bytes, value: bytes, pairs: list[dict[str, Any]] | None
) -> None:
    headers = [(pair["key"], pair["value"]) for pair in pairs or ()]
    if headers:
        producer.produce(topic, value, key, headers=headers)
    else:
        producer.produce(topic, value, key)


def _send_many(producer: Any, topic: str, messages: list[dict[str, Any]]) -> None:
    if producer.produce_batch(topic, messages) != len(messages):
        failed = next(message["_error"] for message in messages if "_error" in message)
        raise RuntimeError(f"a record was not taken for {topic}: {failed}")
