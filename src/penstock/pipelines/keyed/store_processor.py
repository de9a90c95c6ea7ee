"""What Spark calls in its Python workers: the rows of a bucket in, what is to be written out.

A group of Spark's is a bucket of keys, so there is one call for each bucket and batch. What the
call returns is packed: Spark carries it to the sink of the same task as it is.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy
import pandas
import pyarrow
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import (
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
)

from penstock.pipelines.keyed.event import Content, Headers
from penstock.pipelines.keyed.judging import DEAD_LETTERS, EVENTS, STATES, Judging, Rows, StepSpec
from penstock.pipelines.keyed.store_bucket import Buckets, write
from penstock.pipelines.sinks.write import QUERY_ID
from penstock.pipelines.worker_memory import settle

if TYPE_CHECKING:
    from penstock.pipelines.sources.table import Table

T = TypeVar("T")
PACKED = "packed"
"""The column with rows for a topic sink, as an Arrow stream."""
WRITTEN = "rows"
_ROWS_MAX = 20_000
_HEADER = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])

_buckets = Buckets()


def figures(spec: StepSpec) -> list[str]:
    """What each call counts."""
    return [WRITTEN, EVENTS, DEAD_LETTERS, STATES, *spec.outputs, *spec.counters]


class BucketProcessor(StatefulProcessor):
    def __init__(
        self, spec: StepSpec, topics: Mapping[str, str], tables: Mapping[str, Table]
    ) -> None:
        self._spec = spec
        self._topics = topics
        """Of each output, and of the dead letters under their own name."""
        self._tables = tables

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._entries: MapState = handle.getMapState("entries", "number long", "content binary")

    def close(self) -> None:
        pass

    def handleInputRows(
        self, key: Any, rows: Iterator[pandas.DataFrame], timerValues: Any
    ) -> Iterator[pandas.DataFrame]:
        settle()
        bucket, query = int(key[0]), _query_id()
        log = _buckets.take(query, bucket, self._entries)
        judging = Judging(self._spec, log.states.get)
        views = {name: table.follower().view() for name, table in self._tables.items()}
        for partition, part in in_order(pandas.concat(list(rows))):
            judging.judge(partition, part, views)
        changed = judging.changed()
        write(self._entries, log, changed)
        _buckets.put(query, bucket, log)
        counts = {**judging.counts(), STATES: len(changed)}
        counts[WRITTEN] = sum(counts[name] for name in self._spec.outputs)
        names = figures(self._spec)
        for packed in self._packed(judging):
            yield pandas.DataFrame([[packed, *(counts.get(name, 0) for name in names)]])
            counts = {}

    def _packed(self, judging: Judging) -> Iterator[bytes | None]:
        """Outputs in their order, then dead letters; something in any case, for the counts."""
        empty = True
        for name, messages in judging.outputs.items():
            for part in _chunks(messages):
                keys = [_bytes(each["key"]) for each in part]
                yield pack(self._topics[name], keys, [_bytes(each["value"]) for each in part])
                empty = False
        for letters in _chunks(judging.dead_letters):
            yield pack(
                self._topics[DEAD_LETTERS],
                [each.key for each in letters],
                [each.value for each in letters],
                [_pairs(each.headers) for each in letters],
            )
            empty = False
        if empty:
            yield None


def in_order(frame: pandas.DataFrame) -> Iterator[tuple[int, Rows]]:
    """The rows of each partition by their offsets, whatever order Spark had them in."""
    partitions, offsets = frame["partition"].to_numpy(), frame["offset"].to_numpy()
    order = numpy.lexsort((offsets, partitions))
    ordered = frame.take(order)
    ends = numpy.flatnonzero(numpy.diff(ordered["partition"].to_numpy())) + 1
    for start, end in zip([0, *ends], [*ends, len(ordered)], strict=True):
        part = ordered.iloc[start:end]
        headers = part["headers"].tolist()
        yield (
            int(part["partition"].iloc[0]),
            Rows(
                keys=part["key"].tolist(),
                values=part["value"].tolist(),
                offsets=part["offset"].tolist(),
                timestamps_ms=part["timestamp_ms"].tolist(),
                headers=lambda index, headers=headers: _headers(headers[index]),  # type: ignore[misc]
            ),
        )


def pack(
    topic: str,
    keys: list[bytes | None],
    values: list[bytes | None],
    headers: list[list[dict[str, Any]]] | None = None,
) -> bytes:
    columns = {
        "topic": pyarrow.array([topic] * len(keys), pyarrow.string()),
        "key": pyarrow.array(keys, pyarrow.binary()),
        "value": pyarrow.array(values, pyarrow.binary()),
    }
    if headers is not None:
        columns["headers"] = pyarrow.array(headers, pyarrow.list_(_HEADER))
    batch = pyarrow.RecordBatch.from_pydict(columns)
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def unpack(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for batch in batches:
        for packed in batch.column(PACKED):
            if packed.is_valid:
                yield from pyarrow.ipc.open_stream(packed.as_buffer())


def _chunks(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), _ROWS_MAX):
        yield rows[start : start + _ROWS_MAX]


def _bytes(content: Content) -> bytes | None:
    return content.encode() if isinstance(content, str) else content


def _pairs(headers: Headers) -> list[dict[str, Any]]:
    return [{"key": key, "value": _bytes(value)} for key, value in headers]


def _headers(told: str | None) -> Headers:
    """From JSON, as Spark writes headers: bytes in Base64."""
    found = json.loads(told) if told else []
    return [(each["key"], b64decode(each["value"]) if "value" in each else None) for each in found]


def _query_id() -> str:
    context = TaskContext.get()
    found = None if context is None else context.getLocalProperty(QUERY_ID)
    if found is None:
        raise RuntimeError("states are kept for streaming queries only")
    return str(found)
