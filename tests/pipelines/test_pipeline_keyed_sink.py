"""Keyed pipelines whose outputs go to tables: each row once, whatever is killed meanwhile."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.pipelines import sinks
from penstock.pipelines.error import DeclarationError, RunError
from penstock.pipelines.keyed import Event, KeyedPipeline, into, keyed
from penstock.pipelines.sources.topic import topic
from penstock.pipelines.transforms import decode
from penstock.testing.broker import Broker
from tests.pipelines.totals_kit import KEYS, PATIENCE_S, workers_of, write_and_kill

pytestmark = [pytest.mark.java, pytest.mark.timeout(400)]

NOW = {"availableNow": True}
ROUNDS = 24


def adder(folder: Path, **more: Any) -> KeyedPipeline:
    """Every total into a folder of files, the last one of each key into a database."""
    totals = decode.json("name string, total long")
    every = into(sinks.parquet(str(folder / "every")), decode=totals)
    last = into(
        sinks.database("last", key="name", url=f"sqlite:///{folder}/last.db"),
        decode=totals,
        rows=lambda frame: frame.selectExpr("name", "total", "CAST(_key AS string) AS key"),
    )

    @keyed(
        name="adder",
        source=topic("numbers"),
        decode=int,
        outputs={"totals": "totals", "every": every, "last": last},
        **more,
    )
    def add(state: Any, event: Event, tables: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        total = (state or 0) + event.value
        row = json.dumps({"name": event.key.decode(), "total": total})
        told = ("totals", event.key, f"{total} {os.getpid()}")
        return total, [told, ("every", event.key, row), ("last", event.key, row)]

    return add


def every(spark: Any, folder: Path) -> dict[bytes, list[int]]:
    """The totals of each name, in ascending order."""
    found: dict[bytes, list[int]] = {}
    where = folder / "every"
    if any(where.glob("batch=*")):
        for row in spark.read.parquet(str(where)).orderBy("total").collect():
            found.setdefault(row["name"].encode(), []).append(row["total"])
    return found


def last(folder: Path) -> dict[bytes, int]:
    with closing(sqlite3.connect(folder / "last.db")) as connection:
        rows = connection.execute("select name, total, key from last").fetchall()
    assert all(name == key for name, _, key in rows)
    return {name.encode(): total for name, total, _ in rows}


@pytest.mark.penstock_only("a killed Kafka 4.3.0 may forget a transaction's markers")
def test_every_row_is_in_its_table_once_whatever_is_killed(
    penstock: Broker, pipeline_start: Callable[..., Any], spark: Any, tmp_path: Path
) -> None:
    penstock.create_topic("numbers", partitions=2)
    running = pipeline_start(adder(tmp_path), retry_backoff_s=0.1)
    expected = write_and_kill(penstock, ROUNDS, workers_at=(8,), broker_at=16)
    deadline = time.monotonic() + PATIENCE_S
    while running.progress().extra.get("sinks", {}).get("rows", 0) < KEYS:
        assert time.monotonic() < deadline
        assert not running.wait(0.1)
    running.stop()
    assert len(workers_of(penstock)) > 1
    forget_last_batch(tmp_path)
    ended = pipeline_start(adder(tmp_path), trigger=NOW)
    assert ended.wait(PATIENCE_S)
    assert every(spark, tmp_path) == expected
    assert last(tmp_path) == dict.fromkeys(expected, ROUNDS)
    assert ended.progress().extra["sinks"]["lag"] == 0


def forget_last_batch(folder: Path) -> None:
    """As a driver leaves it that is killed after a batch was written, before Spark noted it."""
    for output in ("every", "last"):
        noted = folder / "pipelines" / "adder.sinks" / output / "commits"
        newest = max(int(each.name) for each in noted.glob("[0-9]*"))
        (noted / str(newest)).unlink()
        (noted / f".{newest}.crc").unlink(missing_ok=True)


def test_with_its_states_in_sparks_store_it_is_the_same(
    penstock: Broker, pipeline_start: Callable[..., Any], spark: Any, tmp_path: Path
) -> None:
    penstock.create_topic("numbers", partitions=2)
    penstock.produce("numbers", [("a", "1"), ("b", "1")])
    assert pipeline_start(adder(tmp_path, state_in="spark"), trigger=NOW).wait(PATIENCE_S)
    forget_last_batch(tmp_path)
    penstock.produce("numbers", [("a", "1"), ("b", "1")])
    assert pipeline_start(adder(tmp_path, state_in="spark"), trigger=NOW).wait(PATIENCE_S)
    assert every(spark, tmp_path) == {b"a": [1, 2], b"b": [1, 2]}
    assert last(tmp_path) == {b"a": 2, b"b": 2}


def test_a_sink_that_fails_ends_the_run_with_its_line(
    penstock: Broker, pipeline_start: Callable[..., Any], tmp_path: Path
) -> None:
    penstock.create_topic("numbers")
    with closing(sqlite3.connect(tmp_path / "last.db")) as connection:
        connection.execute("create table last (name text, total text, key text)")
    with pytest.raises(RunError, match="table last: its rows are told apart by nothing"):
        pipeline_start(adder(tmp_path), trigger=NOW).wait(PATIENCE_S)


def test_a_sink_without_a_decoder_is_refused() -> None:
    lost: Any = {"every": sinks.parquet()}
    with pytest.raises(DeclarationError, match=r"output every: say what rows .* keyed\.into"):
        keyed(source=topic("numbers"), outputs=lost)(lambda *_: (1, []))
