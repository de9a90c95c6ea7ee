"""An Iceberg table as an output: executors write Parquet files, the driver commits them.

Iceberg's own Spark runtime does not load in the pinned Spark, so pyiceberg makes the commits, in a
SQLite catalog unless told otherwise. The commit that adds a batch's files also says, as a property
of the table, which batch of which checkpoint that was. With a key, what a batch replaces is found
and written anew by `iceberg_merge`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import TransientError
from penstock.pipelines.folder import Folder
from penstock.pipelines.sinks.contract import OutputMode, Write
from penstock.pipelines.sinks.evolution import (
    TableColumn,
    fitted,
    new_columns,
    require_same_key,
    spark_columns,
)
from penstock.pipelines.sinks.iceberg_merge import for_spark, merged_rows
from penstock.pipelines.sinks.lake import (
    TARGET_FILE_BYTES,
    BatchedSink,
    require_append,
    require_checkpoint_at,
)
from penstock.pipelines.sinks.upsert import as_key, last_of_key, require_rows, stored

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.checkpoint import Checkpoint

_PROGRESS = "penstock.progress"
_KEY = "penstock.key"
_TRIES = "commit.retry.num-retries"


@dataclass(frozen=True, slots=True)
class IcebergSink(BatchedSink):
    table: str
    """namespace.name"""
    catalog: Mapping[str, str] = field(default_factory=dict)
    """pyiceberg's properties; empty: `iceberg.db` and `iceberg/` in the directory of the run."""
    key: tuple[str, ...] = ()
    """Empty: rows are appended."""
    order: str | None = None
    mode: OutputMode = "append"
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
        catalog = open_catalog(self.catalog, Path(settings.directory).absolute())
        require_rows(frame, output, self.table, self.key, self.order)
        progress = f"{_PROGRESS}.{pipeline}.{output}"
        table = IcebergTable(catalog, self.table, progress, self.key, self.order)
        table.evolve(frame.schema)
        columns = table.columns()
        require_checkpoint_at(place, output, table.last_batch)

        def write(batch: DataFrame, query_id: str, number: int) -> None:
            table.write(fitted(batch, columns), query_id, number)
            if self.compact_after_files:
                table.compact(self.compact_after_files)

        return write


def iceberg(
    table: str,
    *,
    catalog: Mapping[str, str] | None = None,
    key: str | Sequence[str] | None = None,
    order: str | None = None,
    mode: OutputMode = "append",
    compact_after_files: int | None = 32,
) -> IcebergSink:
    """With a key, a row replaces the one of the same key, and one with `_deleted` deletes it."""
    require_append(table, as_key(key), order, mode)
    name = table if "." in table else f"default.{table}"
    return IcebergSink(name, dict(catalog or {}), as_key(key), order, mode, compact_after_files)


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
    def __init__(
        self,
        catalog: Catalog,
        name: str,
        progress: str,
        key: tuple[str, ...] = (),
        order: str | None = None,
    ) -> None:
        self._catalog, self._name, self._progress = catalog, name, progress
        self._key, self._order = key, order

    def evolve(self, rows: StructType) -> None:
        """Make the table, or add the columns that it lacks, before anything is written."""
        from pyspark.sql.pandas.types import to_arrow_schema

        self._catalog.create_namespace_if_not_exists(self._name.rpartition(".")[0])
        wanted = stored(rows)
        fields = to_arrow_schema(wanted, timezone="UTC")
        table = _as_it_is(self._catalog.create_table_if_not_exists(self._name, fields))
        kept = table.properties.get(_KEY)
        require_same_key(self._name, kept.split(",") if kept else None, self._key)
        added = new_columns(self._name, _columns(table), spark_columns(wanted))
        with self._change(table) as change:
            if added:
                with change.update_schema() as update:
                    update.union_by_name(fields)
            if self._key and kept is None:
                change.set_properties({_KEY: ",".join(self._key)})

    def columns(self) -> list[TableColumn]:
        return _columns(self._load())

    def last_batch(self, query_id: str) -> int:
        return self._last_batch(self._load(), query_id)

    def _last_batch(self, table: Any, query_id: str) -> int:
        checkpoint, _, number = table.properties.get(self._progress, "").partition(" ")
        return int(number) if checkpoint == query_id else -1

    def write(self, rows: DataFrame, query_id: str, number: int) -> bool:
        """False: it was written before, or holds nothing."""
        # Looked at and committed to as it is here: the commit fails if another one came between.
        table = self._load()
        if self._last_batch(table, query_id) >= number:
            return False
        if not self._key:
            return self._commit(table, rows, [], query_id, number)
        # Kept: it is read several times, and must say the same each time.
        last = last_of_key(rows, self._key, self._order).persist()
        try:
            made, replaced = merged_rows(table, _spark_schema(table), last, self._key)
            return self._commit(table, made, replaced, query_id, number)
        finally:
            last.unpersist()

    def _commit(
        self, table: Any, rows: DataFrame, replaced: list[Any], query_id: str, number: int
    ) -> bool:
        paths = self._write_files(table, rows, f"data/{query_id}-{number}")
        if not paths and not replaced:
            return False
        said = {"penstock.query": query_id, "penstock.batch": str(number)}
        with self._change(table) as change:
            _replace(table, change, replaced, paths, said)
            change.set_properties({self._progress: f"{query_id} {number}"})
        return True

    def _write_files(self, table: Any, rows: DataFrame, name: str) -> list[str]:
        spark = rows.sparkSession
        # Iceberg knows no INT96, which is what Spark writes by itself; this session is the batch's.
        spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        folder = Folder(spark, for_spark(table.location()))
        # A name for this try alone: a driver thought dead must not touch what is committed.
        name = f"{name}-{uuid.uuid4().hex[:8]}"
        rows.write.parquet(folder.path(name))
        files = [each for each in folder.names(name) if each.endswith(".parquet")]
        return [f"{table.location().rstrip('/')}/{name}/{each}" for each in files]

    def compact(self, after: int) -> bool:
        """Write the small files anew as one, and replace them, in one commit; not if another
        commit comes between."""
        from pyiceberg.io.pyarrow import ArrowScan, _dataframe_to_data_files

        table = self._load()
        small = _small_files(table)
        if len(small) < max(after, 2):
            return False
        scan = table.scan()
        rows = ArrowScan(table.metadata, table.io, scan.projection(), scan.row_filter).to_table(
            small
        )
        try:
            with self._change(table) as change:
                properties = {"penstock.compacted": str(len(small))}
                with change.update_snapshot(snapshot_properties=properties).overwrite() as files:
                    for made in _dataframe_to_data_files(table.metadata, rows, table.io):
                        files.append_data_file(made)
                    for task in small:
                        files.delete_data_file(task.file)
        except TransientError:
            return False
        return True

    @contextmanager
    def _change(self, table: Any) -> Iterator[Any]:
        """A transaction on the table as it was loaded."""
        from pyiceberg.exceptions import CommitFailedException

        try:
            with table.transaction() as change:
                yield change
        except CommitFailedException as error:
            raise TransientError(f"table {self._name} was changed by another: {error}") from error

    def _load(self) -> Any:
        return _as_it_is(self._catalog.load_table(self._name))


def _as_it_is(table: Any) -> Any:
    """The table, to be committed to only as it was loaded.

    By itself pyiceberg puts a commit that another one came before on top of that, and what was
    found in the table, such as its last batch, need not be so any more.
    """
    table.metadata.properties[_TRIES] = "0"  # of this copy: no commit says it
    return table


def _replace(
    table: Any, change: Any, replaced: list[Any], paths: list[str], said: dict[str, str]
) -> None:
    """Files in, and files that they replace out, in one snapshot."""
    from pyiceberg.io.pyarrow import parquet_files_to_data_files

    if not replaced:
        change.add_files(paths, snapshot_properties=said, check_duplicate_files=False)
        return
    made = parquet_files_to_data_files(table.io, change.table_metadata, iter(paths))
    with change.update_snapshot(snapshot_properties=said).overwrite() as files:
        for each in made:
            files.append_data_file(each)
        for each in replaced:
            files.delete_data_file(each)


def _spark_schema(table: Any) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    # Iceberg's strings and lists come as Arrow's large ones, which Spark reads as the same types.
    return from_arrow_schema(table.schema().as_arrow(), prefer_timestamp_ntz=True)


def _columns(table: Any) -> list[TableColumn]:
    required = {each.name for each in table.schema().fields if each.required}
    return [
        replace(each, required=each.name in required)
        for each in spark_columns(_spark_schema(table))
    ]


def _small_files(table: Any) -> list[Any]:
    """As many as fit into one file of the wanted size; those that were merged are not small."""
    found, total_bytes = [], 0
    for task in table.scan().plan_files():
        size = task.file.file_size_in_bytes
        if size < TARGET_FILE_BYTES // 4 and total_bytes + size <= TARGET_FILE_BYTES:
            found.append(task)
            total_bytes += size
    return found
