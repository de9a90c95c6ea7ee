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
from dataclasses import dataclass, field
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
from penstock.pipelines.keyed.kafka import consumer_settings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from penstock.pipelines.run.settings import RunSettings
    from penstock.pipelines.transforms.decode import Decoder

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
        return Table(self, settings.client())

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
        import pyarrow
        from pyspark.sql import functions as F
        from pyspark.sql.pandas.functions import arrow_udf

        schema = _schema(self.source)
        column = F.col(key) if isinstance(key, str) else key
        look = _Lookup(self, schema)

        # Spark takes functions alone, and tells by their annotations what they are given.
        def look_up(keys: Any) -> Any:
            return look(keys)

        look_up.__annotations__ = {"keys": pyarrow.Array, "return": pyarrow.Array}
        make: Any = arrow_udf
        found: Column = make(look_up, returnType=schema)(column.cast("string"))
