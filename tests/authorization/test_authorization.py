"""Every API, asked by users with one grant each, answers as Apache Kafka does.

The short form compares the newest versions with answers that are kept. `make authorization` asks
both brokers, at every version, and writes down anew what Apache Kafka says (AUTHORIZATION=long).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.handlers.authorization.guard import GUARDS, UNGUARDED
from penstock.handlers.table import BROKER_MODULES, CONTROLLER_MODULES
from tests.authorization import record, report
from tests.authorization.cases import all_cases
from tests.authorization.comparison import ask_all
from tests.authorization.grants import USERS
from tests.authorization.target import apache_kafka, penstock
from tools.apache_kafka import VERSION as KAFKA_VERSION

long_form = pytest.mark.skipif(
    os.environ.get("AUTHORIZATION") != "long", reason="make authorization runs it"
)
NOT_ASKED = frozenset({17, 36, 39, 40, 80})
"""Logging in, what is done with a token that one has, and AddRaftVoter, which is refused where
RemoveRaftVoter is."""


def test_answers_are_those_of_apache_kafka(tmp_path: Path) -> None:
    with penstock(tmp_path) as broker:
        ours = ask_all(broker.secured, newest_only=True)
    assert not list(record.differences(record.read(), ours))


@long_form
@pytest.mark.timeout(900)
def test_answers_at_every_version(tmp_path: Path) -> None:
    with apache_kafka(tmp_path) as address:
        theirs = ask_all(address, newest_only=False)
    with penstock(tmp_path) as broker:
        ours = ask_all(broker.secured, newest_only=False)
    assert not list(record.differences(theirs, ours))
    report.write(theirs, ours, KAFKA_VERSION)


@long_form
@pytest.mark.timeout(900)
def test_write_down_what_apache_kafka_says(tmp_path: Path) -> None:
    with apache_kafka(tmp_path) as address:
        record.write(ask_all(address, newest_only=True))


def test_the_report_is_of_these_questions() -> None:
    """docs/conformance.md is made of it. After a new question: `make authorization`."""
    kept = report.read()
    assert [one["question"] for one in kept["questions"]] == [one.name for one in all_cases()]
    assert kept["users"] == len(USERS)
    assert kept["differences"] == [each._asdict() for each in record.DIFFERENCES]
    assert all(one["same"] + one["argued"] == one["answers"] for one in kept["questions"])


def test_every_api_is_asked() -> None:
    asked = {case.api_key for case in all_cases()}
    assert BROKER_MODULES.keys() - asked == NOT_ASKED


def test_every_api_has_a_guard_or_is_said_to_need_none() -> None:
    from penstock.handlers.authorization.guard import guarded

    def handle(*_: object) -> None:
        raise AssertionError

    for modules in (BROKER_MODULES, CONTROLLER_MODULES):
        for key, module in modules.items():
            is_open = key in UNGUARDED and module != "quorum_request"
            assert (guarded(key, module, handle) is handle) == is_open, key
    assert not GUARDS.keys() & UNGUARDED
