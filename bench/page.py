"""docs/benchmarks.md, which has parts by different commands: each replaces its own alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

BROKER = "broker"
SECURITY = "security"
PIPELINES = "pipelines"

_MARKS: Final = {
    SECURITY: "<!-- security: written by make bench-security -->\n",
    PIPELINES: "<!-- pipelines: written by make bench-pipelines -->\n",
}
"""In the order of the page; the broker's part comes before them all."""


def write_part(path: Path, part: str, text: str) -> None:
    path.write_text(with_part(path.read_text() if path.exists() else "", part, text))


def with_part(page: str, part: str, text: str) -> str:
    """The page with one part new."""
    parts = {}
    for name, mark in reversed(_MARKS.items()):
        page, found, parts[name] = page.partition(mark)
        if not found:
            del parts[name]
    parts[BROKER] = page
    parts[part] = text
    said = [parts[BROKER].rstrip("\n") + "\n"]
    said += [
        mark + parts[name].rstrip("\n") + "\n" for name, mark in _MARKS.items() if name in parts
    ]
    return "\n".join(said)
