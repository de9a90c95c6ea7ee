"""Writes the section on hostile input of docs/reliability.md from the reports of the suite.

pytest tests/hostile --hostile-report .cache/hostile/penstock.json
python -m tools.hostile_table .cache/hostile/penstock.json .cache/hostile/kafka.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.page import write_section

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
HEADING = "## Hostile input"
TARGETS = ("penstock", "kafka")

Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="hostile_table", description=__doc__.partition("\n")[0])
    parser.add_argument("reports", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    write_section(PAGE, "# Reliability", HEADING, render(read_reports(options.reports)))
    print(f"wrote {PAGE.name}")


def read_reports(paths: Sequence[Path]) -> dict[str, list[Row]]:
    """By target; of a case that is in several, the last counts."""
    found: dict[str, dict[str, Row]] = {}
    for report in (json.loads(path.read_text()) for path in paths):
        rows = found.setdefault(report["target"], {})
        rows.update((row["case"], row) for row in report["rows"])
    return {target: list(rows.values()) for target, rows in found.items()}


def render(reports: dict[str, list[Row]]) -> str:
    """Its section of docs/reliability.md."""
    lines = [HEADING, "", *_INTRODUCTION.splitlines(), "", *_HEAD]
    by_case = {name: {row["case"]: row for row in reports.get(name, [])} for name in TARGETS}
    for row in sorted(reports.get("penstock", []), key=lambda each: str(each["theme"])):
        other = by_case["kafka"].get(row["case"])
        cells = [row["theme"], row["case"], *_cells(row), *_cells(other)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _cells(row: Row | None) -> list[str]:
    if row is None:
        return ["–", "–"]
    wait = f"{row['wait_s'] * 1000:.0f} ms"
    if row["failure"]:
        return [row["failure"], "–"]
    if row["outcome"] != "passed":
        wait = f"{wait}, **failed**"
    return [wait, f"{row['memory_mb']:.0f} MB"]


_HEAD = (
    "| theme | what is done | Penstock: longest wait | memory | Kafka: longest wait | memory |",
    "| --- | --- | ---: | ---: | ---: | ---: |",
)

_INTRODUCTION = """`make hostile` does to a node what a broken or hostile client, a full disk or a
damaged file does. Meanwhile a well-behaved client, in a process of its own, asks for metadata,
writes small and large records, reads them back and connects anew. Its longest wait for any of
these and the growth of the node's memory are the figures. A test fails when the client is refused,
when the memory exceeds the limit of the test, or when the client waits for more than half a second
of the broker's processor time: on a busy machine everybody waits. A short form runs in `make test`.

The same is done to Apache Kafka with its default heap of 1 GiB, for comparison, with two minutes
for each case. In place of a figure stands what ended the case: `TimeoutError` and the like, where
the well-behaved client or the test got no answer any more, "answered otherwise", where Kafka takes
what the test wants refused. A dash means that a case was not run there, because it makes no sense:
damage to files that only one of the two has, for example."""


if __name__ == "__main__":
    main()
