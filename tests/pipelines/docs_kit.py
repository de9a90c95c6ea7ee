"""What docs/pipelines.md shows: its pieces of Python, and its commands with what they print."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """Each command, and what it is said to print; empty where nothing is said."""
    found: list[tuple[str, str]] = []
    for line in "".join(blocks("console")).splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def python_block(mark: str) -> str:
    (found,) = [each for each in blocks("python") if mark in each]
    return found
