"""An Iceberg table as an output: executors write Parquet files, the driver commits them.

Iceberg's own Spark runtime does not load in the pinned Spark, so pyiceberg makes the commits, in a
SQLite catalog unless told otherwise. The commit that adds a batch's files also says, as a property
of the table, which batch of which checkpoint that was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.pipelines.folder import Folder
from penstock.pipelines.sinks.contract import Trigger
from penstock.pipelines.sinks.lake import TARGET_FILE_BYTES, require_checkpoint_at, start_batches

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType

    from penstock.pipelines.run_settings import RunSettings

_PROGRESS = "penstock.progress"


@dataclass(frozen=True, slots=True)
class IcebergSink:
    table: str
    """namespace.name"""
    catalog: Mapping[str, str] = field(default_factory=dict)
    """pyiceberg's properties; empty: `iceberg.db` and `iceberg/` in the directory of the run."""
    compact_after_files: int | None = 32

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
        catalog = open_catalog(self.catalog, Path(settings.directory).absolute())
        table = IcebergTable(catalog, self.table, f"{_PROGRESS}.{pipeline}.{output}")
        table.create(frame.schema)
        require_checkpoint_at(frame, checkpoint, output, table.last_batch)

        def write(batch: DataFrame, query_id: str, number: int) -> None:
            table.write(batch, query_id, number)
            if self.compact_after_files:
                table.compact(self.compact_after_files)

        return start_batches(frame, checkpoint, trigger, write)


def iceberg(
    table: str,
    *,
    catalog: Mapping[str, str] | None = None,
    compact_after_files: int | None = 32,
) -> IcebergSink:
    name = table if "." in table else f"default.{table}"
    return IcebergSink(name, dict(catalog or {}), compact_after_files)


def open_catalog(properties: Mapping[str, str], directory: Path) -> Catalog:
    from pyiceberg.catalog import load_catalog

    if not properties:
        directory.mkdir(parents=True, exist_ok=True)
        properties = {
            "type": "sql",
            "uri": f"sqlite:///{directory / 'iceberg.db'}",
            "warehouse": (directory / "iceberg").as_uri(),
        }
    return load_catalog("penstock", **properties)


class IcebergTable:
    def __init__(self, catalog: Catalog, name: str, progress: str) -> None:
        self._catalog, self._name, self._progress = catalog, name, progress

    def create(self, schema: StructType) -> None:
        from pyspark.sql.pandas.types import to_arrow_schema

        self._catalog.create_namespace_if_not_exists(self._name.rpartition(".")[0])
        fields = to_arrow_schema(schema, timezone="UTC")
        self._catalog.create_table_if_not_exists(self._name, fields)

    def last_batch(self, query_id: str) -> int:
        checkpoint, _, number = self._load().properties.get(self._progress, "").partition(" ")
        return int(number) if checkpoint == query_id else -1

    def write(self, rows: DataFrame, query_id: str, number: int) -> bool:
        """False: it was written before."""
        if self.last_batch(query_id) >= number:
            return False
        paths = self._write_files(rows, f"data/{query_id}-{number}")
        if not paths:
            return False
        with self._load().transaction() as change:
            properties = {"penstock.query": query_id, "penstock.batch": str(number)}
            change.add_files(paths, snapshot_properties=properties, check_duplicate_files=False)
            change.set_properties({self._progress: f"{query_id} {number}"})
        return True

    def _write_files(self, rows: DataFrame, name: str) -> list[str]:
        spark = rows.sparkSession
        # Iceberg knows no INT96, which is what Spark writes by itself; this session is the batch's.
        spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        folder = Folder(spark, self._load().location())
        # A replay replaces what an earlier try left there, which no snapshot refers to.
        rows.write.mode("overwrite").parquet(folder.path(name))
        files = [each for each in folder.names(name) if each.endswith(".parquet")]
        return [folder.path(f"{name}/{each}") for each in files]

    def compact(self, after: int) -> bool:
        """Write the small files anew as one, and replace them, in one commit."""
        from pyiceberg.io.pyarrow import ArrowScan, _dataframe_to_data_files

        table = self._load()
        small = _small_files(table)
        if len(small) < max(after, 2):
            return False
        scan = table.scan()
        rows = ArrowScan(table.metadata, table.io, scan.projection(), scan.row_filter).to_table(
            small
        )
        with table.transaction() as change:
            properties = {"penstock.compacted": str(len(small))}
            with change.update_snapshot(snapshot_properties=properties).overwrite() as files:
                for made in _dataframe_to_data_files(table.metadata, rows, table.io):
                    files.append_data_file(made)
                for task in small:
                    files.delete_data_file(task.file)
        return True

    def _load(self) -> Any:
        return self._catalog.load_table(self._name)


def _small_files(table: Any) -> list[Any]:
    """As many as fit into one file of the wanted size; those that were merged are not small."""
    found, total_bytes = [], 0
    for task in table.scan().plan_files():
        size = task.file.file_size_in_bytes
        if size < TARGET_FILE_BYTES // 4 and total_bytes + size <= TARGET_FILE_BYTES:
            found.append(task)
            total_bytes += size
    return found
