"""Several outputs in one query, whose process is killed with -9 after some of them were written."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.mined_program import SOURCE
from tools.sink_kill.split import DELTA, ICEBERG, PARQUET, SPLIT, rows_in

COMMITTED = {"isolation.level": "read_committed"}


@pytest.mark.timeout(600)
def test_killed_between_two_sinks_each_table_has_each_record_once(
    penstock: Any, tmp_path: Path
) -> None:
    penstock.create_topic(SOURCE, partitions=2)
    penstock.create_topic(SPLIT, partitions=2)
    first, more = ([(f"k{n}", str(n)) for n in numbers] for numbers in (range(20), range(20, 30)))
    penstock.produce(SOURCE, first)
    assert run_mined(penstock, tmp_path) == -signal.SIGKILL
    assert sorted(rows_in(tmp_path, ICEBERG)) == sorted(rows_in(tmp_path, DELTA)) == sorted(first)
    assert rows_in(tmp_path, PARQUET) == []
    penstock.produce(SOURCE, more)
    assert run_mined(penstock, tmp_path) == 0
    written = penstock.read(SPLIT, settings=COMMITTED)
    assert sorted((each.key.decode(), each.value.decode()) for each in written) == sorted(
        first + more
    )
    for table in (ICEBERG, DELTA, PARQUET):
        assert sorted(rows_in(tmp_path, table)) == sorted(first + more)


def run_mined(penstock: Any, folder: Path) -> int:
    program = [sys.executable, "-m", "tests.pipelines.mined_program"]
    said = folder / "said"
    with said.open("w") as output:
        done = subprocess.run(
            [*program, penstock.bootstrap_servers, str(folder)],
            stdout=output,
            stderr=output,
            cwd=Path(__file__).parents[2],
            start_new_session=True,
        )
    assert done.returncode in (0, -signal.SIGKILL), said.read_text()[-4000:]
    return done.returncode
