"""Tables written by key, with the position in the same transaction: SQLite and PostgreSQL."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.sinks.database import DatabaseTable, database
from penstock.pipelines.sinks.dialect import dialect_of
from penstock.testing.broker import Broker
from tests.postgres_kit import running_postgres
from tools.postgres import Postgres

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = [("id", "string"), ("amount", "bigint")]


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    yield from running_postgres()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/tables.db"
    server: Postgres = request.getfixturevalue("postgres")
    # A schema of its own for every test, in one server.
    schema = f"s{abs(hash(request.node.name))}"
    with dialect_of(server.url).open() as cursor:
        cursor.execute(f"create schema {schema}")
    return f"{server.url}?options=-csearch_path%3D{schema}"


@pytest.fixture
def table(url: str) -> DatabaseTable:
    made = DatabaseTable(dialect_of(url), "totals", ("id",), "pipe", "totals")
    made.evolve(COLUMNS)
    return made


def select(url: str, statement: str) -> list[tuple[Any, ...]]:
    with dialect_of(url).open() as cursor:
        cursor.execute(statement)
        return [tuple(row) for row in cursor.fetchall()]


def rows(**amounts: int) -> pa.Table:
    return pa.table({"id": list(amounts), "amount": list(amounts.values())})


def test_rows_are_replaced_by_key(url: str, table: DatabaseTable) -> None:
    assert table.write(rows(a=1, b=2), "query", 0, "[]")
    assert table.write(rows(b=3, c=4), "query", 1, '[{"orders": {"0": 7}}]')
    assert select(url, "select * from totals order by id") == [("a", 1), ("b", 3), ("c", 4)]
    assert select(url, "select * from penstock_progress") == [
        ("pipe", "totals", "query", 1, '[{"orders": {"0": 7}}]')
    ]


def test_a_replayed_batch_changes_nothing(url: str, table: DatabaseTable) -> None:
    table.write(rows(a=1), "query", 5, "[]")
    assert table.has("query", 5)
    assert not table.write(rows(a=99), "query", 5, "[]")
    assert not table.has("query", 6)
    assert select(url, "select * from totals") == [("a", 1)]


def test_a_batch_without_rows_moves_the_position(url: str, table: DatabaseTable) -> None:
    """As one has it whose offsets are all markers of transactions."""
    nothing = pa.table({"id": pa.array([], pa.string()), "amount": pa.array([], pa.int64())})
    assert table.write(nothing, "query", 0, "[]")
    assert table.has("query", 0)
    assert select(url, "select * from totals") == []


def test_another_checkpoint_numbers_its_batches_anew(url: str, table: DatabaseTable) -> None:
    table.write(rows(a=1), "old", 57, "[]")
    assert not table.has("new", 0)
    assert table.write(rows(a=2), "new", 0, "[]")
    assert select(url, "select * from totals") == [("a", 2)]


def test_a_batch_that_fails_leaves_neither_rows_nor_position(
    url: str, table: DatabaseTable
) -> None:
    table.write(rows(a=1), "query", 0, "[]")
    broken = pa.table({"id": ["b", None], "amount": [1, 2]})
    if url.startswith("sqlite"):
        # SQLite takes a null for a key: break it by a column that is not there.
        broken = broken.append_column("unheard_of", pa.array([1, 2]))
    with pytest.raises(Exception, match=r"unheard_of|null"):
        table.write(broken, "query", 1, "[]")
    assert select(url, "select * from totals") == [("a", 1)]
    assert not table.has("query", 1)


def test_a_checkpoint_older_than_the_table_is_refused(table: DatabaseTable) -> None:
    table.write(rows(a=1), "query", 9, "[]")
    table.require_checkpoint_at_progress("query", 9)
    table.require_checkpoint_at_progress("other", -1)
    with pytest.raises(RunError, match="older than what was written"):
        table.require_checkpoint_at_progress("query", 8)


def test_values_of_every_type(url: str) -> None:
    at = datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
    kinds = {
        "id": ("string", "ä", None),
        "data": ("binary", b"\0\1", None),
        "yes": ("boolean", True, None),
        "count": ("int", 7, None),
        "ratio": ("double", 0.5, None),
        "price": ("decimal(10,2)", decimal.Decimal("1.10"), "1.10"),
        "day": ("date", datetime.date(2024, 5, 6), "2024-05-06"),
        "at": ("timestamp", at, "2024-05-06 07:08:09+00:00"),
        "nothing": ("bigint", None, None),
    }
    table = DatabaseTable(dialect_of(url), "all_kinds", ("id",), "pipe", "kinds")
    table.evolve([(name, kind) for name, (kind, _, _) in kinds.items()])
    table.write(pa.table({name: [value] for name, (_, value, _) in kinds.items()}), "q", 0, "[]")
    sqlite = url.startswith("sqlite")
    wanted = [text if sqlite and text else value for _, value, text in kinds.values()]
    assert list(select(url, "select * from all_kinds")[0]) == wanted


def test_the_last_row_of_a_key_wins_and_a_deleted_one_goes(url: str, table: DatabaseTable) -> None:
    table.write(rows(a=1, b=2, c=3), "query", 0, "[]")
    changes = pa.table(
        {
            "id": ["a", "b", "a", "c", "d", "d"],
            "amount": [5, 6, 7, None, 8, None],
            "_deleted": [False, None, True, True, False, True],
        }
    )
    table.write(changes, "query", 1, "[]")
    assert select(url, "select * from totals") == [("b", 6)]
    ordered = replace(table, order="amount")
    ordered.write(pa.table({"id": ["e", "e", "e"], "amount": [2, 9, None]}), "query", 2, "[]")
    assert select(url, "select amount from totals where id = 'e'") == [(9,)]


def test_a_row_without_its_key_stops_the_batch(url: str, table: DatabaseTable) -> None:
    table.write(rows(a=1), "query", 0, "[]")
    for gone in ({}, {"_deleted": [None, True]}):
        nameless = pa.table({"id": ["b", None], "amount": [2, 3], **gone})
        with pytest.raises(RunError, match="the key column id is null in a row"):
            table.write(nameless, "query", 1, "[]")
    assert select(url, "select * from totals") == [("a", 1)]
    assert not table.has("query", 1)


def test_a_new_column_is_added(url: str, table: DatabaseTable) -> None:
    table.write(rows(a=1), "query", 0, "[]")
    table.evolve([*COLUMNS, ("note", "string")])
    table.write(rows(b=2).append_column("note", pa.array(["x"])), "query", 1, "[]")
    # Rows that no longer have it leave it as it was.
    table.evolve(COLUMNS)
    table.write(rows(b=3), "query", 2, "[]")
    found = select(url, "select id, amount, note from totals order by id")
    assert found == [("a", 1, None), ("b", 3, "x")]


def test_any_other_change_is_refused_by_name(url: str, table: DatabaseTable) -> None:
    with pytest.raises(RunError, match=r"column amount is .* there and text in the rows"):
        table.evolve([("id", "string"), ("amount", "string"), ("extra", "string")])
    with pytest.raises(RunError, match="column Amount of the rows is amount there"):
        table.evolve([("id", "string"), ("Amount", "bigint")])
    with pytest.raises(RunError, match=r"told apart by \(id\), and the output's key is \(amount\)"):
        replace(table, key=("amount",)).evolve(COLUMNS)
    with dialect_of(url).open() as cursor:
        cursor.execute("create table theirs (id varchar(9) unique, kind int not null, n int)")
    theirs = replace(table, name="theirs")
    with pytest.raises(RunError, match="column kind is required there"):
        theirs.evolve([("id", "string"), ("n", "int")])
    theirs.evolve([("id", "string"), ("kind", "smallint"), ("n", "int")])
    assert [name for name, *_ in described(url, "theirs")] == ["id", "kind", "n"]
    assert [name for name, *_ in described(url, "totals")] == ["id", "amount"]


def described(url: str, table: str) -> list[tuple[Any, ...]]:
    dialect = dialect_of(url)
    with dialect.open() as cursor:
        return [(each.name, each.type) for each in dialect.columns(cursor, table)]


def test_what_cannot_be_declared() -> None:
    with pytest.raises(DeclarationError, match="not a plain SQL name"):
        database('x"; drop table y', key="id")
    with pytest.raises(DeclarationError, match="no such database"):
        database("x", key="id", url="oracle://somewhere")
    with pytest.raises(DeclarationError, match="key="):
        database("x", key=[])
    with pytest.raises(DeclarationError, match="column tags is array<string> in the rows"):
        dialect_of("sqlite:///x").column_type("column tags", "array<string>")


def test_a_stream_replayed_by_spark(
    url: str, spark: SparkSession, penstock: Broker, tmp_path: Path
) -> None:
    penstock.create_topic("orders", 1)
    penstock.produce("orders", [("a", "1"), ("b", "2"), ("a", "3")])
    settings = RunSettings(penstock.bootstrap_servers, tmp_path)
    checkpoint = tmp_path / "checkpoint"

    def run() -> None:
        reader = spark.readStream.format("kafka").options(**settings.spark_kafka())
        source = reader.option("subscribe", "orders").option("startingOffsets", "earliest").load()
        frame = source.selectExpr("string(key) as id", "int(string(value)) as amount")
        query = database("orders", key="id", url=url).start(
            frame,
            pipeline="pipe",
            output="orders",
            checkpoint=str(checkpoint),
            settings=settings,
            trigger={"availableNow": True},
        )
        query.awaitTermination()

    run()
    assert select(url, "select * from orders order by id") == [("a", 3), ("b", 2)]
    with dialect_of(url).open() as cursor:
        cursor.execute("update orders set amount = 77 where id = 'a'")
    # As if killed after the table's commit and before Spark's own.
    (checkpoint / "commits" / "0").unlink()
    (checkpoint / "commits" / ".0.crc").unlink(missing_ok=True)
    run()
    assert select(url, "select amount from orders where id = 'a'") == [(77,)]
    penstock.produce("orders", [("a", "4")])
    run()
    assert select(url, "select amount from orders where id = 'a'") == [(4,)]
    [(batch, offsets)] = select(url, "select batch_id, offsets from penstock_progress")
    assert (batch, json.loads(offsets)) == (1, [{"orders": {"0": 4}}])
