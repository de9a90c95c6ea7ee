"""Delta's trials, in a process of their own: the session that tests share does not have Delta.

`python -m tests.pipelines.delta_program <folder>` prints what it saw as one line of JSON, which
test_pipeline_sink_delta holds against what it should be.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.pipelines import sinks
from penstock.pipelines.error import PipelineError
from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.session import session
from penstock.pipelines.sinks.delta import DeltaSink, DeltaTable
from penstock.pipelines.testing import SPARK_OPTIONS
from tests.pipelines.test_pipeline_sink_lake import drop_rows, undo_last_commit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "id string, amount long"


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

    def rows(self) -> list[list[Any]]:
        found = self.spark.read.format("delta").load(self.path).collect()
        return sorted([list(row) for row in found], key=str)

    def files(self) -> int:
        row = self.spark.sql(f"describe detail delta.`{self.path}`").first()
        return int(row["numFiles"]) if row is not None else 0

    def version(self) -> int:
        row = self.spark.sql(f"describe history delta.`{self.path}` limit 1").first()
        return int(row["version"]) if row is not None else -1


def appends(trial: Trial) -> Any:
    """A batch repeated, then a column that is new and a number that is narrower, then few files."""
    sink = sinks.delta(compact_after_files=None)
    trial.give({"id": "1", "amount": 1}, {"id": "2", "amount": 2})
    trial.stream(sink)
    trial.replay(sink)
    trial.give({"id": "3", "amount": 3, "note": "x"})
    trial.stream(sink, "id string, amount int, note string")
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


TRIALS = (appends, upserts)


def main(folder: str) -> None:
    spark = session(master="local[1]", options=SPARK_OPTIONS, lake=True)
    seen = {}
    for trial in TRIALS:
        root = Path(folder, trial.__name__)
        root.mkdir()
        seen[trial.__name__] = trial(Trial(spark, root))
    print("seen " + json.dumps(seen))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
