"""What a sink reads of, and pins in, a query's checkpoint directory, on whatever file system.

Spark owns everything else in that directory; nothing of it is changed here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from penstock.pipelines.sinks.folder import Folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PIN = "penstock-sink.json"


class Checkpoint:
    def __init__(self, spark: SparkSession, location: str) -> None:
        self._folder = Folder(spark, location)
        self._query_id: str | None = None

    def pin(self, found: dict[str, Any]) -> dict[str, Any]:
        """What was found at the first start is what holds at every later one."""
        if self._folder.exists(_PIN):
            return cast(dict[str, Any], json.loads(self._folder.read(_PIN)))
        self._folder.write(_PIN, json.dumps(found).encode())
        return found

    def query_id(self) -> str | None:
        """Spark's name for this checkpoint; none before the first start."""
        if self._query_id is None and self._folder.exists("metadata"):
            self._query_id = str(json.loads(self._folder.read("metadata"))["id"])
        return self._query_id

    def last_batch(self) -> int:
        """The newest batch whose offsets were planned; -1 before the first."""
        numbers = (int(name) for name in self._folder.names("offsets") if name.isdigit())
        return max(numbers, default=-1)

    def offsets(self, batch: int) -> str:
        """What Spark planned for a batch: its sources' offsets, as JSON values in a JSON list."""
        text = self._folder.read(f"offsets/{batch}").decode()
        # A version, a line of metadata, then a line per source.
        return json.dumps([json.loads(line) for line in text.splitlines()[2:] if line != "-"])
