"""Every help page: nothing cut, nothing said twice, no names of Python types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer

from penstock.cli.app import app
from penstock.cli.main import main
from tests.unit.cli.conftest import Command


def paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, each in getattr(command, "commands", {}).items():
        yield from paths(each, (*path, name))


PATHS = sorted(paths(typer.main.get_command(app)))


Page = Callable[[tuple[str, ...], int], str]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Page:
    def read(path: tuple[str, ...], columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main([*path, "--help"]) == 0
        return capsys.readouterr().out

    return read


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_pages(page: Page, path: tuple[str, ...], columns: int) -> None:
    text = page(path, columns)
    lines = text.splitlines()
    assert [line for line in lines if len(line) > columns] == []
    assert re.findall(r"<[^>]*>", text) == []
    assert [line for line in lines if line.endswith(("...", "…")) and "Usage" not in line] == []
    for option in re.split(r"\n(?=  -)", text):
        assert option.count("[default") <= 1
    assert "x>=" not in text


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_every_option_and_command_is_explained(page: Page, path: tuple[str, ...]) -> None:
    for line in page(path, 100).splitlines():
        if re.match(r"  (-|[a-z-]+ {2})", line):
            assert re.match(r"  \S.*? {2,}\S", line), line


def test_a_page_as_it_looks(page: Page) -> None:
    assert page(("topics", "create"), 80).splitlines() == [
        "Usage: penstock topics create [OPTIONS] TOPIC...",
        "",
        "  Create topics.",
        "",
        "Arguments:",
        "  TOPIC...  Names of new topics.",
        "",
        "Options:",
        "  -p, --partitions N          How many partitions. [default: the broker's]",
        "  -r, --replication-factor N  How many replicas. [default: the broker's]",
        "  -s, --set KEY=VALUE         Set a topic setting. May be repeated.",
        "  --if-not-exists             A topic that exists is no error.",
        "  --validate-only             Check the request; create nothing.",
        "  --json                      Print JSON.",
        "  -h, --help                  Show this message and exit.",
        "",
        "Cluster:",
        "  -b, --bootstrap-server HOST:PORT  Brokers to ask. [default: 127.0.0.1:9092]",
        "  --profile NAME                    A named cluster. [default: the one in use]",
        "  --timeout SECONDS                 How long to wait. [default: 10]",
        "  -X KEY=VALUE                      A librdkafka setting. May be repeated.",
    ]


def test_an_unknown_command_gets_a_hint_only_where_one_is_near(nowhere: Command) -> None:
    said = nowhere.fail("stop", code=2)
    assert "SIGTERM" in said
    assert "--pid-file" in said
    assert "did you mean" not in said
    assert nowhere.fail("topic", code=2).endswith("did you mean topics?")
    assert nowhere.fail("topics", "remove", code=2).endswith("see `penstock topics --help`")
