"""A Delta table as an output: Delta itself remembers the last batch of each checkpoint.

Without a key rows are appended; with one each batch is one MERGE. The session must know Delta:
`session(lake=True)`. Compaction is Delta's OPTIMIZE, after which readers see the same rows in fewer
files; the old files stay until VACUUM takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from penstock.pipelines.error import SessionError
from penstock.pipelines.sinks.contract import OutputMode, Write
from penstock.pipelines.sinks.evolution import (
    fitted,
    new_columns,
    require_same_key,
    spark_columns,
)
from penstock.pipelines.sinks.lake import BatchedSink, require_append, require_checkpoint_at
from penstock.pipelines.sinks.upsert import DELETED, as_key, last_of_key, require_rows, stored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.checkpoint import Checkpoint

_KEY = "penstock.key"
_APPLICATION = "spark.databricks.delta.write.txnAppId"
_VERSION = "spark.databricks.delta.write.txnVersion"
_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
# So many commits are looked through for the last batch; compaction and others add some.
_HISTORY = 1_000


@dataclass(frozen=True, slots=True)
class DeltaSink(BatchedSink):
    path: str | None = None
    """None: a folder named after the output, beside the checkpoints."""
    key: tuple[str, ...] = ()
    """Empty: rows are appended."""
    order: str | None = None
    mode: OutputMode = "append"
    compact_after_files: int | None = 32
    partition_by: tuple[str, ...] = ()
    lake: ClassVar[bool] = True

    def open(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        place: Checkpoint,
        settings: RunSettings,
    ) -> Write:
        _require_delta(frame.sparkSession)
        path = self.path or f"{settings.store()}/tables/{output}"
        require_rows(frame, output, path, self.key, self.order)
        name = f"penstock.{pipeline}.{output}"
        table = DeltaTable(path, name, self.partition_by, self.key, self.order)
        table.evolve(frame.sparkSession, frame.schema)
        columns = spark_columns(table.schema(frame.sparkSession))
        require_checkpoint_at(place, output, partial(table.last_batch, frame.sparkSession))

        def write(batch: DataFrame, query_id: str, number: int) -> None:
            table.write(fitted(batch, columns), query_id, number)
            if self.compact_after_files:
                table.compact(batch.sparkSession, self.compact_after_files)

        return write


def delta(
    path: str | None = None,
    *,
    key: str | Sequence[str] | None = None,
    order: str | None = None,
    mode: OutputMode = "append",
    compact_after_files: int | None = 32,
    partition_by: tuple[str, ...] = (),
) -> DeltaSink:
    """With a key, a row replaces the one of the same key, and one with `_deleted` deletes it."""
    require_append(path or "the table", as_key(key), order, mode)
    return DeltaSink(path, as_key(key), order, mode, compact_after_files, tuple(partition_by))


class DeltaTable:
    def __init__(
        self,
        path: str,
        name: str,
        partition_by: tuple[str, ...] = (),
        key: tuple[str, ...] = (),
        order: str | None = None,
    ) -> None:
        self._path, self._name, self._partition_by = path, name, partition_by
        self._key, self._order = key, order
        self._files_kept = 0

    def schema(self, spark: SparkSession) -> StructType:
        return spark.table(self._table).schema

    def evolve(self, spark: SparkSession, rows: StructType) -> None:
        """Make the table, or add the columns that it lacks, before anything is written."""
        wanted = stored(rows)
        parts = ", ".join(f"`{each}`" for each in self._partition_by)
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {self._table} ({wanted.toDDL()}) USING delta"
            + (f" PARTITIONED BY ({parts})" if parts else "")
        )
        kept = self._kept_key(spark)
        require_same_key(self._path, kept, self._key)
        added = new_columns(self._path, spark_columns(self.schema(spark)), spark_columns(wanted))
        if added:
            listed = ", ".join(f"{_quoted(each.path)} {each.type}" for each in added)
            spark.sql(f"ALTER TABLE {self._table} ADD COLUMNS ({listed})")
        if self._key and kept is None:
            said = ",".join(self._key)
            spark.sql(f"ALTER TABLE {self._table} SET TBLPROPERTIES ('{_KEY}' = '{said}')")

    def write(self, rows: DataFrame, query_id: str, number: int) -> None:
        # Delta leaves out a version that it has for this application: the checkpoint, here.
        application = self._application(query_id)
        if self._key:
            self._merge(rows, application, number)
            return
        writer = rows.write.format("delta").mode("append").option("txnAppId", application)
        writer = writer.option("txnVersion", number).option(
            "userMetadata", f"{application} {number}"
        )
        writer.partitionBy(*self._partition_by).save(self._path)

    def last_batch(self, spark: SparkSession, query_id: str) -> int:
        """Of a checkpoint, by what its commits say; -1 where none of the last ones is of it."""
        history = spark.sql(f"DESCRIBE HISTORY {self._table} LIMIT {_HISTORY}")
        told = [row[0] for row in history.select("userMetadata").collect() if row[0]]
        own = [each.rpartition(" ") for each in told]
        application = self._application(query_id)
        return max((int(number) for name, _, number in own if name == application), default=-1)

    def _application(self, query_id: str) -> str:
        return f"{self._name}.{query_id}"

    def _merge(self, rows: DataFrame, application: str, number: int) -> None:
        spark = rows.sparkSession
        # A statement takes no options; this session is the batch's.
        spark.conf.set(_APPLICATION, application)
        spark.conf.set(_VERSION, str(number))
        spark.conf.set(_USER_METADATA, f"{application} {number}")
        try:
            last = last_of_key(rows, self._key, self._order)
            columns = [f"`{each}`" for each in last.columns if each != DELETED]
            same = " AND ".join(f"t.`{each}` = s.`{each}`" for each in self._key)
            sets = ", ".join(f"t.{each} = s.{each}" for each in columns)
            values = ", ".join(f"s.{each}" for each in columns)
            spark.sql(
                f"MERGE INTO {self._table} t USING {{rows}} s ON {same}"
                f" WHEN MATCHED AND s.{DELETED} THEN DELETE"
                f" WHEN MATCHED THEN UPDATE SET {sets}"
                f" WHEN NOT MATCHED AND NOT s.{DELETED}"
                f" THEN INSERT ({', '.join(columns)}) VALUES ({values})",
                rows=last,
            )
        finally:
            spark.conf.unset(_APPLICATION)
            spark.conf.unset(_VERSION)
            spark.conf.unset(_USER_METADATA)

    def compact(self, spark: SparkSession, after: int) -> bool:
        """When that many files came since the last time; a new process counts all there are."""
        files = self._files(spark)
        if files - self._files_kept < after:
            return False
        spark.sql(f"OPTIMIZE {self._table}")
        self._files_kept = self._files(spark)
        return True

    @property
    def _table(self) -> str:
        return f"delta.`{self._path}`"

    def _kept_key(self, spark: SparkSession) -> list[str] | None:
        row = spark.sql(f"DESCRIBE DETAIL {self._table}").select("properties").first()
        said = row[0].get(_KEY) if row is not None else None
        return said.split(",") if said else None

    def _files(self, spark: SparkSession) -> int:
        row = spark.sql(f"DESCRIBE DETAIL {self._table}").select("numFiles").first()
        return int(row[0]) if row is not None else 0


def _quoted(path: Sequence[str]) -> str:
    return ".".join(f"`{each}`" for each in path)


def _require_delta(spark: SparkSession) -> None:
    if "delta" not in spark.conf.get("spark.sql.extensions", "").lower():  # type: ignore[union-attr]
        raise SessionError(
            "this Spark session does not know Delta: start it with session(lake=True)"
        )
