"""What a comparison with Apache Kafka came to, question by question: docs/conformance.md shows it.

It is written by `make authorization`, which asks both brokers, and kept beside the tests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from penstock.protocol.frame import API_BY_KEY
from tests.authorization import record
from tests.authorization.cases import Case, all_cases
from tests.authorization.comparison import Table
from tests.authorization.grants import USERS

REPORT: Final = Path(__file__).with_name("compared.json")


def write(theirs: Table, ours: Table, kafka_version: str) -> None:
    unargued = {(key, user) for key, user, _, _ in record.differences(theirs, ours)}
    report = {
        "kafka": kafka_version,
        "users": len(USERS),
        "questions": [_row(case, theirs, ours, unargued) for case in all_cases()],
        "differences": [each._asdict() for each in record.DIFFERENCES],
    }
    REPORT.write_text(_as_text(report))


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(REPORT.read_text())
    return found


def _row(case: Case, theirs: Table, ours: Table, unargued: set[tuple[str, str]]) -> dict[str, Any]:
    versions = [one for one in case.versions if f"{case.name} v{one}" in theirs]
    asked = [(f"{case.name} v{one}", user) for one in versions for user in USERS]
    same = [(key, user) for key, user in asked if theirs[key][user] == ours[key][user]]
    return {
        "api": API_BY_KEY[case.api_key].name,
        "question": case.name,
        "versions": [versions[0], versions[-1]],
        "answers": len(asked),
        "same": len(same),
        "argued": len(asked) - len(same) - len(unargued & set(asked)),
    }


def _as_text(report: dict[str, Any]) -> str:
    """A line for each question, so that a change is easy to read."""
    lines = [f" {json.dumps(key)}: {_value(value)}" for key, value in report.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _value(value: Any) -> str:
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n" + ",\n".join(f"  {json.dumps(each)}" for each in value) + "\n ]"
