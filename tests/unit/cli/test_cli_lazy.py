"""No command waits for the modules of the others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.cli.command_table import SOURCES

PROGRAM = """
import sys
from penstock.cli.main import main
main(sys.argv[1:])
print("loaded:", *sys.modules)
"""


def loaded_by(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("command", ["lag", "topics", "acls"])
def test_a_command_imports_itself_alone(command: str) -> None:
    loaded = loaded_by(command, "--help")
    # The program asks for completion by a variable of that module.
    named = {SOURCES[command].module, SOURCES["completion"].module}
    assert {each.module for each in SOURCES.values()} & loaded == named


def test_sql_without_a_topic_does_not_wait_for_arrow() -> None:
    loaded = loaded_by("sql", "SELECT 1")
    assert "duckdb" in loaded
    assert not loaded & {"pyarrow", "pandas"}
