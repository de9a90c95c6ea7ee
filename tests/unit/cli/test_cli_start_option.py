"""`penstock start`'s light parser."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.cli.failure import UsageFailure
from penstock.cli.option import START_OPTIONS, parse_start, start_help


def test_both_ways_to_write_a_value() -> None:
    parsed = parse_start(["--listen", "h:1", "--data-dir=d=e", "--set", "a=b", "--set=c=d"])
    assert parsed.values == {"--listen": "h:1", "--data-dir": "d=e"}
    assert parsed.settings == ["a=b", "c=d"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--listn", "x"], "no option --listn; did you mean --listen"),
        (["stray"], "no option stray; see `penstock start --help`"),
        (["--listen"], "--listen needs a value: --listen HOST:PORT"),
        (["--log-format", "xml"], "--log-format is one of text, json, not 'xml'"),
    ],
)
def test_mistakes_are_named(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageFailure, match=message):
        parse_start(arguments)


def test_a_number_is_a_number() -> None:
    assert parse_start(["--ready-fd", "3"]).integer("--ready-fd") == 3
    assert parse_start([]).integer("--ready-fd") is None
    with pytest.raises(UsageFailure, match="takes a number"):
        parse_start(["--ready-fd", "x"]).integer("--ready-fd")


def test_help_names_every_option() -> None:
    assert all(option.flag in start_help() for option in START_OPTIONS)


def test_start_loads_no_command_line_library() -> None:
    """The time until a broker answers begins with these imports."""
    code = (
        "import sys; from penstock.cli.main import main; main(['start', '--help']);"
        "print(sorted({'typer', 'rich', 'confluent_kafka', 'argparse', 'asyncio'} & "
        "set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.splitlines()[-1] == "[]"
