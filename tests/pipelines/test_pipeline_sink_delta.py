"""Delta: replays, compaction, columns that come and change, upserts; seen in one process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.test_pipeline_sink_lake import GROWN

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("delta")
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipelines.delta_program", str(folder)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=560,
    )
    line = next((each for each in done.stdout.splitlines() if each.startswith("seen ")), None)
    assert line is not None, done.stdout[-2000:] + done.stderr[-4000:]
    found: dict[str, Any] = json.loads(line.removeprefix("seen "))
    return found


def test_delta_needs_no_option_on_the_command_line(seen: dict[str, Any]) -> None:
    assert seen["commanded"] == [["o1", 5.0]]


def test_delta_appends_once_takes_new_columns_and_fields_and_compacts(seen: dict[str, Any]) -> None:
    before, compacted, after, rows, _ = seen["appends"]
    assert (before, compacted, after) == (2, [False, True], 1)
    assert rows == GROWN


def test_delta_upserts_and_deletes_once(seen: dict[str, Any]) -> None:
    rows = [(row["id"], row["amount"]) for row in seen["upserts"][0]]
    assert rows == [("a", 1), ("b", 9), ("d", 77)]


def test_delta_refuses_any_other_change_before_it_writes(seen: dict[str, Any]) -> None:
    _, (type_changed, key_changed, key_gone), versions, _ = seen["upserts"]
    assert "column amount is bigint there and string in the rows" in type_changed
    assert "kept by the key id, and is to be written by amount" in key_changed
    assert "kept by the key id, and is to be written without one" in key_gone
    assert versions == 0


def test_delta_refuses_a_checkpoint_older_than_the_table(seen: dict[str, Any]) -> None:
    for trial in ("appends", "upserts"):
        assert "the checkpoint is older than what was written" in seen[trial][-1]


def test_delta_writes_a_batch_that_another_commit_came_before_when_it_is_tried_again(
    seen: dict[str, Any],
) -> None:
    passes, said, rows = seen["contested"]
    assert passes, said
    assert "DELTA_CONCURRENT_DELETE_READ" in said
    assert rows == [{"id": "a", "amount": 2}]
