"""The fixtures themselves: there without asking, light until used, one session for all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.pipelines import decode, pipeline, sinks, sources

SESSIONS: list[Any] = []

OUTSIDE = """
import sys

def test_nothing_was_imported(request):
    assert "pyspark" not in sys.modules
    assert "confluent_kafka" not in sys.modules
    request.session._fixturemanager.getfixturedefs("pipeline_run", request.node)[0]
"""


def test_a_run_without_pipelines_does_not_import_spark(tmp_path: Path) -> None:
    (tmp_path / "test_outside.py").write_text(OUTSIDE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("number", [1, 2])
def test_the_session_is_shared(spark: Any, number: int) -> None:
    SESSIONS.append(spark)
    assert SESSIONS[0] is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "1"


@pipeline(
    inputs={"lines": sources.topic("lines", decode=decode.text())},
    outputs={"upper": sinks.topic("upper")},
)
def shout(lines: Any) -> Any:
    return lines.selectExpr("_key AS key", "upper(value) AS value")


def test_a_pipeline_that_goes_on_ends_with_the_test(
    penstock: Any, pipeline_start: Callable[..., Any]
) -> None:
    penstock.create_topic("lines")
    running = pipeline_start(shout)
    penstock.produce("lines", ["hello"])
    (found,) = penstock.read("upper", count=1, timeout_s=90)
    assert found.value == b"HELLO"
    assert len(running.queries) == 1


def test_a_pipeline_that_cannot_start_leaves_nothing_behind(
    penstock: Any, pipeline_run: Callable[..., Any], tmp_path: Path
) -> None:
    from penstock.pipelines.error import RunError
    from penstock.pipelines.run.lock import lock_holder

    with pytest.raises(RunError, match="there is no topic lines"):
        pipeline_run(shout)
    assert lock_holder(tmp_path / "pipelines" / "shout") is None
    penstock.create_topic("lines")
    penstock.produce("lines", ["hello"])
    pipeline_run(shout)
    assert [each.value for each in penstock.read("upper")] == [b"HELLO"]
