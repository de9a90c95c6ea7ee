"""Spark waits ten seconds for the Python process that plans a stateful operator, and no longer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.testing.broker import Broker
from tests.pipelines.test_pipeline_keyed_store import NOW, adder
from tests.pipelines.totals_kit import PATIENCE_S, totals

pytestmark = [pytest.mark.java, pytest.mark.timeout(400)]

# Whichever Python Spark starts to plan the operator comes too late, the first time.
LATE = """#!/bin/sh
case "$*" in *driver_worker*) [ -e {late} ] || {{ touch {late}; sleep 11; }};; esac
exec {python} "$@"
"""


def test_a_python_that_starts_too_late_is_started_again(
    penstock: Broker,
    spark: Any,
    pipeline_start: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late, python = tmp_path / "late", tmp_path / "python"
    python.write_text(LATE.format(late=late, python=sys.executable))
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    penstock.create_topic("numbers")
    penstock.produce("numbers", [("a", "1"), ("a", "2")])
    running = pipeline_start(adder(), trigger=NOW, retry_backoff_s=0.1)
    assert running.wait(PATIENCE_S)
    assert late.exists()
    assert totals(penstock, 2) == {b"a": [1, 3]}
    assert running.progress().restarts == 1
