"""A relational table as an output: rows upserted and deleted by key, a batch in one transaction.

The same transaction says in the table `penstock_progress` which batch was written, for which
checkpoint, and up to which offsets of the sources: rows and position cannot part. The rows of a
batch come to the driver, which writes them; a batch is as large as the sources are told to make it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.sinks.contract import OutputMode, Write
from penstock.pipelines.sinks.dialect import Dialect, dialect_of, quoted
from penstock.pipelines.sinks.evolution import TableColumn, new_columns
from penstock.pipelines.sinks.lake import BatchedSink
from penstock.pipelines.sinks.upsert import as_key, last_rows, parted, require_rows, stored

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.checkpoint import Checkpoint

_CHUNK_ROWS = 2_000
_PROGRESS = "penstock_progress"
_CREATE_PROGRESS = f"""
create table if not exists {_PROGRESS} (
    pipeline text not null,
    output text not null,
    query_id text not null,
    batch_id bigint not null,
    offsets text not null,
    primary key (pipeline, output)
)"""
_PROGRESS_COLUMNS = ("pipeline", "output", "query_id", "batch_id", "offsets")


@dataclass(frozen=True, slots=True)
class DatabaseSink(BatchedSink):
    table: str
    key: tuple[str, ...]
    url: str | None = None
    """sqlite:///path or postgresql://…; None: `<pipeline>.db` in the directory of the run."""
    order: str | None = None
    mode: OutputMode = "append"

    def open(
        self,
        frame: DataFrame,
        *,
        pipeline: str,
        output: str,
        place: Checkpoint,
        settings: RunSettings,
    ) -> Write:
        require_rows(frame, output, self.table, self.key, self.order)
        url = self.url or f"sqlite:///{Path(settings.directory).absolute() / pipeline}.db"
        table = DatabaseTable(dialect_of(url), self.table, self.key, pipeline, output, self.order)
        table.evolve([(each.name, each.dataType.simpleString()) for each in stored(frame.schema)])
        table.require_checkpoint_at_progress(place.query_id(), place.last_batch())

        def write(batch: DataFrame, query_id: str, number: int) -> None:
            if not table.has(query_id, number):
                table.write(batch.toArrow(), query_id, number, place.offsets(number))

        return write


def database(
    table: str,
    *,
    key: str | Sequence[str],
    url: str | None = None,
    order: str | None = None,
    mode: OutputMode = "append",
) -> DatabaseSink:
    """A row replaces the one of the same key, and one with `_deleted` deletes it."""
    keys = as_key(key)
    if not keys:
        raise DeclarationError(f"table {table}: name the columns that tell its rows apart (key=)")
    for name in (table, *keys):
        quoted(name)
    if url is not None:
        dialect_of(url)
    return DatabaseSink(table, keys, url, order, mode)


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """One output's table and its place in `penstock_progress`."""

    dialect: Dialect
    name: str
    key: tuple[str, ...]
    pipeline: str
    output: str
    order: str | None = None

    def evolve(self, rows: Sequence[tuple[str, str]]) -> None:
        """Make the table, or add the columns that it lacks, before anything is written."""
        wanted = [TableColumn(name, self._type(name, kind)) for name, kind in rows]
        with self.dialect.open() as cursor:
            cursor.execute(_CREATE_PROGRESS)
            have = self.dialect.columns(cursor, self.name)
            if not have:
                self._create(cursor, wanted)
                return
            self._require_key(self.dialect.unique_keys(cursor, self.name))
            for column in new_columns(self.name, have, wanted, self.dialect.holds):
                cursor.execute(
                    f"alter table {quoted(self.name)}"
                    f" add column {quoted(column.name)} {column.type}"
                )

    def _type(self, column: str, kind: str) -> str:
        return self.dialect.column_type(f"table {self.name}: column {column}", _type_name(kind))

    def _create(self, cursor: Any, columns: Sequence[TableColumn]) -> None:
        typed = ", ".join(f"{quoted(each.name)} {each.type}" for each in columns)
        keys = ", ".join(map(quoted, self.key))
        cursor.execute(f"create table {quoted(self.name)} ({typed}, primary key ({keys}))")

    def _require_key(self, found: Sequence[Sequence[str]]) -> None:
        if not any(set(each) == set(self.key) for each in found):
            kept = " or ".join(f"({', '.join(each)})" for each in found) or "nothing"
            raise RunError(
                f"table {self.name}: its rows are told apart by {kept}, and the output's key is"
                f" ({', '.join(self.key)}): the table needs it as its primary key, or unique"
            )

    def has(self, query_id: str, batch_id: int) -> bool:
        with self.dialect.open() as cursor:
            return self._progress(cursor, query_id) >= batch_id

    def write(self, rows: pa.Table, query_id: str, batch_id: int, offsets: str) -> bool:
        """All of it or nothing; False: it was written before."""
        with self.dialect.open() as cursor:
            # Asked again under a lock: a driver thought dead may just have written it.
            if self._progress(cursor, query_id, self.dialect.lock) >= batch_id:
                return False
            new, gone = parted(last_rows(rows, self.key, self.order))
            self._execute(cursor, self.dialect.delete(self.name, self.key), gone.select(self.key))
            self._execute(cursor, self.dialect.upsert(self.name, new.column_names, self.key), new)
            position = (self.pipeline, self.output, query_id, batch_id, offsets)
            own = self.dialect.upsert(_PROGRESS, _PROGRESS_COLUMNS, _PROGRESS_COLUMNS[:2])
            cursor.execute(own, position)
            return True

    def _execute(self, cursor: Any, statement: str, rows: pa.Table) -> None:
        for chunk in rows.to_batches(_CHUNK_ROWS):
            columns = (map(self.dialect.adapt, each.to_pylist()) for each in chunk.columns)
            cursor.executemany(statement, list(zip(*columns, strict=True)))

    def require_checkpoint_at_progress(self, query_id: str | None, last_batch: int) -> None:
        if query_id is None:
            return
        with self.dialect.open() as cursor:
            written = self._progress(cursor, query_id)
        if written > last_batch:
            raise RunError(
                f"output {self.output}: the checkpoint is older than what was written (batch"
                f" {last_batch} there, batch {written} in {self.name}): start from an empty"
                " checkpoint directory; rows written before are written over"
            )

    def _progress(self, cursor: Any, query_id: str, lock: str = "") -> int:
        """The last batch of this checkpoint that was written; another one's says nothing."""
        mark = self.dialect.mark
        cursor.execute(
            f"select query_id, batch_id from {_PROGRESS}"
            f" where pipeline = {mark} and output = {mark}{lock}",
            (self.pipeline, self.output),
        )
        found = cursor.fetchone()
        return int(found[1]) if found is not None and found[0] == query_id else -1


def _type_name(simple: str) -> str:
    """Spark's short names as its long ones."""
    return {"int": "integer", "bigint": "long", "smallint": "short", "tinyint": "byte"}.get(
        simple, simple
    )
