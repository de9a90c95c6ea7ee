"""A table of any database with a JDBC driver as an output, each batch in one transaction.

Executors write a batch into a table of its own with Spark's JDBC writer, in parallel. The driver
then moves it into place with a few statements that every database knows, and notes the batch in
`penstock_batches`, in one transaction. A batch that was noted is left out. The driver sees no rows.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError, TransientError
from penstock.pipelines.sinks.contract import OutputMode, Write
from penstock.pipelines.sinks.jdbc_connection import Connection, connected
from penstock.pipelines.sinks.jdbc_schema import JdbcSchema, column_types
from penstock.pipelines.sinks.lake import BatchedSink, require_append, require_checkpoint_at
from penstock.pipelines.sinks.upsert import DELETED, as_key, last_of_key, require_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from penstock.pipelines.run_settings import RunSettings
    from penstock.pipelines.sinks.checkpoint import Checkpoint

_BATCHES = "penstock_batches"
_CREATE_BATCHES = f"""
create table {_BATCHES} (
    pipeline_name varchar(200) not null,
    output_name varchar(200) not null,
    query_id varchar(64) not null,
    batch_id numeric(19) not null,
    primary key (pipeline_name, output_name)
)"""
_OWN = "pipeline_name = ? and output_name = ?"
_STAGE = "penstock_stage_"
_ROW, _GONE = "penstock_row", "penstock_deleted"


@dataclass(frozen=True, slots=True)
class JdbcSink(BatchedSink):
    table: str
    url: str
    key: tuple[str, ...] = ()
    """Empty: rows are appended."""
    order: str | None = None
    mode: OutputMode = "append"
    driver: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Of the driver, such as `user` and `password`."""
    column_types: Mapping[str, str] = field(default_factory=dict)
    """Types of columns in a table that is created here, such as {"note": "VARCHAR(2000)"}."""

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
        table = JdbcTable(self, pipeline, output)
        spark = frame.sparkSession
        table.prepare(spark, frame.schema)
        require_checkpoint_at(place, output, partial(table.last_batch, spark))
        return table.write


def jdbc(
    table: str,
    *,
    url: str,
    key: str | Sequence[str] | None = None,
    order: str | None = None,
    mode: OutputMode = "append",
    driver: str | None = None,
    properties: Mapping[str, str] | None = None,
    column_types: Mapping[str, str] | None = None,
) -> JdbcSink:
    """With a key, a row replaces the one of the same key, and one with `_deleted` deletes it."""
    if not url.startswith("jdbc:"):
        raise DeclarationError(f"table {table}: url is to be the driver's, jdbc:…, not {url}")
    require_append(table, as_key(key), order, mode)
    return JdbcSink(
        table,
        url,
        as_key(key),
        order,
        mode,
        driver,
        dict(properties or {}),
        dict(column_types or {}),
    )


class JdbcTable:
    """One output's table and its place in `penstock_batches`."""

    def __init__(self, sink: JdbcSink, pipeline: str, output: str) -> None:
        self._sink, self._pipeline, self._output = sink, pipeline, output
        own = hashlib.sha256(f"{pipeline}\n{output}".encode()).hexdigest()[:8]
        self.stages = f"{_STAGE}{own}_"
        self._names: dict[str, str] = {}
        """Columns of the rows, as the table spells them."""
        self._types: dict[str, str] = {}
        """Of those that a stage must have as the table has them."""

    def prepare(self, spark: SparkSession, rows: StructType) -> None:
        """The table, its columns and our own row, before anything is written."""
        with self._connect(spark) as connection:
            sink, options = self._sink, self._options(self._sink.table)
            schema = JdbcSchema(connection, spark, sink.table, sink.key, options, sink.column_types)
            self._names, self._types = schema.evolve(rows)
            if not connection.columns(_BATCHES):
                connection.execute(_CREATE_BATCHES)
            if self._progress(connection, "") is None:
                values = (self._pipeline, self._output, "-", -1)
                connection.execute(f"insert into {_BATCHES} values (?, ?, ?, ?)", *values)
            for stage in connection.tables(self.stages):
                # Of a run that was killed; one that still goes on fails, and changes nothing.
                connection.execute(f"drop table {connection.quoted(stage)}")

    def last_batch(self, spark: SparkSession, query_id: str) -> int:
        with self._connect(spark) as connection:
            found = self._progress(connection, query_id)
        return -1 if found is None else found

    def write(self, rows: DataFrame, query_id: str, number: int) -> None:
        spark = rows.sparkSession
        if self.last_batch(spark, query_id) >= number:
            return
        stage = f"{self.stages}{uuid.uuid4().hex[:8]}"
        try:
            with self._connect(spark) as connection:
                self._write_stage(connection, rows, stage)
                with connection.transaction():
                    if self._noted(connection, query_id, number):
                        self._move(connection, stage, rows.columns)
        finally:
            with self._connect(spark) as connection:
                if connection.columns(stage):
                    connection.execute(f"drop table {stage}")

    def _write_stage(self, connection: Connection, rows: DataFrame, stage: str) -> None:
        from pyspark.sql import functions as sql

        if self._sink.key:
            rows = last_of_key(rows, self._sink.key, self._sink.order)
            gone = sql.col(DELETED).cast("int").alias(_GONE)
        else:
            gone = sql.lit(0).alias(_GONE)
        named = [sql.col(each).alias(real) for each, real in self._names.items()]
        placed = rows.select(*named, gone, sql.monotonically_increasing_id().alias(_ROW))
        options = self._options(stage) | column_types(self._types)
        empty = rows.sparkSession.createDataFrame([], placed.schema)
        empty.write.format("jdbc").options(**options).save()
        # A task that is tried again after its rows had been taken must fail, not double them.
        row = connection.quoted(_ROW)
        connection.execute(f"create unique index {stage}_i on {stage} ({row})")
        try:
            placed.write.format("jdbc").options(**options).mode("append").save()
        except Exception as error:
            if "IntegrityConstraint" in str(error):
                raise TransientError(f"a task wrote its rows twice for {stage}") from error
            raise

    def _noted(self, connection: Connection, query_id: str, number: int) -> bool:
        """Also takes the lock on our row; False: a driver thought dead has just written it."""
        changed = connection.execute(
            f"update {_BATCHES} set query_id = ?, batch_id = ?"
            f" where {_OWN} and (query_id <> ? or batch_id < ?)",
            *(query_id, number, self._pipeline, self._output, query_id, number),
        )
        return changed > 0

    def _move(self, connection: Connection, stage: str, rows: Sequence[str]) -> None:
        table, quoted = self._sink.table, connection.quoted
        names = [quoted(each) for each in self._names.values()]
        gone = quoted(_GONE)
        listed = ", ".join(names)
        if not self._sink.key:
            connection.execute(f"insert into {table} ({listed}) select {listed} from {stage}")
            return
        keys = [quoted(self._names[each]) for each in self._sink.key]
        same = " and ".join(f"{stage}.{each} = {table}.{each}" for each in keys)
        of_key = f"from {stage} where {same}"
        rest = [each for each in names if each not in keys]
        if DELETED in rows:
            connection.execute(
                f"delete from {table} where exists (select 1 {of_key} and {stage}.{gone} = 1)"
            )
        if rest:
            sets = ", ".join(f"{each} = (select {stage}.{each} {of_key})" for each in rest)
            connection.execute(f"update {table} set {sets} where exists (select 1 {of_key})")
        connection.execute(
            f"insert into {table} ({listed}) select {listed} from {stage} where {gone} = 0"
            f" and not exists (select 1 from {table} where {same})"
        )

    def _progress(self, connection: Connection, query_id: str) -> int | None:
        """The last batch of this checkpoint; of any, to see whether we have a row at all."""
        asked = (self._pipeline, self._output)
        if not query_id:
            return connection.number(f"select batch_id from {_BATCHES} where {_OWN}", *asked)
        statement = f"select batch_id from {_BATCHES} where {_OWN} and query_id = ?"
        return connection.number(statement, *asked, query_id)

    def _options(self, table: str) -> dict[str, str]:
        driver = {"driver": self._sink.driver} if self._sink.driver else {}
        return {**self._sink.properties, **driver, "url": self._sink.url, "dbtable": table}

    def _connect(self, spark: SparkSession) -> Any:
        return connected(spark, self._sink.url, self._sink.driver, self._sink.properties)
