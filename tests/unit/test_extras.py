"""What `pip install penstock` and its extras bring is enough for the commands that need it.

The environment of the tests has more than any user's. So a command runs here in a process that can
import only what its extra brings, and what that requires in turn.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_RUN = """
import sys

class Limited:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        missing = name.partition(".")[0] in refused
        return None if missing else self.finder.find_spec(name, path, target)

refused = set(sys.argv.pop(1).split())
sys.meta_path[:] = map(Limited, sys.meta_path)
from penstock.cli.main import main
sys.exit(main())
"""


def declared(extra: str | None) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    more = project["optional-dependencies"][extra] if extra else []
    return [*project["dependencies"], *more]


def brought(requirements: list[str]) -> set[str]:
    """Distributions by their normal names, with all that they require without being asked."""
    found: set[str] = set()
    left = list(requirements)
    while left:
        said = left.pop()
        match = _NAME.match(said)
        assert match is not None
        name = normal(match.group())
        if name not in found:
            found.add(name)
            left += required_by(name)
    return found


def required_by(name: str) -> Iterator[str]:
    try:
        said = requires(name) or []
    except PackageNotFoundError:
        return
    yield from (each for each in said if "extra ==" not in each)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def run(extra: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    there = brought(declared(extra)) | {"penstock", "psycopg-binary"}
    refused = [
        module
        for module, owners in packages_distributions().items()
        if not there & {normal(each) for each in owners}
    ]
    return subprocess.run(
        [sys.executable, "-c", _RUN, " ".join(refused), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_times_in_sql_need_the_extra_alone() -> None:
    answer = run("sql", "sql", "SELECT TIMESTAMPTZ '2026-01-02 03:04:05Z' AS at")
    assert (answer.stdout, answer.stderr) == ("AT\n2026-01-02T03:04:05.000Z\n", "")


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("sql", ["sql", "SELECT 1"]),
        ("sql", ["catalog", "sync"]),
        ("security", ["security", "init"]),
        ("postgresql", ["outbox", "status", "-d", "postgresql://127.0.0.1:1/x"]),
        ("spark", ["fraud", "check"]),
    ],
)
def test_without_the_extra_one_line_says_what_to_install(extra: str, arguments: list[str]) -> None:
    answer = run(None, *arguments)
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1
    assert f"the extra `{extra}`" in answer.stderr
    assert "pip install" in answer.stderr
