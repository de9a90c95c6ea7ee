"""Any database with a JDBC driver, shown with Derby, which comes with Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from penstock.pipelines import sinks
from penstock.pipelines.error import DeclarationError, RunError, SetupError
from penstock.pipelines.sinks.jdbc import JdbcSink, JdbcTable
from penstock.pipelines.sinks.jdbc_connection import Connection, connected
from tests.pipelines.sink_kit import work_off
from tests.pipelines.test_pipeline_sink_lake import drop_rows, undo_last_commit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "id string, amount long"
Stream = Callable[..., None]


@pytest.fixture
def url(spark: SparkSession, tmp_path: Path) -> str:
    log = cast(Any, spark)._jvm.java.lang.System
    log.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))
    return f"jdbc:derby:memory:{tmp_path.name};create=true"


@pytest.fixture
def database(spark: SparkSession, url: str) -> Iterator[Connection]:
    with connected(spark, url, None, {}) as connection:
        yield connection


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Stream:
    def run(sink: JdbcSink, schema: str = SCHEMA) -> None:
        work_off(spark, tmp_path, sink, schema)

    return run


def rows(spark: SparkSession, url: str, table: str = "totals") -> list[tuple[Any, ...]]:
    frame = spark.read.format("jdbc").options(url=url, dbtable=table).load()
    return sorted((tuple(row) for row in frame.collect()), key=str)


def test_rows_are_appended_once(
    spark: SparkSession, url: str, database: Connection, tmp_path: Path, stream: Stream
) -> None:
    drop_rows(tmp_path / "in", 1, [{"id": "a", "amount": 1}, {"id": "a", "amount": 2}])
    stream(sinks.jdbc("totals", url=url))
    undo_last_commit(tmp_path / "checkpoint")
    stream(sinks.jdbc("totals", url=url))
    drop_rows(tmp_path / "in", 2, [{"id": "b", "amount": 3, "note": "x"}])
    stream(sinks.jdbc("totals", url=url), f"{SCHEMA}, note string")
    assert rows(spark, url) == [("a", 1, None), ("a", 2, None), ("b", 3, "x")]
    assert database.number("select batch_id from penstock_batches") == 1
    assert database.tables("penstock_stage_") == []


def test_rows_are_replaced_and_deleted_by_key(
    spark: SparkSession, url: str, database: Connection, tmp_path: Path, stream: Stream
) -> None:
    schema = f"{SCHEMA}, _deleted boolean"
    sink = sinks.jdbc("totals", url=url, key="id", order="amount")
    # A table of the user's own, its names in upper case, with a column that we know nothing of.
    database.execute(
        "create table totals (id varchar(9) primary key, amount bigint, seen int default 7)"
    )
    drop_rows(tmp_path / "in", 1, [{"id": each, "amount": 1} for each in "abc"])
    stream(sink, schema)
    database.execute("update totals set seen = 8 where id = 'b'")
    last = [{"id": "b", "amount": 9}, {"id": "b", "amount": 8}, {"id": "d", "amount": 4}]
    gone = [{"id": "c", "amount": 2, "_deleted": True}, {"id": "x", "amount": 1, "_deleted": True}]
    drop_rows(tmp_path / "in", 2, last + gone)
    stream(sink, schema)
    assert rows(spark, url) == [("a", 1, 7), ("b", 9, 8), ("d", 4, 7)]
    database.execute("update totals set amount = 77 where id = 'd'")
    undo_last_commit(tmp_path / "checkpoint")
    # As a killed run leaves it.
    database.execute(f"create table {JdbcTable(sink, 'pipe', 'out').stages}left (i int)")
    stream(sink, schema)
    assert rows(spark, url)[-1] == ("d", 77, 7)
    assert database.tables("penstock_stage_") == []


def test_any_other_change_is_refused_by_name(
    url: str, database: Connection, tmp_path: Path, stream: Stream
) -> None:
    drop_rows(tmp_path / "in", 1, [{"id": "a", "amount": 1}])
    stream(sinks.jdbc("totals", url=url, key="id"))
    with pytest.raises(RunError, match="column amount is bigint there and string in the rows"):
        stream(sinks.jdbc("totals", url=url, key="id"), "id string, amount string, more string")
    more = f"{SCHEMA}, note string, place struct<city: string>"
    with pytest.raises(RunError, match="column place is struct<city:string> in the rows"):
        stream(sinks.jdbc("totals", url=url, key="id"), more)
    with pytest.raises(RunError, match=r"told apart by \(id\), and the output's key is \(amount\)"):
        stream(sinks.jdbc("totals", url=url, key="amount"))
    database.execute("create table strict (id varchar(9) primary key, kind int not null)")
    with pytest.raises(RunError, match="column KIND is required there"):
        stream(sinks.jdbc("strict", url=url, key="id"), "id string, amount long")
    assert [each.name for each in database.columns("totals")] == ["id", "amount"]
    assert [each.name for each in database.columns("strict")] == ["ID", "KIND"]


def test_a_checkpoint_older_than_the_table_is_refused(
    url: str, database: Connection, tmp_path: Path, stream: Stream
) -> None:
    drop_rows(tmp_path / "in", 1, [{"id": "a", "amount": 1}])
    stream(sinks.jdbc("totals", url=url))
    database.execute("update penstock_batches set batch_id = 9")
    with pytest.raises(RunError, match="older than what was written"):
        stream(sinks.jdbc("totals", url=url))


def test_a_database_that_is_not_there(spark: SparkSession) -> None:
    with pytest.raises(DeclarationError, match="jdbc:"):
        sinks.jdbc("totals", url="mysql://somewhere")
    with (
        pytest.raises(SetupError, match=r"is the driver's jar in spark\.jars"),
        connected(spark, "jdbc:nosuch://host/db?password=secret", None, {}),
    ):
        pass
