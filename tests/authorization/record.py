"""Answers of Apache Kafka, kept beside the tests: users who are answered alike stand together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.authorization.comparison import Table
from tests.authorization.outcome import Outcome

RECORD: Final = Path(__file__).with_name("apache_kafka.json")


class ArguedDifference(NamedTuple):
    what: str
    kafka: str
    here: str
    why: str
    question: str | None = None
    """Whose answers it is in; there, the one word is the other."""


DIFFERENCES: Final = (
    ArguedDifference(
        "a follower's fetch, allowed, of a broker that is no replica",
        "NOT_LEADER_OR_FOLLOWER",
        "UNKNOWN_LEADER_EPOCH",
        "both refuse it; not a matter of access",
        "fetch as a follower",
    ),
    ArguedDifference(
        "the text of an error when the cluster is refused",
        "names the request with all that is in it",
        "Cluster authorization failed.",
        "it would repeat what the client sent",
    ),
    ArguedDifference(
        "hosts of entries",
        "addresses",
        "addresses and networks",
        "asked for by platform teams",
    ),
)
"""All there are, and why they may be. Those without a question are not in what is compared."""

Difference = tuple[str, str, Outcome, Outcome]
"""Question, user, Kafka's answer, ours."""


def write(table: Table) -> None:
    lines = [f"{json.dumps(question)}: {_grouped(answers)}" for question, answers in table.items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _grouped(answers: dict[str, Outcome]) -> str:
    users: dict[str, list[str]] = {}
    for user, outcome in answers.items():
        users.setdefault(json.dumps(outcome, sort_keys=True), []).append(user)
    groups = [f" [{json.dumps(who)}, {answer}]" for answer, who in users.items()]
    return "[\n" + ",\n".join(groups) + "]"


def read() -> Table:
    recorded = json.loads(RECORD.read_text())
    return {
        question: {user: outcome for users, outcome in groups for user in users}
        for question, groups in recorded.items()
    }


def differences(theirs: Table, ours: Table) -> Iterator[Difference]:
    assert theirs.keys() == ours.keys()
    for question, answers in theirs.items():
        assert answers.keys() == ours[question].keys(), question
        for user, expected in answers.items():
            found = ours[question][user]
            if found != expected and not _is_argued(question, expected, found):
                yield question, user, expected, found


def _is_argued(question: str, expected: Outcome, found: Outcome) -> bool:
    for each in DIFFERENCES:
        if question.rpartition(" v")[0] == each.question:
            told = json.dumps(expected).replace(f'"{each.kafka}"', f'"{each.here}"')
            expected = json.loads(told)
    return bool(found == expected)
