"""session(): the settings it promises, one for a process, silent, and anew where it must be."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from penstock.pipelines.error import SessionError, SetupError
from penstock.pipelines.jar import ensure_jars
from penstock.pipelines.session import LAKE_SETTINGS, local_cores, session
from penstock.pipelines.version import DELTA, KAFKA

session_module = import_module("penstock.pipelines.session")

# As a user's program, in a process of its own: it shares nothing with the other tests' session.
PROGRAM = """
import time
from penstock.pipelines import session

session(master="local[1]").stop()

spark = session(master="local[1]", lake=True)
spark.range(3).write.format("delta").save("table")
print(spark.read.format("delta").load("table").count(), "rows")
query = spark.readStream.format("rate").load().writeStream.format("noop").start()
while not query.recentProgress:
    time.sleep(0.1)
query.stop()
spark.stop()
"""


def test_settings(spark: SparkSession) -> None:
    assert spark.version == "4.2.0"
    expected = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.ui.enabled": "false",
    }
    assert {key: spark.conf.get(key) for key in expected} == expected
    assert spark.sparkContext.uiWebUrl is None


def test_workers_run_this_python(spark: SparkSession) -> None:
    executable = f.udf(lambda _: __import__("sys").executable, "string")
    assert [row[0] for row in spark.range(1).select(executable("id")).collect()] == [sys.executable]


def test_second_call_returns_the_running_one(spark: SparkSession) -> None:
    assert session() is spark
    assert session(master=spark.sparkContext.master) is spark
    assert session(options={"spark.sql.session.timeZone": "UTC"}) is spark


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"master": "local[7]"}, "spark.master = local"),
        ({"options": {"spark.sql.shuffle.partitions": "77"}}, "spark.sql.shuffle.partitions = "),
        ({"options": {"spark.executor.memory": "3g"}}, "spark.executor.memory = None, not 3g"),
    ],
)
def test_another_session_is_refused(
    spark: SparkSession, asked: dict[str, object], named: str
) -> None:
    with pytest.raises(SessionError, match=named):
        session(**asked)  # type: ignore[arg-type]


def test_wrong_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "4.1.0")
    with pytest.raises(SetupError, match=r"pyspark is 4\.1\.0 .* pip install '\.\[spark\]'"):
        session()


@pytest.mark.parametrize(
    ("master", "cores"), [("local", 1), ("local[3]", 3), ("local[2,4]", 2), ("spark://x:7077", 1)]
)
def test_cores(master: str, cores: int) -> None:
    assert local_cores(master) == cores


def test_delta_reads_its_log_in_as_many_tasks_as_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "ensure_jars", lambda jar_set: [f"/{jar_set.name}.jar"])
    key = "spark.databricks.delta.snapshotPartitions"
    assert session_module._settings("local[3]", {}, lake=True, quiet=False)[key] == "3"
    assert session_module._settings("local[3]", {key: "9"}, lake=True, quiet=False)[key] == "9"
    assert key not in session_module._settings("local[3]", {}, lake=False, quiet=False)


def test_users_options_win_and_lists_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "ensure_jars", lambda jar_set: [f"/{jar_set.name}.jar"])
    mine = {"spark.jars": "/mine.jar", "spark.sql.session.timeZone": "Asia/Tokyo"}
    settings = session_module._settings("spark://host:7077", mine, lake=True, quiet=False)
    assert settings["spark.jars"] == "/kafka-spark-4.2.0.jar,/delta-spark-4.2.0.jar,/mine.jar"
    assert settings["spark.sql.session.timeZone"] == "Asia/Tokyo"
    assert LAKE_SETTINGS.items() <= settings.items()
    assert "spark.driver.extraClassPath" not in settings


@pytest.mark.timeout(600)
def test_a_program_of_its_own(tmp_path: Path) -> None:
    # In the cache first, so that silence below also means that nothing was fetched.
    for jar_set in (KAFKA, DELTA):
        ensure_jars(jar_set)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=570,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "3 rows\n"), done.stderr
    assert done.stderr == ""
