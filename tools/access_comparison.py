"""The part of docs/conformance.md about access control: each API beside Apache Kafka.

It is made of what `make authorization` found when it asked both, which is kept with its tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

KEPT: Final = Path("tests/authorization/compared.json")
HEADING: Final = "## Access control, beside Apache Kafka"

_TEXT = """{heading}

Both brokers have the same entries and are asked the same: every API that brokers serve, at every
version, as {users} users: nobody, one for each single grant, and some with several. Compared are
error codes, what is left out of answers, and authorized operations. {questions} questions with
{answers:,} answers; {same:,} are Apache Kafka's {kafka}, {argued} differ for the reasons below, and
{different} for none. Written by `make authorization`.

{table}

What differs, and why:

{differences}
"""


def section(report: dict[str, Any]) -> str:
    questions = report["questions"]
    total = {key: sum(one[key] for one in questions) for key in ("answers", "same", "argued")}
    asked = sum(one["answers"] // report["users"] for one in questions)
    return _TEXT.format(
        heading=HEADING,
        users=report["users"],
        kafka=report["kafka"],
        questions=asked,
        different=total["answers"] - total["same"] - total["argued"],
        table=_table(_HEAD, (_row(one) for one in questions)),
        differences=_table(
            ("What", "Apache Kafka", "Penstock", "Why"),
            ((one["what"], one["kafka"], one["here"], one["why"]) for one in report["differences"]),
        ),
        **total,
    )


_HEAD = ("API", "Asked for", "Versions", "Answers", "The same", "Argued for")


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    first, last = one["versions"]
    versions = str(first) if first == last else f"{first}–{last}"
    argued = str(one["argued"]) if one["argued"] else ""
    return one["api"], one["question"], versions, str(one["answers"]), str(one["same"]), argued


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def with_section(page: str, report: dict[str, Any]) -> str:
    """The page with this part at its end, instead of the one that it had."""
    return page.partition(HEADING)[0].rstrip("\n") + "\n\n" + section(report)


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text())
    return found
