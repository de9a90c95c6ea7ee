"""docs/benchmarks.md, which has parts by different commands: each replaces its own alone."""

from __future__ import annotations

from pathlib import Path

BROKER = "broker"
PIPELINES = "pipelines"

_BEGIN = "<!-- pipelines: written by make bench-pipelines -->\n"


def write_part(path: Path, part: str, text: str) -> None:
    path.write_text(with_part(path.read_text() if path.exists() else "", part, text))


def with_part(page: str, part: str, text: str) -> str:
    """The page with one part new. The broker's comes first, the pipelines' after the mark."""
    broker, mark, pipelines = page.partition(_BEGIN)
    if part == BROKER:
        broker = text
    else:
        mark, pipelines = _BEGIN, text
    return broker.rstrip("\n") + "\n" + (f"\n{mark}{pipelines}" if mark else "")
