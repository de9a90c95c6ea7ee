"""A compacted topic as a live table: read to its end at first use, then followed as it changes.

`TableSource` is the declaration; `Table` is that on a broker, with what a pipeline does with it;
`TableFollower` is the one reader a process has for it, in a thread of its own. A follower keeps
its last rows when the broker goes away, and says so; it never asks the broker for one event's sake.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import consumer_settings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.transforms.decoder import Decoder

_log = logging.getLogger(__name__)

READY_TIMEOUT_S = 60.0
POLL_S = 0.2
PARTITIONS_REFRESH_S = 5.0
OUTAGE_S = 5.0
"""How long the broker may be silent before the table says that it is out of date."""


@dataclass(frozen=True, slots=True)
class TableSource:
    topic: str
    decode: Decoder | Callable[[bytes], Any]
    build: Callable[[Mapping[str, Any]], Any] | None = None
    """What steps get instead of the rows: made anew from them whenever they have changed."""
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Tells the same declaration after pickling, so that a worker has one follower for it."""

    def open(self, settings: RunSettings) -> Table:
        return Table(replace(self, decode=portable(self.decode)), settings.client())

    def load(self, value: bytes) -> Any:
        # A decoder's own `load` is plain Python; a function is taken as it is.
        decode: Any = getattr(self.decode, "load", self.decode)
        return decode(value)


def table(
    topic: str,
    *,
    decode: Decoder | Callable[[bytes], Any],
    build: Callable[[Mapping[str, Any]], Any] | None = None,
) -> TableSource:
    return TableSource(topic, decode, build)


@dataclass(frozen=True, slots=True)
class Table:
    """A table on a broker. Can be pickled: each process that uses it follows the topic itself."""

    source: TableSource
    client: Mapping[str, Any]

    def follower(self) -> TableFollower:
        return follow(self.source, self.client)

    def lookup(self, key: Column | str) -> Column:
        """The fields of the row with this key, as a struct; null where there is none."""
        from pyspark.sql import functions as F
        from pyspark.sql.pandas.functions import arrow_udf

        schema = _schema(self.source)
        column = F.col(key) if isinstance(key, str) else key
        make: Any = arrow_udf
        found: Column = make(_lookup(self, schema), returnType=schema)(column.cast("string"))
        return found

    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows as they are now: `_key` and the fields."""
        from pyspark.sql.types import StringType, StructField, StructType

        fields = _schema(self.source).fields
        rows = self.follower().rows()
        content = [(key, *(value.get(each.name) for each in fields)) for key, value in rows.items()]
        return spark.createDataFrame(
            content, StructType([StructField("_key", StringType(), False), *fields])
        )


def _lookup(table: Table, schema: Any) -> Callable[[Any], Any]:
    """Keys in, structs out, in Arrow."""
    import pyarrow

    def look(keys: Any) -> Any:
        from pyspark.sql.pandas.types import to_arrow_type

        rows = table.follower().rows()
        kind = to_arrow_type(schema)
        return pyarrow.array([rows.get(key) for key in keys.to_pylist()], type=kind)

    # Spark tells the kind of function by these, as classes: as text it could not resolve them.
    look.__annotations__ = {"keys": pyarrow.Array, "return": pyarrow.Array}
    return look


def portable(decoder: Any) -> Any:
    """The decoder with its schema parsed: a worker has no JVM to parse it with."""
    from penstock.pipelines.transforms.json_form import JsonDecoder

    return decoder.portable() if isinstance(decoder, JsonDecoder) else decoder


def _schema(source: TableSource) -> Any:
    schema = getattr(source.decode, "schema", None)
    if schema is None:
        raise RunError(
            f"table {source.topic} has no schema: declare it with decode.json(...) or another"
            " decoder to use it in DataFrames"
        )
    return schema


class TableFollower:
    """Rows of one table in this process; `start()` begins, `close()` ends the thread."""

    def __init__(self, source: TableSource, client: Mapping[str, Any]) -> None:
        self.source = source
        self.version = 0
        """Goes up with every change."""
        self.undecodable = 0
        self.stale_since: float | None = None
        """When the broker was last heard of, while it cannot be reached."""
        self._rows: dict[str, Any] = {}
        self._built: tuple[int, Any] = (-1, None)
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._closing = threading.Event()
        self._ended: set[int] = set()
        self._positions: dict[int, int] = {}
        self._settings = {
            **consumer_settings(client, f"penstock.table.{source.topic}"),
            "error_cb": self._on_error,
            "topic.metadata.refresh.interval.ms": 5_000,
        }
        self._thread = threading.Thread(
            target=self._follow, name=f"table-{source.topic}", daemon=True
        )

    def start(self) -> TableFollower:
        self._thread.start()
        return self

    def close(self) -> None:
        self._closing.set()
        self._thread.join(10)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def rows(self, timeout_s: float = READY_TIMEOUT_S) -> Mapping[str, Any]:
        """A live view by key; the first call waits until the topic is read to its end."""
        self._wait(timeout_s)
        return MappingProxyType(self._rows)

    def view(self, timeout_s: float = READY_TIMEOUT_S) -> Any:
        """What the source builds of the rows, or the live rows where it builds nothing."""
        if self.source.build is None:
            return self.rows(timeout_s)
        self._wait(timeout_s)
        version, built = self._built
        if version != self.version:
            with self._lock:
                version, rows = self.version, dict(self._rows)
            built = self.source.build(rows)
            self._built = (version, built)
        return built

    def _wait(self, timeout_s: float) -> None:
        if not self._ready.is_set() and not self._ready.wait(timeout_s):
            raise RunError(
                f"table {self.source.topic} could not be read within {timeout_s:g} s: is the"
                " broker up, and does the topic exist?"
            )

    def _follow(self) -> None:
        while not self._closing.is_set():
            consumer = Consumer(self._settings)
            try:
                self._read(consumer)
            except KafkaException as error:
                _log.warning("table %s: %s; reading it again", self.source.topic, error)
                self._closing.wait(1)
            finally:
                consumer.close()

    def _read(self, consumer: Consumer) -> None:
        next_look = 0.0
        while not self._closing.is_set():
            if time.monotonic() >= next_look:
                self._assign(consumer)
                wait_s = PARTITIONS_REFRESH_S if self._positions else POLL_S
                next_look = time.monotonic() + wait_s
            messages = consumer.consume(1_000, POLL_S) if self._positions else []
            for message in messages:
                self._take(message)
            if not self._positions:
                self._closing.wait(POLL_S)

    def _assign(self, consumer: Consumer) -> None:
        """Take on partitions that are new; all of them at first."""
        try:
            topics = consumer.list_topics(self.source.topic, timeout=5).topics
        except KafkaException as error:
            self._on_error(error.args[0])
            return
        self._heard()
        found = topics[self.source.topic].partitions if self.source.topic in topics else {}
        new = [each for each in found if each not in self._positions]
        for each in new:
            self._positions[each] = OFFSET_BEGINNING
        if new or not consumer.assignment():
            consumer.assign(
                [
                    TopicPartition(self.source.topic, partition, offset)
                    for partition, offset in self._positions.items()
                ]
            )

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is None:
            self._positions[message.partition()] = message.offset() + 1  # type: ignore[index, operator]
            self._apply(message.key(), message.value())
        elif error.code() == KafkaError._PARTITION_EOF:
            self._ended.add(message.partition())  # type: ignore[arg-type]
            if self._ended >= set(self._positions):
                self._ready.set()
        elif not error.retriable():
            raise KafkaException(error)
        if error is None or error.code() == KafkaError._PARTITION_EOF:
            self._heard()

    def _apply(self, raw_key: bytes | None, value: bytes | None) -> None:
        key = (raw_key or b"").decode(errors="replace")
        try:
            row = None if value is None else self.source.load(value)
        except Exception as error:
            # The row before it stays: half a table is worse than an old row.
            self.undecodable += 1
            _log.warning("table %s: row %s does not decode: %s", self.source.topic, key, error)
            return
        with self._lock:
            if row is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = row
            self.version += 1

    def _on_error(self, error: KafkaError) -> None:
        if self.stale_since is None:
            self.stale_since = time.time()
            _log.warning(
                "table %s: the broker cannot be reached (%s); keeping the %d rows read so far",
                self.source.topic,
                error.str(),
                len(self._rows),
            )

    def _heard(self) -> None:
        if self.stale_since is not None:
            _log.warning("table %s: the broker is back", self.source.topic)
            self.stale_since = None


_followers: dict[tuple[str, str, str], TableFollower] = {}
_followers_lock = threading.Lock()


def follow(source: TableSource, client: Mapping[str, Any]) -> TableFollower:
    """This process's follower of the table, started on the first call."""
    key = (str(client.get("bootstrap.servers")), source.topic, source.token)
    with _followers_lock:
        found = _followers.get(key)
        if found is None or not found.alive:
            found = _followers[key] = TableFollower(source, client).start()
        return found


def unfollow(source: TableSource) -> None:
    """End this process's followers of the table."""
    with _followers_lock:
        ended = [key for key in _followers if key[2] == source.token]
        followers = [_followers.pop(key) for key in ended]
    for each in followers:
        each.close()
