"""No command waits for the modules of the others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.cli.command_table import SOURCES
from tests.unit.cli.conftest import Command

PROGRAM = """
import sys
from penstock.cli.main import main
main(sys.argv[1:])
print("loaded:", *sys.modules)
"""


def loaded_by(*words: str, environment: Mapping[str, str] | None = None) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("command", ["lag", "topics", "acls"])
def test_a_command_imports_itself_alone(command: str) -> None:
    loaded = loaded_by(command, "--help")
    # The program asks for completion by a variable of that module.
    named = {SOURCES[command].module, SOURCES["completion"].module}
    assert {each.module for each in SOURCES.values()} & loaded == named


def test_no_command_waits_for_a_library_of_models() -> None:
    assert "pydantic" not in loaded_by("topics", "--help")


def test_sql_without_a_topic_does_not_wait_for_arrow() -> None:
    loaded = loaded_by("sql", "SELECT 1")
    assert "_duckdb" in loaded
    assert not loaded & {"pyarrow", "pandas"}
    # Nor for what the package has around the engine, or for the protocol.
    assert not loaded & {"duckdb", "importlib.metadata", "penstock.protocol"}


@pytest.mark.parametrize("command", ["penstock"], indirect=True)
def test_tables_in_sql_wait_for_what_they_ask_alone(command: Command, topic: str) -> None:
    command.run("topics", "create", topic)
    loaded = loaded_by("sql", "SELECT * FROM Topic", environment=command.environment())
    assert "_duckdb" in loaded
    assert not loaded & {"duckdb", "pyarrow", "pandas", "confluent_kafka", "asyncio"}
    assert not loaded & {"penstock.group", "penstock.metadata", "penstock.cli.group.reader"}


@pytest.mark.parametrize("command", ["penstock"], indirect=True)
def test_a_catalog_that_is_up_to_date_waits_for_no_library(
    command: Command, topic: str, tmp_path: Path
) -> None:
    sync = ("catalog", "sync", "--once", "-d", f"sqlite:///{tmp_path}/catalog.db")
    command.run("topics", "create", topic)
    command.run("produce", topic, stdin=b"1\n")
    consumer = Consumer({"bootstrap.servers": command.servers, "group.id": topic})
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    consumer.close()
    first = loaded_by(*sync, environment=command.environment())
    assert "confluent_kafka" in first
    second = loaded_by(*sync, environment=command.environment())
    assert "sqlite3" in second
    for loaded in (first, second):
        assert not loaded & {"sqlalchemy", "psycopg", "penstock.group", "penstock.metadata"}
    assert not second & {"confluent_kafka", "asyncio"}
