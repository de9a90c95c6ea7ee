"""docs/cli.md against the commands that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from penstock.cli.app import app
from penstock.cli.option import START_OPTIONS

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
ROOT = typer.main.get_command(app)


def documented() -> list[str]:
    """Each `penstock …` of the page's shell blocks, up to its comment or pipe."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [
        each.strip()
        for line in lines
        for each in re.findall(r"(?<![\w./-])penstock (?:[^|#'>)]|'[^']*')*", line)
    ]


def find(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, and what comes after its name."""
    command: Any = ROOT
    rest = list(words)
    while rest and hasattr(command, "commands"):
        if rest[0].startswith("-"):
            rest = rest[2:]
            continue
        assert rest[0] in command.commands, words
        command = command.commands[rest.pop(0)]
    return command, rest


@pytest.mark.parametrize("line", documented())
def test_every_documented_command_exists(line: str) -> None:
    words = shlex.split(line)[1:]
    command, rest = find(words)
    if words[0] == "start":
        known = {option.flag for option in START_OPTIONS}
    else:
        context = command.make_context("x", [], parent=None, resilient_parsing=True)
        with context:
            known = {name for each in command.get_params(context) for name in each.opts}
    known |= {name for each in ROOT.params for name in each.opts}
    flags = [each.partition("=")[0] for each in rest if re.match(r"-[a-zA-Z-]", each)]
    places = re.compile(r"-\d")
    assert [each for each in flags if each not in known and not places.match(each)] == []


def names(command: Any, path: str = "penstock") -> list[str]:
    children = getattr(command, "commands", {})
    if not children:
        return [path]
    return [name for key, each in children.items() for name in names(each, f"{path} {key}")]


@pytest.mark.parametrize("name", names(ROOT))
def test_every_command_is_documented(name: str) -> None:
    assert any(f"{each} ".startswith(f"{name} ") for each in documented())


def advised() -> list[str]:
    """Each `penstock …` that a message, a docstring or another page names, where it stands."""
    folder = Path(__file__).parents[3]
    sources = [*folder.glob("src/**/*.py"), *folder.glob("docs/**/*.md"), folder / "README.md"]
    found = []
    for path in sources:
        # Texts that go on in the next line of the source are one.
        text = re.sub(r"[\"']\s*\n\s*f?[\"']", "", path.read_text())
        for words in re.findall(r"`penstock ((?:[a-z][a-z-]* ?)+)", text):
            found.append(f"{path.relative_to(folder)}: {words}")
    return found


def test_every_advised_command_exists() -> None:
    absent = ("stop", "drill")  # Named to say that they are not there.
    for said in advised():
        words = said.partition(": ")[2].split()
        command: Any = ROOT
        while words and hasattr(command, "commands") and words[0] not in (*absent, "start"):
            assert words[0] in command.commands, said
            command = command.commands[words.pop(0)]
