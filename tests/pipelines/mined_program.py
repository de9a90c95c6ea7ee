"""A pipeline whose outputs share a query, in a process that is killed in the middle of a batch.

`python -m tests.pipelines.mined_program <servers> <folder>` writes what the topic `source` holds.
The first time, everything that belongs to it dies after some of the sinks have written.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from penstock.pipelines.run_settings import RunSettings
from penstock.pipelines.session import session
from penstock.pipelines.testing import SPARK_OPTIONS
from tools.sink_kill.split import PARQUET, outputs, split_pipeline

SOURCE = "source"


class Mine:
    """An output that kills whoever comes by first, with all processes of its group."""

    mode = "append"

    def __init__(self, gone_off: Path) -> None:
        self._gone_off = gone_off

    def open(self, frame: Any, **_: Any) -> Any:
        def write(batch: Any, query_id: str, number: int) -> None:
            if not self._gone_off.exists():
                self._gone_off.touch()
                os.killpg(0, signal.SIGKILL)

        return write

    def start(self, frame: Any, **_: Any) -> Any:
        raise AssertionError("it was to be asked for batches")


def main(servers: str, folder: Path) -> None:
    sinks = outputs()
    last = sinks.pop(PARQUET)
    declared = split_pipeline(SOURCE, {**sinks, "mine": Mine(folder / "mine"), PARQUET: last})
    spark = session(master="local[1]", options=SPARK_OPTIONS, lake=True)
    declared.start(spark, RunSettings(servers, folder, trigger={"availableNow": True})).wait()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
