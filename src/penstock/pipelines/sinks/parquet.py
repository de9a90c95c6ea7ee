"""A folder of Parquet files as an output: a subfolder a batch, there as a whole or not at all.

    <path>/batch=<checkpoint>-<level>-<first>-<last>/part-….parquet

A batch is written under `_staging`, which readers pass over, and renamed into place; a name that
is there already says that the batch was written. Compaction merges folders of one level into one
of the next. It has a moment when what it merges is out and the merged folder is not yet in: tables
that are read while they are written are better kept in Delta or Iceberg. A file system without
atomic rename of folders, such as an object store, will not do.

`_schema.json` says which columns the table has. Files from before a column was added lack it, so
whoever reads the folder by itself asks Spark for `mergeSchema`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from penstock.pipelines.folder import Folder
from penstock.pipelines.sinks.contract import Write
from penstock.pipelines.sinks.evolution import fitted, new_columns, spark_columns, widened
from penstock.pipelines.sinks.lake import TARGET_FILE_BYTES, BatchedSink, require_checkpoint_at
from penstock.pipelines.sinks.upsert import require_rows, stored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.checkpoint import Checkpoint

_STAGING = "_staging"
_PLAN = f"{_STAGING}/plan.json"
_SCHEMA = "_schema.json"
_NAME = re.compile(r"batch=([0-9a-f]+)-(\d+)-(\d+)-(\d+)")


class Part(NamedTuple):
    """A subfolder: batches first to last, both included, merged `level` times."""

    checkpoint: str
    level: int
    first: int
    last: int

    @property
    def name(self) -> str:
        return f"batch={self.checkpoint}-{self.level}-{self.first:09d}-{self.last:09d}"


@dataclass(frozen=True, slots=True)
class ParquetSink(BatchedSink):
    path: str | None = None
    """None: a folder named after the output, beside the checkpoints."""
    compact_after_files: int | None = 32

    def open(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        place: Checkpoint,
        settings: RunSettings,
    ) -> Write:
        path = self.path or f"{settings.store()}/tables/{output}"
        table = ParquetTable(frame.sparkSession, path)
        table.recover()
        require_rows(frame, output, path, (), None)
        columns = spark_columns(table.evolve(frame.schema))
        require_checkpoint_at(place, output, table.last_batch)

        def write(batch: DataFrame, query_id: str, number: int) -> None:
            table.write(fitted(batch, columns), query_id, number)
            if self.compact_after_files:
                table.compact(query_id, self.compact_after_files)

        return write


def parquet(path: str | None = None, *, compact_after_files: int | None = 32) -> ParquetSink:
    return ParquetSink(path, compact_after_files)


class ParquetTable:
    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self._where = path
        self._folder = Folder(spark, path)

    def evolve(self, rows: StructType) -> StructType:
        """The table's columns, with those that are new in the rows."""
        wanted, have = stored(rows), self._schema()
        if new_columns(self._where, spark_columns(have), spark_columns(wanted)):
            have = widened(have, wanted)
            self._folder.write(_SCHEMA, have.json().encode())
        return have

    def _schema(self) -> StructType:
        from pyspark.sql.types import StructType

        if self._folder.exists(_SCHEMA):
            return StructType.fromJson(json.loads(self._folder.read(_SCHEMA)))
        # Written before this file was kept, or a crash while it was replaced: ask the data.
        names = [each for each in self._folder.names() if _NAME.fullmatch(each)]
        return self._read(names).schema if names else StructType()

    def _read(self, names: list[str]) -> DataFrame:
        paths = [self._folder.path(each) for each in names]
        return self._spark.read.option("mergeSchema", "true").parquet(*paths)

    def parts(self, query_id: str) -> list[Part]:
        found = (_NAME.fullmatch(name) for name in self._folder.names())
        parts = [Part(m[1], int(m[2]), int(m[3]), int(m[4])) for m in found if m]
        return sorted(part for part in parts if part.checkpoint == _short(query_id))

    def last_batch(self, query_id: str) -> int:
        return max((part.last for part in self.parts(query_id)), default=-1)

    def write(self, rows: DataFrame, query_id: str, number: int) -> bool:
        """False: it was written before."""
        if self.last_batch(query_id) >= number:
            return False
        part = Part(_short(query_id), 0, number, number)
        staged = f"{_STAGING}/{part.name}"
        # A replay replaces what an earlier try left there, half written or not.
        rows.write.mode("overwrite").parquet(self._folder.path(staged))
        self._folder.rename(staged, part.name)
        return True

    def compact(self, query_id: str, after: int) -> bool:
        """Merge the parts of the lowest level that has enough files worth merging."""
        parts = self.parts(query_id)
        for level in sorted({part.level for part in parts}):
            small = [part for part in parts if part.level == level]
            sizes = [self._folder.files(part.name) for part in small]
            if sum(len(each) for each in sizes) < after or len(small) < 2:
                continue
            total_bytes = sum(map(sum, sizes))
            if total_bytes < TARGET_FILE_BYTES * len(small):
                self._merge(small, -(-total_bytes // TARGET_FILE_BYTES) or 1)
                return True
        return False

    def _merge(self, parts: list[Part], files: int) -> None:
        first, last = min(part.first for part in parts), max(part.last for part in parts)
        merged = Part(parts[0].checkpoint, parts[0].level + 1, first, last)
        staged = f"{_STAGING}/{merged.name}"
        rows = self._read([part.name for part in parts])
        rows.coalesce(files).write.mode("overwrite").parquet(self._folder.path(staged))
        plan = {"merged": merged.name, "replaced": [part.name for part in parts]}
        # From here on the merge is decided, and a process that dies leaves it to the next.
        self._folder.write(_PLAN, json.dumps(plan).encode())
        self.recover()

    def recover(self) -> None:
        """Carry out a merge that was decided; each step may have been done before."""
        if not self._folder.exists(_PLAN):
            return
        plan = json.loads(self._folder.read(_PLAN))
        for name in plan["replaced"]:
            self._folder.delete(name)
        if not self._folder.exists(plan["merged"]):
            self._folder.rename(f"{_STAGING}/{plan['merged']}", plan["merged"])
        self._folder.delete(_PLAN)


def _short(query_id: str) -> str:
    return query_id.replace("-", "")[:12]
