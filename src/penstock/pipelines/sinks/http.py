"""An HTTP service as an output: rows as JSON, each request with an `Idempotency-Key`.

A request is sent again when Spark repeats a batch or an answer was lost, under the same key and
with the same body: a service that keeps to the key takes it once. For one that does not, a table of
processed events narrows it down to requests whose answer was lost. Rows of one partition of a
topic are sent one after the other, in the order of their offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.retry import Retry
from penstock.pipelines.sinks.contract import Write
from penstock.pipelines.sinks.http_request import PATIENCE, Receiver, Requests, joined, receiver_url
from penstock.pipelines.sinks.lake import BatchedSink
from penstock.pipelines.sinks.processed import ProcessedEvents
from penstock.pipelines.sinks.upsert import as_key

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.checkpoint import Checkpoint

ORIGIN = ("_topic", "_partition", "_offset")
BODY = "_body"


@dataclass(frozen=True, slots=True)
class HttpSink(BatchedSink):
    receiver: Receiver
    id: tuple[str, ...] = ORIGIN
    rows_per_request: int = 1
    processed: str | None = field(default=None, repr=False)
    """Where requests that were answered are noted; None: nowhere."""

    def open(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        place: Checkpoint,
        settings: RunSettings,
    ) -> Write:
        require_id(frame, output, self.id)
        events = None
        if self.processed is not None:
            events = ProcessedEvents(self.processed, f"{pipeline}.{output}")
            events.create()
        task = PostTask(
            self.receiver, f"{pipeline}.{output}", self.id, self.rows_per_request, events
        )

        def write(batch: DataFrame, query_id: str, number: int) -> None:
            rows = as_json(batch, self.id).repartition(*(self.id[:-1] or self.id))
            send_all(rows.sortWithinPartitions(*self.id), partial(post, task))

        return write


def http(
    url: str,
    *,
    id: str | Sequence[str] = ORIGIN,
    rows_per_request: int = 1,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 30.0,
    retry: Retry | None = None,
    processed: str | None = None,
) -> HttpSink:
    """`id` names the columns that tell rows apart; `processed` is a database as in `database()`."""
    names = as_key(id)
    if rows_per_request > 1 and len(names) < 2:
        raise DeclarationError(
            "several rows in a request need an id of several columns, the last of which counts"
            " within the others, such as _topic, _partition, _offset"
        )
    receiver = Receiver(receiver_url(url), dict(headers or {}), timeout_s, retry or PATIENCE)
    return HttpSink(receiver, names, rows_per_request, processed)


def require_id(frame: DataFrame, output: str, id: Sequence[str]) -> None:
    missing = [name for name in id if name not in frame.columns]
    if missing:
        raise DeclarationError(
            f"output {output}: the rows have no {', '.join(missing)}: select {', '.join(id)} as"
            " well, or name columns that tell rows apart (they are not sent if they begin with _)"
        )


def as_json(batch: DataFrame, id: Sequence[str]) -> DataFrame:
    """The columns of the id, and the body."""
    return batch.select(*id, body_of(batch))


def body_of(rows: DataFrame) -> Column:
    """`_body`: all columns without a leading underscore, as JSON."""
    from pyspark.sql import functions as sql

    sent = [name for name in rows.columns if not name.startswith("_")]
    return sql.to_json(sql.struct(*sent)).alias(BODY)


def send_all(
    rows: DataFrame, task: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
) -> None:
    """Have executors send the rows, which it waits for."""
    rows.mapInArrow(task, "sent long").write.format("noop").mode("overwrite").save()


@dataclass(frozen=True, slots=True)
class PostTask:
    """What a task needs to know."""

    receiver: Receiver
    name: str
    """Before the id in every key: two outputs may send the same record to one service."""
    id: tuple[str, ...]
    rows_per_request: int
    events: ProcessedEvents | None


def post(task: PostTask, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    requests = Requests(task.receiver)
    try:
        for key, body in _requests(task, batches):
            if task.events is not None and task.events.has(key):
                continue
            requests.post(body.encode(), key, {"Idempotency-Key": key})
            if task.events is not None:
                task.events.note(key)
    finally:
        requests.close()
    return iter(())


def _requests(task: PostTask, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str, str]]:
    """Keys and bodies, the same in every replay: made of one partition's rows, in order."""
    rows = _distinct(_rows(task.id, batches))
    if task.rows_per_request == 1:
        for id, body in rows:
            yield f"{task.name}:{joined(id)}", body
        return
    for _, same in groupby(rows, key=lambda row: row[0][:-1]):
        for chunk in _chunks(same, task.rows_per_request):
            first, last = chunk[0][0], chunk[-1][0][-1]
            bodies = ",".join(body for _, body in chunk)
            yield f"{task.name}:{joined(first)}..{last}", f"[{bodies}]"


def _rows(
    id: Sequence[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[tuple[tuple[Any, ...], str]]:
    for batch in batches:
        ids = zip(*(batch.column(name).to_pylist() for name in id), strict=True)
        yield from zip(ids, batch.column(BODY).to_pylist(), strict=True)


def _distinct(
    rows: Iterator[tuple[tuple[Any, ...], str]],
) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Two rows under one key would be one to the service, and the second lost."""
    before: tuple[Any, ...] | None = None
    for id, body in rows:
        if id == before:
            raise RunError(f"several rows have the id {joined(id)}: name more columns (id=)")
        before = id
        yield id, body


def _chunks(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    chunk = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
