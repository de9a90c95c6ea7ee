"""What a sink reads of, and pins in, a query's checkpoint directory, on whatever file system.

Spark owns everything else in that directory; nothing of it is changed here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PIN = "penstock-sink.json"


class Checkpoint:
    def __init__(self, spark: SparkSession, location: str) -> None:
        jvm = cast(Any, spark)._jvm
        self._new_path = jvm.org.apache.hadoop.fs.Path
        self._io = jvm.org.apache.commons.io.IOUtils
        self._root = self._new_path(location)
        self._files = self._root.getFileSystem(cast(Any, spark)._jsc.hadoopConfiguration())

    def pin(self, found: dict[str, Any]) -> dict[str, Any]:
        """What was found at the first start is what holds at every later one."""
        path = self._new_path(self._root, _PIN)
        if self._files.exists(path):
            return cast(dict[str, Any], json.loads(self._read(path)))
        self._files.mkdirs(self._root)
        # Whole or not at all: a torn pin would stop every start after it.
        whole = self._new_path(self._root, f".{_PIN}.tmp")
        stream = self._files.create(whole, True)
        stream.write(json.dumps(found).encode())
        stream.close()
        self._files.rename(whole, path)
        return found

    def query_id(self) -> str | None:
        """Spark's name for this checkpoint; none before the first start."""
        path = self._new_path(self._root, "metadata")
        if not self._files.exists(path):
            return None
        return str(json.loads(self._read(path))["id"])

    def last_batch(self) -> int:
        """The newest batch whose offsets were planned; -1 before the first."""
        planned = self._new_path(self._root, "offsets")
        if not self._files.exists(planned):
            return -1
        names = (status.getPath().getName() for status in self._files.listStatus(planned))
        return max((int(name) for name in names if name.isdigit()), default=-1)

    def offsets(self, batch: int) -> str:
        """What Spark planned for a batch: its sources' offsets, as JSON values in a JSON list."""
        text = self._read(self._new_path(self._root, f"offsets/{batch}")).decode()
        # A version, a line of metadata, then a line per source.
        return json.dumps([json.loads(line) for line in text.splitlines()[2:] if line != "-"])

    def _read(self, path: Any) -> bytes:
        stream = self._files.open(path)
        try:
            return bytes(self._io.toByteArray(stream))
        finally:
            stream.close()
