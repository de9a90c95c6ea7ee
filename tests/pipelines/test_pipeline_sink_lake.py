"""Parquet and Iceberg: a batch replayed is there once, small files become few."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.pipelines import sinks
from penstock.pipelines.error import DeclarationError, RunError, SessionError, TransientError
from penstock.pipelines.sinks.evolution import TableColumn, new_columns
from penstock.pipelines.sinks.iceberg import IcebergTable, _small_files, open_catalog
from penstock.pipelines.sinks.iceberg_merge import for_spark
from penstock.pipelines.sinks.parquet import ParquetTable
from tests.pipelines.sink_kit import work_off

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings("ignore")  # pyiceberg's and SQLAlchemy's own

QUERY = "0f0f0f0f-1111-2222-3333-444444444444"
ICEBERG = sys.modules[IcebergTable.__module__]
"""The package has a function of the module's name."""
Stream = Callable[..., None]
"""Of a sink and, where it is another, the schema of the files."""
SCHEMA = "id string, amount long, at timestamp"
# A column, a field and a field further inside are new, one field is gone, the order is another and
# numbers are narrower.
BEFORE = "id string, amount long, place struct<city: string, zone: int, at: struct<x: bigint>>"
AFTER = (
    "id string, amount int, note string,"
    " place struct<street: string, city: string, at: struct<y: int, x: int>>"
)
ROW_BEFORE = {"id": "1", "amount": 1, "place": {"city": "Rome", "zone": 7, "at": {"x": 1}}}
ROW_AFTER = {
    "id": "2",
    "amount": 2,
    "note": "n",
    "place": {"street": "Via", "city": "Bari", "at": {"x": 2, "y": 3}},
}
GROWN = [
    {
        "id": "1",
        "amount": 1,
        "place": {"city": "Rome", "zone": 7, "at": {"x": 1, "y": None}, "street": None},
        "note": None,
    },
    {
        "id": "2",
        "amount": 2,
        "place": {"city": "Bari", "zone": None, "at": {"x": 2, "y": 3}, "street": "Via"},
        "note": "n",
    },
]


def numbers(spark: SparkSession, *values: int) -> DataFrame:
    columns = "string(id) as id", "id as amount", "timestamp_seconds(id) as at"
    frame = spark.range(0).selectExpr(*columns)
    for value in values:
        frame = frame.unionAll(spark.range(value, value + 1).selectExpr(*columns))
    return frame


def drop(folder: Path, *amounts: int) -> None:
    rows = [{"id": str(n), "amount": n, "at": "2024-01-01T00:00:00Z"} for n in amounts]
    drop_rows(folder, amounts[0], rows)


def drop_rows(folder: Path, number: int, rows: Iterable[Mapping[str, Any]]) -> None:
    """A file for a stream to take: moved in whole, later than those before it."""
    folder.mkdir(exist_ok=True)
    fresh = folder / f".{number}"
    fresh.write_text("\n".join(map(json.dumps, rows)))
    os.utime(fresh, (number + 1, number + 1))
    fresh.rename(folder / f"{number}.json")


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Stream:
    def run(sink: sinks.Sink, schema: str = SCHEMA) -> None:
        work_off(spark, tmp_path, sink, schema)

    return run


def undo_last_commit(checkpoint: Path) -> None:
    """As if killed after the table's commit and before Spark's own."""
    last = max(int(each.name) for each in (checkpoint / "commits").iterdir() if each.name.isdigit())
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)


def amounts_in(spark: SparkSession, path: Path) -> list[int]:
    return sorted(row.amount for row in spark.read.parquet(str(path)).collect())


# Parquet


def test_parquet_replays(spark: SparkSession, tmp_path: Path, stream: Stream) -> None:
    drop(tmp_path / "in", 1, 2)
    stream(sinks.parquet())
    undo_last_commit(tmp_path / "checkpoint")
    stream(sinks.parquet())
    drop(tmp_path / "in", 3)
    stream(sinks.parquet())
    assert amounts_in(spark, tmp_path / "tables" / "out") == [1, 2, 3]


def test_parquet_half_written_is_replaced(spark: SparkSession, tmp_path: Path) -> None:
    table = ParquetTable(spark, str(tmp_path / "t"))
    staged = tmp_path / "t" / "_staging" / "batch=0f0f0f0f1111-0-000000000-000000000"
    staged.mkdir(parents=True)
    (staged / "part-0.parquet").write_bytes(b"torn")
    assert table.write(numbers(spark, 1), QUERY, 0)
    assert not table.write(numbers(spark, 1), QUERY, 0)
    assert amounts_in(spark, tmp_path / "t") == [1]


def test_parquet_compacts(spark: SparkSession, tmp_path: Path) -> None:
    table = ParquetTable(spark, str(tmp_path / "t"))
    for number in range(3):
        table.write(numbers(spark, number).coalesce(1), QUERY, number)
    assert not table.compact(QUERY, 4)
    assert table.compact(QUERY, 3)
    assert [(part.level, part.first, part.last) for part in table.parts(QUERY)] == [(1, 0, 2)]
    assert len(list((tmp_path / "t").glob("batch=*/*.parquet"))) == 1
    # What was merged still counts as written, and so do other checkpoints as others.
    assert not table.write(numbers(spark, 1), QUERY, 1)
    assert table.write(numbers(spark, 9), "ffff", 0)
    assert amounts_in(spark, tmp_path / "t") == [0, 1, 2, 9]


def test_parquet_finishes_a_merge_that_was_interrupted(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = ParquetTable(spark, str(tmp_path / "t"))
    for number in range(2):
        table.write(numbers(spark, number), QUERY, number)
    with monkeypatch.context() as patch:
        patch.setattr(ParquetTable, "recover", lambda _: None)
        table.compact(QUERY, 2)
    assert (tmp_path / "t" / "_staging" / "plan.json").exists()
    for _ in range(2):
        ParquetTable(spark, str(tmp_path / "t")).recover()
    assert amounts_in(spark, tmp_path / "t") == [0, 1]
    assert len(table.parts(QUERY)) == 1


def test_a_checkpoint_older_than_the_table(
    spark: SparkSession, tmp_path: Path, stream: Stream
) -> None:
    drop(tmp_path / "in", 1)
    stream(sinks.parquet())
    query_id = json.loads((tmp_path / "checkpoint" / "metadata").read_text())["id"]
    ParquetTable(spark, str(tmp_path / "tables" / "out")).write(numbers(spark, 2), query_id, 7)
    with pytest.raises(RunError, match="older than what was written"):
        stream(sinks.parquet())


def test_parquet_takes_new_columns_and_fields_and_keeps_them(
    spark: SparkSession, tmp_path: Path, stream: Stream
) -> None:
    drop_rows(tmp_path / "in", 1, [ROW_BEFORE])
    stream(sinks.parquet(), BEFORE)
    drop_rows(tmp_path / "in", 2, [ROW_AFTER])
    # With a compaction, which must not lose what only some files have; numbers get no narrower.
    stream(sinks.parquet(compact_after_files=2), AFTER)
    rows = spark.read.parquet(str(tmp_path / "tables" / "out")).orderBy("amount").drop("batch")
    assert [row.asDict(recursive=True) for row in rows.collect()] == GROWN
    assert len(list((tmp_path / "tables" / "out").glob("batch=*"))) == 1


@pytest.mark.parametrize("kind", ["parquet", "iceberg"])
def test_any_other_change_is_refused_by_name(tmp_path: Path, stream: Stream, kind: str) -> None:
    sink = sinks.parquet() if kind == "parquet" else sinks.iceberg("out")
    drop(tmp_path / "in", 1)
    stream(sink)
    drop(tmp_path / "in", 2)
    with pytest.raises(RunError, match="column amount is bigint there and string in the rows"):
        stream(sink, "id string, amount string, more string")
    with pytest.raises(RunError, match="column AMOUNT of the rows is amount there"):
        stream(sink, "id string, AMOUNT bigint")
    with pytest.raises(DeclarationError, match="_deleted means nothing without a key"):
        stream(sink, "id string, _deleted boolean")
    if kind == "iceberg":
        assert iceberg_rows(tmp_path).column_names == ["id", "amount", "at"]
    else:
        assert len(list((tmp_path / "tables" / "out").glob("batch=*"))) == 1


# Iceberg


def iceberg_rows(tmp_path: Path, name: str = "default.out") -> Any:
    return open_catalog({}, tmp_path).load_table(name).scan().to_arrow()


def test_iceberg_replays(tmp_path: Path, stream: Stream) -> None:
    drop(tmp_path / "in", 1, 2)
    stream(sinks.iceberg("out"))
    undo_last_commit(tmp_path / "checkpoint")
    stream(sinks.iceberg("out"))
    drop(tmp_path / "in", 3)
    stream(sinks.iceberg("out"))
    rows = iceberg_rows(tmp_path)
    assert sorted(rows.column("amount").to_pylist()) == [1, 2, 3]
    assert rows.column("at").to_pylist()[0].year == 2024


def test_iceberg_compacts(spark: SparkSession, tmp_path: Path) -> None:
    catalog = open_catalog({}, tmp_path)
    table = IcebergTable(catalog, "default.t", "penstock.progress.pipe.t")
    table.evolve(numbers(spark, 0).schema)
    for number in range(3):
        assert table.write(numbers(spark, number).coalesce(1), QUERY, number)
    assert not table.write(numbers(spark, 1), QUERY, 1)
    assert not table.compact(4)
    assert table.compact(3)
    loaded = catalog.load_table("default.t")
    assert len(list(loaded.scan().plan_files())) == 1
    assert sorted(loaded.scan().to_arrow().column("amount").to_pylist()) == [0, 1, 2]
    assert table.last_batch(QUERY) == 2
    assert table.last_batch("another") == -1
    # Readers of the past still find it.
    before = loaded.history()[-2].snapshot_id
    assert loaded.scan(snapshot_id=before).to_arrow().num_rows == 3


class Overtaken(IcebergTable):
    """One in whose place somebody else writes, while it writes the files of its batch."""

    meanwhile: Callable[[], object]

    def _write_files(self, table: Any, rows: DataFrame, name: str) -> list[str]:
        paths = super()._write_files(table, rows, name)
        self.meanwhile()
        return paths


@pytest.mark.parametrize("key", [(), ("id",)])
def test_iceberg_takes_no_batch_that_another_driver_has_just_written(
    spark: SparkSession, tmp_path: Path, key: tuple[str, ...]
) -> None:
    name = "default.t", "penstock.progress.pipe.t", key
    catalog = open_catalog({}, tmp_path)
    newer, older = IcebergTable(catalog, *name), Overtaken(open_catalog({}, tmp_path), *name)
    newer.evolve(numbers(spark, 0).schema)
    newer.write(numbers(spark, 0), QUERY, 0)
    older.meanwhile = lambda: newer.write(numbers(spark, 1), QUERY, 1)
    with pytest.raises(TransientError, match="was changed by another"):
        older.write(numbers(spark, 1), QUERY, 1)
    # When it is tried again, the batch is seen to be there.
    assert not older.write(numbers(spark, 1), QUERY, 1)
    loaded = catalog.load_table("default.t")
    assert sorted(loaded.scan().to_arrow().column("amount").to_pylist()) == [0, 1]
    assert "commit.retry.num-retries" not in loaded.properties


def test_iceberg_changes_a_table_that_another_has_changed_when_it_is_tried_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = open_catalog({}, tmp_path)
    one, other = (IcebergTable(catalog, "default.t", f"penstock.progress.{n}") for n in "ab")
    rows = numbers(spark, 0)
    one.evolve(rows.schema)
    wider = rows.selectExpr("*", "id as note").schema
    meanwhile = [partial(other.evolve, wider)]

    def compared(*given: Any) -> list[TableColumn]:
        if meanwhile:
            meanwhile.pop()()
        return new_columns(*given)

    monkeypatch.setattr(ICEBERG, "new_columns", compared)
    with pytest.raises(TransientError, match="was changed by another"):
        one.evolve(wider)
    one.evolve(wider)
    assert [each.name for each in one.columns()] == ["id", "amount", "at", "note"]


def test_iceberg_leaves_files_alone_that_another_has_just_replaced(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = open_catalog({}, tmp_path)
    one = IcebergTable(catalog, "default.t", "penstock.progress.pipe.t", ("id",))
    one.evolve(numbers(spark, 0).schema)
    for number in range(2):
        one.write(numbers(spark, number), QUERY, number)

    def found(table: Any) -> list[Any]:
        files = _small_files(table)
        one.write(numbers(spark, 1), QUERY, 2)
        return files

    with monkeypatch.context() as patch:
        patch.setattr(ICEBERG, "_small_files", found)
        assert not one.compact(2)
    assert one.compact(2)
    amounts = catalog.load_table("default.t").scan().to_arrow().column("amount").to_pylist()
    assert sorted(amounts) == [0, 1]


def test_iceberg_takes_new_columns_and_fields(tmp_path: Path, stream: Stream) -> None:
    drop_rows(tmp_path / "in", 1, [ROW_BEFORE])
    stream(sinks.iceberg("out"), BEFORE)
    drop_rows(tmp_path / "in", 2, [ROW_AFTER])
    stream(sinks.iceberg("out"), AFTER)
    rows = iceberg_rows(tmp_path).to_pylist()
    assert sorted(rows, key=lambda row: row["id"]) == GROWN


def test_iceberg_upserts_and_deletes_once(tmp_path: Path, stream: Stream) -> None:
    schema = "id string, amount long, note string, _deleted boolean"
    sink = sinks.iceberg("out", key="id", order="amount")
    first = [{"id": each, "amount": 1, "note": f"of {each}"} for each in "abcd"]
    drop_rows(tmp_path / "in", 1, first)
    stream(sink, schema)
    last = [{"id": "b", "amount": 9}, {"id": "b", "amount": 8}, {"id": "e", "amount": 4}]
    gone = [{"id": "c", "amount": 2, "_deleted": True}, {"id": "x", "amount": 1, "_deleted": True}]
    drop_rows(tmp_path / "in", 2, last + gone)
    # Without the note, which stays as it was.
    stream(sink, "id string, amount long, _deleted boolean")
    wanted = [("a", 1, "of a"), ("b", 9, "of b"), ("d", 1, "of d"), ("e", 4, None)]
    assert rows_by_id(tmp_path) == wanted
    undo_last_commit(tmp_path / "checkpoint")
    snapshots = len(open_catalog({}, tmp_path).load_table("default.out").history())
    stream(sink, schema)
    assert len(open_catalog({}, tmp_path).load_table("default.out").history()) == snapshots
    with pytest.raises(RunError, match="kept by the key id, and is to be written by amount"):
        stream(sinks.iceberg("out", key="amount"), schema)
    everything = [{"id": each, "amount": 1, "_deleted": True} for each in "abde"]
    drop_rows(tmp_path / "in", 3, everything)
    stream(sink, schema)
    assert rows_by_id(tmp_path) == []


def rows_by_id(tmp_path: Path) -> list[tuple[Any, ...]]:
    found = iceberg_rows(tmp_path).select(["id", "amount", "note"]).to_pylist()
    return sorted(tuple(row.values()) for row in found)


def test_a_row_without_its_key_stops_the_batch(tmp_path: Path, stream: Stream) -> None:
    drop_rows(tmp_path / "in", 1, [{"id": None, "amount": 1}])
    with pytest.raises(Exception, match="key column id is null"):
        stream(sinks.iceberg("out", key="id"))
    assert iceberg_rows(tmp_path).num_rows == 0


def test_an_s3_location_is_written_through_hadoops_name_for_it() -> None:
    assert for_spark("s3://lake/orders/data") == "s3a://lake/orders/data"
    assert for_spark("s3a://lake/orders") == "s3a://lake/orders"
    assert for_spark("file:///lake") == "file:///lake"


# Delta without its session; with it, see test_pipeline_sink_delta.


def test_delta_needs_a_session_that_knows_it(tmp_path: Path, stream: Stream) -> None:
    drop(tmp_path / "in", 1)
    with pytest.raises(SessionError, match="lake=True"):
        stream(sinks.delta())
