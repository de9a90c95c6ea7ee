"""What waits to be written: sums, lines, and what does not fit."""

from __future__ import annotations

import json
from typing import Any

from penstock.audit import trail as trail_module
from penstock.audit.backlog import Backlog
from penstock.audit.entry import Access, Change
from penstock.audit.line import Who
from penstock.audit.trail import Trail
from penstock.model.error import ErrorCode

ALICE = Who("User:alice", "app", "10.0.0.1", "SSL")
BOB = Who("User:bob", None, "10.0.0.2", "SSL")


def lines(trail: Trail) -> list[dict[str, Any]]:
    return [json.loads(each) for each in trail.take()]


def test_accesses_are_summed_until_the_interval_ends() -> None:
    trail = Trail("c", 1, 1000)
    for _ in range(3):
        trail.note(ALICE, "Produce", [Access("WRITE", "TOPIC", "t", 0, 2, 100)], 1500)
    trail.note(
        BOB, "Fetch", [Access("READ", "TOPIC", "t", ErrorCode.TOPIC_AUTHORIZATION_FAILED)], 1
    )
    assert lines(trail) == []
    trail.sum_up(2000)
    first, second = lines(trail)
    assert first == {
        "version": 1,
        "kind": "access",
        "time": "1970-01-01T00:00:02.000Z",
        "cluster": "c",
        "node": 1,
        "principal": "User:alice",
        "client_id": "app",
        "host": "10.0.0.1",
        "listener": "SSL",
        "since": "1970-01-01T00:00:01.000Z",
        "operation": "WRITE",
        "resource_type": "TOPIC",
        "resource": "t",
        "outcome": "allowed",
        "error": None,
        "requests": 3,
        "records": 6,
        "bytes": 300,
    }
    assert (second["outcome"], second["error"]) == ("refused", "TOPIC_AUTHORIZATION_FAILED")
    trail.sum_up(3000)
    assert lines(trail) == []


def test_changes_and_logins_are_lines_at_once() -> None:
    trail = Trail("c", 1, 0)
    changed = Change("ALTER", "TOPIC", "t", 0, {"partitions": 1}, {"partitions": 2})
    trail.note(ALICE, "CreatePartitions", [changed], 1)
    trail.note_login(BOB, "PLAIN", ErrorCode.SASL_AUTHENTICATION_FAILED, 2)
    change, login = lines(trail)
    assert (change["api"], change["before"], change["after"]) == (
        "CreatePartitions",
        {"partitions": 1},
        {"partitions": 2},
    )
    assert (login["kind"], login["mechanism"], login["outcome"]) == ("login", "PLAIN", "refused")


def test_somebody_who_does_a_thousand_things_does_not_fill_the_memory(monkeypatch: Any) -> None:
    monkeypatch.setattr(trail_module, "SUMS_MAX", 10)
    trail = Trail("c", 1, 0)
    for number in range(25):
        trail.note(ALICE, "Produce", [Access("WRITE", "TOPIC", f"t{number}")], number)
    trail.sum_up(100)
    assert [each["resource"] for each in lines(trail)] == [f"t{number}" for number in range(25)]


def test_a_backlog_keeps_what_fits_and_counts_the_rest() -> None:
    backlog = Backlog(bytes_max=10)
    backlog.put_all([b"aaaa", b"bbbb", b"cccc", b"dd"])
    assert backlog.lost == 1
    assert backlog.peek(4) == [b"aaaa"]
    assert backlog.peek(1) == [b"aaaa"], "one at least"
    assert backlog.peek(100) == [b"aaaa", b"bbbb", b"dd"]
    backlog.drop(1)
    backlog.put(b"eeee")
    assert backlog.take() == [b"bbbb", b"dd", b"eeee"]
    assert not backlog and backlog.lost == 1
