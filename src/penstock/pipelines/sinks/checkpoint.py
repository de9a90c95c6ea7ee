"""What is read of, and pinned in, a query's checkpoint directory, on whatever file system.

Spark owns everything else in that directory; nothing of it is changed here.
"""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from penstock.pipelines.folder import Document, Folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PIN = "penstock-sink"


class Checkpoint:
    def __init__(self, spark: SparkSession, location: str, output: str | None = None) -> None:
        """`output`: which of the outputs it is that have this checkpoint together."""
        self.folder = Folder(spark, location)
        self._output = output
        self._pin = Document(self.folder, _PIN if output is None else f"{_PIN}-{output}")
        self._query_id: str | None = None

    def pinned(self) -> dict[str, Any] | None:
        return self._pin.read()

    def pin(self, found: dict[str, Any]) -> dict[str, Any]:
        """What holds for this start: what is found now, unless a batch was begun with other values.

        That batch is finished as it was begun; the start after it takes what is found then.
        """
        pinned = self._pin.read()
        if pinned == found:
            return found
        if pinned is not None and self.is_under_way():
            return pinned
        self._pin.write(found)
        return found

    def is_under_way(self) -> bool:
        """Whether the newest batch was planned, and has not ended."""
        last = self.last_batch()
        return last >= 0 and not self.folder.exists(f"commits/{last}")

    def query_id(self) -> str | None:
        """Spark's name for this checkpoint; none before the first start.

        Made another for each of several outputs: two may write to one folder.
        """
        if self._query_id is None and self.folder.exists("metadata"):
            told = str(json.loads(self.folder.read("metadata"))["id"])
            own = self._output
            self._query_id = told if own is None else str(uuid.uuid5(uuid.UUID(told), own))
        return self._query_id

    def last_batch(self) -> int:
        """The newest batch whose offsets were planned; -1 before the first."""
        return max(self.folder.numbers("offsets"), default=-1)

    def offsets(self, batch: int) -> str:
        """What Spark planned for a batch: its sources' offsets, as JSON values in a JSON list."""
        text = self.folder.read(f"offsets/{batch}").decode()
        # A version, a line of metadata, then a line per source.
        return json.dumps([json.loads(line) for line in text.splitlines()[2:] if line != "-"])
