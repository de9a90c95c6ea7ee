"""A Delta table as an output: Delta itself remembers the last batch of each checkpoint.

The session must know Delta: `session(lake=True)`. Compaction is Delta's OPTIMIZE, after which
readers see the same rows in fewer files; the old files stay until VACUUM takes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from penstock.pipelines.error import SessionError
from penstock.pipelines.sinks.contract import Trigger
from penstock.pipelines.sinks.lake import start_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipelines.run_settings import RunSettings


@dataclass(frozen=True, slots=True)
class DeltaSink:
    path: str | None = None
    """None: a folder named after the output, beside the checkpoints."""
    compact_after_files: int | None = 32
    partition_by: tuple[str, ...] = ()
    lake: ClassVar[bool] = True

    def start(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        checkpoint: str,
        settings: RunSettings,
        trigger: Trigger,
    ) -> StreamingQuery:
        _require_delta(frame.sparkSession)
        path = self.path or f"{settings.store()}/tables/{output}"
        table = DeltaTable(path, f"penstock.{pipeline}.{output}", self.partition_by)

        def write(batch: DataFrame, query_id: str, number: int) -> None:
            table.write(batch, query_id, number)
            if self.compact_after_files:
                table.compact(batch.sparkSession, self.compact_after_files)

        return start_batches(frame, checkpoint, trigger, write)


def delta(
    path: str | None = None,
    *,
    compact_after_files: int | None = 32,
    partition_by: tuple[str, ...] = (),
) -> DeltaSink:
    return DeltaSink(path, compact_after_files, tuple(partition_by))


class DeltaTable:
    def __init__(self, path: str, name: str, partition_by: tuple[str, ...] = ()) -> None:
        self._path, self._name, self._partition_by = path, name, partition_by
        self._files_kept = 0

    def write(self, rows: DataFrame, query_id: str, number: int) -> None:
        writer = rows.write.format("delta").mode("append")
        # Delta leaves out a version that it has for this application: the checkpoint, here.
        writer = writer.option("txnAppId", f"{self._name}.{query_id}")
        writer.option("txnVersion", number).partitionBy(*self._partition_by).save(self._path)

    def compact(self, spark: SparkSession, after: int) -> bool:
        """When that many files came since the last time; a new process counts all there are."""
        files = self._files(spark)
        if files - self._files_kept < after:
            return False
        spark.sql(f"OPTIMIZE delta.`{self._path}`")
        self._files_kept = self._files(spark)
        return True

    def _files(self, spark: SparkSession) -> int:
        row = spark.sql(f"DESCRIBE DETAIL delta.`{self._path}`").select("numFiles").first()
        return int(row[0]) if row is not None else 0


def _require_delta(spark: SparkSession) -> None:
    if "delta" not in spark.conf.get("spark.sql.extensions", "").lower():  # type: ignore[union-attr]
        raise SessionError(
            "this Spark session does not know Delta: start it with session(lake=True)"
        )
