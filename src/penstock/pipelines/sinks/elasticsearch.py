"""An index of Elasticsearch or OpenSearch as an output, through the bulk API that both have.

The id of a document is made of the row's key: a batch that is repeated writes the same documents
over. Executors send; refused documents stop the run by the name of the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError, RunError, TransientError
from penstock.pipelines.retry import Failure, Retry, attempt
from penstock.pipelines.sinks.contract import OutputMode, Write
from penstock.pipelines.sinks.http import BODY, ORIGIN, body_of, require_id, send_all
from penstock.pipelines.sinks.http_request import PATIENCE, Receiver, Requests, joined, receiver_url
from penstock.pipelines.sinks.lake import BatchedSink
from penstock.pipelines.sinks.upsert import DELETED, as_key, last_of_key, require_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.checkpoint import Checkpoint

_VERSION = "_version"
_ROWS_MAX = 1_000
_BYTES_MAX = 5 << 20
_WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
_BUSY = (429, 503)
_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class ElasticsearchSink(BatchedSink):
    index: str
    receiver: Receiver
    key: tuple[str, ...] = ORIGIN
    order: str | None = None
    mode: OutputMode = "append"

    def open(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        place: Checkpoint,
        settings: RunSettings,
    ) -> Write:
        require_id(frame, output, self.key)
        require_rows(frame, output, self.index, self.key, self.order)
        if self.order is not None and dict(frame.dtypes)[self.order] not in _WHOLE_NUMBERS:
            raise DeclarationError(
                f"output {output}: order={self.order!r} becomes the version of a document, and is"
                f" to be a whole number, not {dict(frame.dtypes)[self.order]}"
            )
        task = partial(_send, self.index, self.receiver, self.key)

        def write(batch: DataFrame, query_id: str, number: int) -> None:
            rows = _documents(last_of_key(batch, self.key, self.order), self.key, self.order)
            send_all(rows, task)

        return write


def elasticsearch(
    index: str,
    *,
    url: str,
    key: str | Sequence[str] = ORIGIN,
    order: str | None = None,
    mode: OutputMode = "append",
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 60.0,
    retry: Retry | None = None,
) -> ElasticsearchSink:
    """`key` names the columns that make a document's id; one with `_deleted` deletes it."""
    own = {"Content-Type": "application/x-ndjson", **(headers or {})}
    bulk = f"{receiver_url(url).rstrip('/')}/_bulk"
    receiver = Receiver(bulk, own, timeout_s, retry or PATIENCE)
    return ElasticsearchSink(index, receiver, as_key(key), order, mode)


def _documents(rows: DataFrame, key: Sequence[str], order: str | None) -> DataFrame:
    """The key, `_deleted`, `_version` and the document."""
    from pyspark.sql import functions as sql

    version = sql.col(order) if order else sql.lit(None)
    return rows.select(*key, DELETED, version.cast("bigint").alias(_VERSION), body_of(rows))


@dataclass(frozen=True, slots=True)
class Action:
    id: str
    lines: bytes = field(repr=False)


def _send(
    index: str, receiver: Receiver, key: Sequence[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    requests = Requests(receiver)
    try:
        for chunk in _chunks(_actions(index, key, batches)):
            _send_chunk(requests, receiver.retry, chunk)
    finally:
        requests.close()
    return iter(())


def _actions(index: str, key: Sequence[str], batches: Iterator[pa.RecordBatch]) -> Iterator[Action]:
    for batch in batches:
        ids = zip(*(batch.column(name).to_pylist() for name in key), strict=True)
        rest = (batch.column(name).to_pylist() for name in (DELETED, _VERSION, BODY))
        for parts, gone, version, body in zip(ids, *rest, strict=True):
            about: dict[str, Any] = {"_index": index, "_id": joined(parts)}
            if version is not None:
                # Also across batches: what is older than the document there changes nothing.
                about |= {"version": version, "version_type": "external_gte"}
            head = json.dumps({"delete" if gone else "index": about})
            yield Action(about["_id"], f"{head}\n{'' if gone else body + chr(10)}".encode())


def _chunks(actions: Iterator[Action]) -> Iterator[list[Action]]:
    chunk: list[Action] = []
    size = 0
    for action in actions:
        if chunk and (len(chunk) == _ROWS_MAX or size + len(action.lines) > _BYTES_MAX):
            yield chunk
            chunk, size = [], 0
        chunk.append(action)
        size += len(action.lines)
    if chunk:
        yield chunk


def _send_chunk(requests: Requests, retry: Retry, chunk: list[Action]) -> None:
    """Until every document was taken; those that the server had no time for are sent again."""
    left = chunk

    def once() -> None:
        nonlocal left
        answer = requests.post(b"".join(each.lines for each in left), f"{left[0].id}, …", {})
        left = _busy(left, json.loads(answer))
        if left:
            raise TransientError(f"the server is too busy for {len(left)} documents")

    result = attempt(once, retry)
    if isinstance(result, Failure):
        raise result.error


def _busy(sent: list[Action], answer: Mapping[str, Any]) -> list[Action]:
    if not answer.get("errors"):
        return []
    busy = []
    for action, item in zip(sent, answer["items"], strict=True):
        ((verb, said),) = item.items()
        status = int(said["status"])
        if status in _BUSY:
            busy.append(action)
        elif status >= 300 and not _harmless(verb, status):
            why = said.get("error") or {}
            reason = why.get("reason", why) if isinstance(why, dict) else why
            raise RunError(f"document {action.id} of {said['_index']} was refused: {reason}")
    return busy


def _harmless(verb: str, status: int) -> bool:
    """There was nothing to delete; or a newer version of the document is there."""
    return status == _CONFLICT or (verb == "delete" and status == 404)
