"""Calls to the outside: asked for in a transaction, made by a worker, once for an outside that
knows their keys."""

from __future__ import annotations

import sys
import time
from contextlib import closing

import pytest

from penstock.client import calls
from penstock.client.calls.worker import make_one
from penstock.client.database import OwnDatabase, Statements, open_database
from tests.outbox.outbox_kit import begun, rows
from tests.patience import wait_until


class Bank:
    """Charges a key once, and answers every time."""

    def __init__(self, refusals: int = 0) -> None:
        self.charged: dict[str, int] = {}
        self.asked = 0
        self._refusals = refusals

    def charge(self, call: calls.Call) -> dict[str, int]:
        self.asked += 1
        if self.asked <= self._refusals:
            raise ConnectionError("the bank is away")
        return {"amount": self.charged.setdefault(call.key, call.request["amount"])}


def prepare(url: str) -> None:
    with begun(url) as connection:
        calls.create_table(connection)
        connection.execute("create table paid (key text, amount integer)")


def paid(sql: Statements, call: calls.Call, response: dict[str, int]) -> None:
    sql.execute("insert into paid values (?, ?)", call.key, response["amount"])


def gave_up(sql: Statements, call: calls.Call, error: str) -> None:
    sql.execute("insert into paid values (?, -1)", call.key)


def ask(url: str, key: str, amount: int = 5) -> bool:
    with begun(url) as connection:
        return calls.request(connection, "charge", {"amount": amount}, key=key)


def work_off(database: OwnDatabase, kind: calls.Kind) -> None:
    while make_one(database, "charge", kind):
        pass


def test_a_call_is_made_and_noted_with_what_follows(url: str) -> None:
    prepare(url)
    assert ask(url, "a") and not ask(url, "a", amount=6)
    with pytest.raises(RuntimeError), begun(url) as connection:
        calls.request(connection, "charge", {"amount": 1}, key="never")
        raise RuntimeError
    bank = Bank()
    with calls.Worker(url, {"charge": calls.Kind(bank.charge, done=paid)}, threads=2):
        deadline = time.monotonic() + 60
        while not rows(url, "select * from paid"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    assert rows(url, "select * from paid") == [("a", 5)]
    assert rows(url, "select key, state, attempts from penstock_call") == [("a", "done", 1)]


def test_what_a_call_returns_cannot_undo_it(url: str) -> None:
    """An answer without a JSON form is kept as text: the call was made, and is not made again."""
    prepare(url)
    ask(url, "a")
    made: list[str] = []

    def charge(call: calls.Call) -> set[str]:
        made.append(call.key)
        return {call.key}

    with closing(open_database(url)) as database:
        work_off(database, calls.Kind(charge, backoff_s=0))
    assert made == ["a"]
    assert rows(url, "select state, response from penstock_call") == [("done", "\"{'a'}\"")]


@pytest.mark.parametrize("where", ["make", "done"])
def test_a_worker_outlives_whatever_a_call_raises(url: str, where: str) -> None:
    """A `sys.exit` somewhere in a library ends neither the worker nor the calls of others."""
    prepare(url)
    ask(url, "a")
    left = ["once"]

    def exits(call: calls.Call) -> dict[str, int]:
        if left and where == "make":
            sys.exit(left.pop())
        return {"amount": 5}

    def exits_then(sql: Statements, call: calls.Call, response: dict[str, int]) -> None:
        if left and where == "done":
            sys.exit(left.pop())
        paid(sql, call, response)

    kind = calls.Kind(exits, done=exits_then, backoff_s=0, reserve_s=0)
    with calls.Worker(url, {"charge": kind}):
        wait_until(lambda: rows(url, "select * from paid"), "it is made in the end")
    assert rows(url, "select * from paid") == [("a", 5)]


def test_a_call_that_fails_is_made_again_until_it_was_often_enough(url: str) -> None:
    prepare(url)
    ask(url, "a")
    with closing(open_database(url)) as database:
        kind = calls.Kind(Bank(refusals=2).charge, paid, gave_up, attempts_max=3, backoff_s=0)
        work_off(database, kind)
        ask(url, "b")
        kind = calls.Kind(Bank(refusals=9).charge, paid, gave_up, attempts_max=3, backoff_s=0)
        work_off(database, kind)
    assert rows(url, "select key, amount from paid order by key") == [("a", 5), ("b", -1)]
    found = rows(url, "select key, state, attempts, error from penstock_call order by key")
    assert found == [
        ("a", "done", 3, None),
        ("b", "failed", 3, "ConnectionError: the bank is away"),
    ]


def test_a_worker_that_dies_after_the_call_leaves_it_to_the_next(url: str) -> None:
    """The outside is asked twice, with one key; what follows happens once."""
    prepare(url)
    ask(url, "a")
    bank = Bank()

    def dies(sql: Statements, call: calls.Call, response: dict[str, int]) -> None:
        paid(sql, call, response)
        raise SystemExit

    with closing(open_database(url)) as database:
        with pytest.raises(SystemExit):
            make_one(database, "charge", calls.Kind(bank.charge, done=dies, reserve_s=0))
        assert rows(url, "select * from paid") == []
        work_off(database, calls.Kind(bank.charge, done=paid))
    assert (bank.asked, bank.charged) == (2, {"a": 5})
    assert rows(url, "select * from paid") == [("a", 5)]


def test_what_follows_from_a_call_is_tried_again_without_the_call(url: str) -> None:
    """As often as a call is, and no more often; nobody says that the bank has refused."""
    prepare(url)
    ask(url, "a")
    bank, told = Bank(), []

    def fails(sql: Statements, call: calls.Call, response: dict[str, int]) -> None:
        told.append(response)
        raise ValueError("no such order")

    with closing(open_database(url)) as database:
        work_off(database, calls.Kind(bank.charge, fails, gave_up, attempts_max=3, backoff_s=0))
        assert told == [{"amount": 5}] * 3
        assert rows(url, "select * from paid") == []
        state = "select state, attempts, response, error from penstock_call"
        error = "ValueError: no such order"
        assert rows(url, state) == [("failed", 3, '{"amount": 5}', error)]
        again = "update penstock_call set state = 'pending', attempts = 0, due_ms = 0"
        with begun(url) as connection:
            connection.execute(again)
        work_off(database, calls.Kind(bank.charge, paid))
    assert rows(url, "select * from paid") == [("a", 5)]
    assert bank.asked == 1


def test_a_call_that_ends_its_worker_each_time_is_given_up(url: str) -> None:
    prepare(url)
    ask(url, "a")
    bank = Bank()

    def dies(sql: Statements, call: calls.Call, response: dict[str, int]) -> None:
        raise SystemExit

    kind = calls.Kind(bank.charge, dies, gave_up, attempts_max=2, reserve_s=0)
    with closing(open_database(url)) as database:
        for _ in range(2):
            with pytest.raises(SystemExit):
                make_one(database, "charge", kind)
        work_off(database, kind)
    assert bank.asked == 2
    assert rows(url, "select state from penstock_call") == [("failed",)]
    assert rows(url, "select * from paid") == [("a", -1)]


def test_one_who_was_thought_dead_changes_nothing(url: str) -> None:
    prepare(url)
    ask(url, "a")
    bank = Bank()
    with closing(open_database(url)) as slow, closing(open_database(url)) as quick:

        def slowly(call: calls.Call) -> dict[str, int]:
            work_off(quick, calls.Kind(bank.charge, done=paid))
            return bank.charge(call)

        make_one(slow, "charge", calls.Kind(slowly, done=paid, reserve_s=0))
    assert rows(url, "select * from paid") == [("a", 5)]
    assert rows(url, "select state, attempts from penstock_call") == [("done", 2)]
