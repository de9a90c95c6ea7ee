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
print("loaded:", *(name for name in sys.modules if name.startswith("penstock.cli.")))
"""


@pytest.mark.parametrize("command", ["lag", "topics", "acls"])
def test_a_command_imports_itself_alone(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, command, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    # The program asks for completion by a variable of that module.
    named = {SOURCES[command].module, SOURCES["completion"].module}
    assert {each.module for each in SOURCES.values()} & loaded == named
