"""What the shell offers on Tab, asked as the shell's script asks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.conftest import PENSTOCK, Command

ASK = "_PENSTOCK_COMPLETE"


def bash(command: Command, *words: str) -> list[str]:
    asked = {ASK: "complete_bash", "COMP_WORDS": "\n".join(("penstock", *words))}
    answer = command.try_run(environment=asked | {"COMP_CWORD": str(len(words))})
    assert answer.err == ""
    return answer.lines


def test_commands_and_options(nowhere: Command) -> None:
    assert bash(nowhere, "top") == ["topics"]
    assert bash(nowhere, "topics", "de") == ["describe", "delete"]
    assert bash(nowhere, "consume", "--fo") == ["--follow", "--format"]
    assert bash(nowhere, "topics", "list", "--prof") == ["--profile"]
    assert bash(nowhere, "start", "--pid") == ["--pid-file"]
    assert bash(nowhere, "produce", "--compression", "s") == ["snappy"]


def test_topics(command: Command, topic: str) -> None:
    command.run("topics", "create", topic, f"{topic}-more")
    for words in (("consume",), ("produce",), ("topics", "describe", "x"), ("log-dirs", "-t")):
        assert bash(command, *words, topic) == [topic, f"{topic}-more"]


def test_no_cluster_no_word(nowhere: Command) -> None:
    assert "".join(bash(nowhere, "consume", "o")) == ""


@pytest.mark.parametrize(
    ("shell", "asked", "offered"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "penstock dl"}, '"dlq"'),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "penstock dl", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
            "dlq\tDead letters",
        ),
    ],
)
def test_other_shells(nowhere: Command, shell: str, asked: dict[str, str], offered: str) -> None:
    answer = nowhere.run(environment=asked | {ASK: f"complete_{shell}"})
    assert offered in answer.out.decode()


def test_the_scripts(nowhere: Command) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert f"{ASK}=complete_{shell}" in nowhere.run("completion", shell).out.decode()
    assert "tcsh" in nowhere.fail("completion", "tcsh", code=2)


def test_in_a_real_bash(nowhere: Command) -> None:
    script = (
        f"PATH={Path(PENSTOCK).parent}:$PATH; source <(penstock completion bash); "
        "COMP_WORDS=(penstock topics cre); COMP_CWORD=2; "
        '_penstock_completion penstock; echo "${COMPREPLY[@]}"'
    )
    answer = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        env=nowhere.environment(),
        check=False,
    )
    assert (answer.stdout, answer.stderr) == ("create\n", "")
