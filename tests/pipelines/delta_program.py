"""Delta's trials, in a process of their own: the session that tests share does not have Delta.

`python -m tests.pipelines.delta_program <folder>` prints what it saw as one line of JSON, which
test_pipeline_sink_delta holds against what it should be.
"""

from __future__ import annotations

import json
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import udf

from penstock.cli.main import main as penstock
from penstock.pipelines import sinks
from penstock.pipelines.error import PipelineError
from penstock.pipelines.run.failure import is_transient, one_line
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.session import session
from penstock.pipelines.sinks.delta import DeltaSink, DeltaTable
from penstock.pipelines.testing import SPARK_OPTIONS
from penstock.testing.broker import Broker
from tests.pipelines.test_pipeline_sink_lake import (
    AFTER,
    BEFORE,
    QUERY,
    ROW_AFTER,
    ROW_BEFORE,
    drop_rows,
    undo_last_commit,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "id string, amount long"
MASTER = "local[1]"
KEPT = """
from penstock.pipelines import decode, pipeline, sinks, sources

ORDERS = sources.topic("orders", decode=decode.json("id string, amount double"))


@pipeline(inputs={"orders": ORDERS}, outputs={"kept": sinks.delta()})
def kept(orders):
    return orders.select("id", "amount")
"""


class Trial:
    """One table and the folder of files that a stream takes into it, a file a batch."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark, self.root = spark, root
        self.path = str(root / "tables" / "out")
        self._given = 0

    def give(self, *rows: dict[str, Any]) -> None:
        drop_rows(self.root / "in", self._given, rows)
        self._given += 1

    def stream(self, sink: DeltaSink, schema: str = SCHEMA) -> None:
        reader = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        sink.start(
            reader.json(str(self.root / "in")),
            pipeline="pipe",
            output="out",
            checkpoint=str(self.root / "checkpoint"),
            settings=RunSettings(directory=self.root),
            trigger={"availableNow": True},
        ).awaitTermination()

    def replay(self, sink: DeltaSink, schema: str = SCHEMA) -> None:
        undo_last_commit(self.root / "checkpoint")
        self.stream(sink, schema)

    def rows(self) -> list[dict[str, Any]]:
        found = self.spark.read.format("delta").load(self.path).collect()
        return sorted((row.asDict(recursive=True) for row in found), key=lambda row: row["id"])

    def files(self) -> int:
        row = self.spark.sql(f"describe detail delta.`{self.path}`").first()
        return int(row["numFiles"]) if row is not None else 0

    def version(self) -> int:
        row = self.spark.sql(f"describe history delta.`{self.path}` limit 1").first()
        return int(row["version"]) if row is not None else -1


def appends(trial: Trial) -> Any:
    """A batch repeated, then columns and fields that are new, then few files."""
    sink = sinks.delta(compact_after_files=None)
    trial.give(ROW_BEFORE)
    trial.stream(sink, BEFORE)
    trial.replay(sink, BEFORE)
    trial.give(ROW_AFTER)
    trial.stream(sink, AFTER)
    before = trial.files()
    table = DeltaTable(trial.path, "penstock.pipe.out")
    compacted = table.compact(trial.spark, before + 1), table.compact(trial.spark, 2)
    return [before, compacted, trial.files(), trial.rows(), older(trial, sink)]


def upserts(trial: Trial) -> Any:
    schema = f"{SCHEMA}, _deleted boolean"
    sink = sinks.delta(key="id", order="amount")
    trial.give({"id": "a", "amount": 1}, {"id": "b", "amount": 2}, {"id": "c", "amount": 3})
    trial.give(
        {"id": "b", "amount": 9},
        {"id": "b", "amount": 8},
        {"id": "c", "amount": 10, "_deleted": True},
        {"id": "d", "amount": 4},
        {"id": "e", "amount": 5, "_deleted": True},
    )
    trial.stream(sink, schema)
    # Changed behind the sink's back: were the replay written, it would be undone.
    trial.spark.sql(f"update delta.`{trial.path}` set amount = 77 where id = 'd'")
    trial.replay(sink, schema)
    return [trial.rows(), *refusals(trial), older(trial, sink, schema)]


def contested(trial: Trial) -> Any:
    """A batch in whose middle another takes a file away that it replaces, then the same again."""
    table = DeltaTable(trial.path, "penstock.pipe.out", key=("id",))
    rows = trial.spark.createDataFrame([("a", 1)], SCHEMA)
    table.evolve(trial.spark, rows.schema)
    table.write(rows, QUERY, 0)
    (old,) = (each.name for each in Path(trial.path).glob("*.parquet"))
    log = Path(trial.path, "_delta_log", f"{trial.version() + 1:020}.json")
    gone = {"path": old, "deletionTimestamp": 1, "dataChange": True}

    def meanwhile(amount: int) -> int:
        log.write_text(json.dumps({"remove": gone}))
        return amount + 1

    later = rows.select("id", udf(meanwhile, "long")("amount").alias("amount"))
    try:
        table.write(later, QUERY, 1)
    except Exception as error:
        passes = is_transient(error)
        # Its file is gone; what is tried again finds it so.
        table.write(rows.selectExpr("id", "amount + 1 as amount"), QUERY, 1)
        return [passes, one_line(error), trial.rows()]
    return ["nothing was in its way"]


def older(trial: Trial, sink: DeltaSink, schema: str = SCHEMA) -> str:
    """What is said of a checkpoint that was put back from a copy of before the last batch."""
    last = max(int(each.name) for each in (trial.root / "checkpoint/offsets").glob("[0-9]*"))
    for folder in ("offsets", "commits"):
        for each in (trial.root / "checkpoint" / folder).glob(f"*{last}*"):
            each.unlink()
    try:
        trial.stream(sink, schema)
    except PipelineError as error:
        return str(error)
    return "nothing"


def refusals(trial: Trial) -> tuple[list[str], int]:
    """What is said, and how many versions of the table it left."""
    version = trial.version()
    said = []
    for sink, schema in (
        (sinks.delta(key="id"), "id string, amount string, more string"),
        (sinks.delta(key="amount"), SCHEMA),
        (sinks.delta(), SCHEMA),
    ):
        try:
            trial.stream(sink, schema)
        except PipelineError as error:
            said.append(str(error))
    return said, trial.version() - version


def commanded(root: Path) -> list[list[Any]]:
    """`penstock pipeline run`, which starts a session that knows Delta because an output needs it;
    all else is tried in that session."""
    (root / "kept.py").write_text(KEPT)
    broker = Broker(root / "data")
    broker.start()
    try:
        broker.create_topic("orders")
        broker.produce("orders", ['{"id": "o1", "amount": 5}'])
        command = ["-b", broker.bootstrap_servers, "pipeline", "run", f"{root / 'kept.py'}:kept"]
        command += ["--once", "--dir", str(root / "pipelines"), "--master", MASTER]
        options = [("--set", f"{name}={value}") for name, value in SPARK_OPTIONS.items()]
        code = penstock([*command, *chain(*options)])
    finally:
        broker.stop()
    table = root / "pipelines" / "tables" / "kept"
    rows = session(lake=True).read.format("delta").load(str(table)).collect() if code == 0 else []
    return [list(row) for row in rows]


TRIALS = (appends, upserts, contested)


def main(folder: str) -> None:
    seen: dict[str, Any] = {"commanded": commanded(Path(folder))}
    spark = session(master=MASTER, options=SPARK_OPTIONS, lake=True)
    for trial in TRIALS:
        root = Path(folder, trial.__name__)
        root.mkdir()
        seen[trial.__name__] = trial(Trial(spark, root))
    print("seen " + json.dumps(seen))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
