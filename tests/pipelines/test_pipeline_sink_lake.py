"""Parquet, Iceberg and Delta: a batch replayed is there once, small files become few."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.pipelines import sinks
from penstock.pipelines.error import RunError, SessionError
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.sinks.iceberg import IcebergTable, open_catalog
from penstock.pipelines.sinks.parquet import ParquetTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings("ignore")  # pyiceberg's and SQLAlchemy's own

QUERY = "0f0f0f0f-1111-2222-3333-444444444444"
SCHEMA = "id string, amount long, at timestamp"


def numbers(spark: SparkSession, *values: int) -> DataFrame:
    columns = "string(id) as id", "id as amount", "timestamp_seconds(id) as at"
    frame = spark.range(0).selectExpr(*columns)
    for value in values:
        frame = frame.unionAll(spark.range(value, value + 1).selectExpr(*columns))
    return frame


def drop(folder: Path, *amounts: int) -> None:
    folder.mkdir(exist_ok=True)
    rows = (json.dumps({"id": str(n), "amount": n, "at": "2024-01-01T00:00:00Z"}) for n in amounts)
    (folder / f"{amounts[0]}.json").write_text("\n".join(rows))


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Callable[[sinks.Sink], None]:
    """Work off what is in the folder `in`, a file a batch."""

    def run(sink: sinks.Sink) -> None:
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        query = sink.start(
            reader.json(str(tmp_path / "in")),
            pipeline="pipe",
            output="out",
            checkpoint=str(tmp_path / "checkpoint"),
            settings=RunSettings(directory=tmp_path),
            trigger={"availableNow": True},
        )
        query.awaitTermination()

    return run


def undo_last_commit(checkpoint: Path) -> None:
    """As if killed after the table's commit and before Spark's own."""
    last = max(int(each.name) for each in (checkpoint / "commits").iterdir() if each.name.isdigit())
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)


def amounts_in(spark: SparkSession, path: Path) -> list[int]:
    return sorted(row.amount for row in spark.read.parquet(str(path)).collect())


# Parquet


def test_parquet_replays(
    spark: SparkSession, tmp_path: Path, stream: Callable[[sinks.Sink], None]
) -> None:
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
    spark: SparkSession, tmp_path: Path, stream: Callable[[sinks.Sink], None]
) -> None:
    drop(tmp_path / "in", 1)
    stream(sinks.parquet())
    query_id = json.loads((tmp_path / "checkpoint" / "metadata").read_text())["id"]
    ParquetTable(spark, str(tmp_path / "tables" / "out")).write(numbers(spark, 2), query_id, 7)
    with pytest.raises(RunError, match="older than what was written"):
        stream(sinks.parquet())


# Iceberg


def iceberg_rows(tmp_path: Path, name: str = "default.out") -> Any:
    return open_catalog({}, tmp_path).load_table(name).scan().to_arrow()


def test_iceberg_replays(tmp_path: Path, stream: Callable[[sinks.Sink], None]) -> None:
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
    table.create(numbers(spark, 0).schema)
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


# Delta, in a process of its own: the session that tests share does not have it.

DELTA = """
import sys
from pathlib import Path
from penstock.pipelines import sinks
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.session import session
from penstock.pipelines.sinks.delta import DeltaTable
from penstock.pipelines.testing import SPARK_OPTIONS
from tests.pipelines.test_pipeline_sink_lake import drop, undo_last_commit

root = Path(sys.argv[1])
spark = session(master="local[1]", options=SPARK_OPTIONS, lake=True)

def stream(after):
    reader = spark.readStream.schema("id string, amount long").option("maxFilesPerTrigger", 1)
    sinks.delta(compact_after_files=after).start(
        reader.json(str(root / "in")), pipeline="pipe", output="out",
        checkpoint=str(root / "checkpoint"), settings=RunSettings(directory=root),
        trigger={"availableNow": True},
    ).awaitTermination()

path = str(root / "tables" / "out")
drop(root / "in", 1, 2)
stream(None)
undo_last_commit(root / "checkpoint")
stream(None)
drop(root / "in", 3)
stream(None)
files = lambda: spark.sql(f"describe detail delta.`{path}`").first().numFiles
before = files()
table = DeltaTable(path, "penstock.pipe.out")
assert not table.compact(spark, before + 1)
assert table.compact(spark, 2)
amounts = sorted(row.amount for row in spark.read.format("delta").load(path).collect())
print("result", before, files(), amounts)
spark.stop()
"""


@pytest.mark.timeout(600)
def test_delta_replays_and_compacts(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DELTA, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=560,
    )
    assert "result 2 1 [1, 2, 3]" in done.stdout, done.stdout[-2000:] + done.stderr[-4000:]


def test_delta_needs_a_session_that_knows_it(
    tmp_path: Path, stream: Callable[[sinks.Sink], None]
) -> None:
    drop(tmp_path / "in", 1)
    with pytest.raises(SessionError, match="lake=True"):
        stream(sinks.delta())
