"""Events taken once, in the transaction that deals with them; duplicates known from memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from penstock.client import App, Retry, inbox, outbox
from penstock.client.outbox.relay import Relay
from penstock.client.record import Message
from penstock.testing.broker import Broker
from penstock.testing.record import Record
from tests.outbox.outbox_kit import begun, fill, make, rows
from tests.outbox.test_outbox_relay import KEYS, wait_empty
from tests.patience import wait_until
from tests.postgres_kit import running_postgres
from tools.postgres import Postgres


def message(offset: int, event: str | None = None, partition: int = 0) -> Message:
    headers = [] if event is None else [(outbox.EVENT_ID, event.encode())]
    return Message("orders", partition, offset, "k", {}, 0, headers)


def make_inbox(url: str) -> None:
    with begun(url) as connection:
        inbox.create_table(connection)
        connection.execute("create table charged (event text)")


def charge(url: str, taken: Message | Record, *, fails: bool = False) -> bool:
    with begun(url) as connection:
        if not inbox.take(connection, "billing", taken):
            return False
        connection.execute(f"insert into charged values ('{inbox.event_id(taken)}')")
        if fails:
            raise RuntimeError
        return True


def test_an_event_is_taken_once_wherever_it_stands(url: str) -> None:
    make_inbox(url)
    assert charge(url, message(0, "a"))
    assert not charge(url, message(0, "a"))
    assert not charge(url, message(7, "a", partition=2))
    assert charge(url, message(1))
    assert not charge(url, message(1))
    assert rows(url, "select event from charged order by event") == [("a",), ("orders/0/1",)]
    with begun(url) as connection:
        assert inbox.take(connection, "another consumer", message(0, "a"))


def test_what_fails_was_not_taken(url: str) -> None:
    make_inbox(url)
    with pytest.raises(RuntimeError):
        charge(url, message(0, "a"), fails=True)
    assert rows(url, "select * from charged") == []
    assert charge(url, message(0, "a"))


def test_two_that_take_the_same_event_at_once(postgres_url: str) -> None:
    make_inbox(postgres_url)
    outcomes: list[bool] = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(charge(postgres_url, message(0, "a"))))
        for _ in range(5)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(outcomes) == [False, False, False, False, True]
    assert len(rows(postgres_url, "select * from charged")) == 1


def test_positions_move_with_the_transaction(url: str) -> None:
    make_inbox(url)
    with begun(url) as connection:
        assert [inbox.advance(connection, "billing", message(each)) for each in (3, 4, 4, 2)] == [
            True, True, False, False,
        ]  # fmt: skip
        assert inbox.advance(connection, "billing", message(0, partition=1))
    with pytest.raises(RuntimeError), begun(url) as connection:
        assert inbox.advance(connection, "billing", message(5))
        raise RuntimeError
    with begun(url) as connection:
        assert inbox.positions(connection, "billing") == {("orders", 0): 5, ("orders", 1): 1}
        assert inbox.positions(connection, "another") == {}


def test_old_events_are_forgotten(url: str) -> None:
    make_inbox(url)
    charge(url, message(0, "a"))
    with begun(url) as connection:
        assert inbox.forget(connection, older_than_s=60) == 0
        assert inbox.forget(connection, older_than_s=-60) == 1


def test_a_window_in_memory_is_bounded() -> None:
    window = inbox.Window(events_max=2)
    assert [window.first(message(0, each)) for each in "aba"] == [True, True, False]
    assert window.first(message(0, "c"))
    assert [window.first(message(0, each)) for each in "ab"] == [False, True]
    window.forget(message(0, "b"))
    assert window.first(message(0, "b"))


def test_idempotency_keys_are_of_event_and_call() -> None:
    same = {inbox.idempotency_key(message(each, "a"), "charge") for each in range(3)}
    others = {
        inbox.idempotency_key(message(0, "a"), "refund"),
        inbox.idempotency_key(message(0, "b"), "charge"),
    }
    assert len(same) == 1 and len(same | others) == 3


def test_what_a_careless_reader_sees_twice_is_taken_once(penstock: Broker, sqlite_url: str) -> None:
    """A database from a backup sends its events again; the inbox knows them."""
    make(sqlite_url)
    make_inbox(sqlite_url)
    fill(sqlite_url, "orders", KEYS, 10)
    kept = rows(sqlite_url, "select * from penstock_outbox")
    for _ in range(2):
        with Relay(sqlite_url, penstock.bootstrap_servers):
            wait_empty(sqlite_url)
        with begun(sqlite_url) as connection:
            marks = ", ".join("?" * len(kept[0]))
            connection.executemany(f"insert into penstock_outbox values ({marks})", kept)
    records = penstock.read("orders")
    assert len(records) == 20
    assert sum(charge(sqlite_url, record) for record in records) == 10


@pytest.fixture
def server() -> Iterator[Postgres]:
    """One that a test may stop: others have it to themselves no more."""
    yield from running_postgres()


def test_a_database_that_is_away_in_the_middle(penstock: Broker, server: Postgres) -> None:
    """Its connections are cut and refused while records are at work; each is paid once."""
    penstock.create_topic("payments", partitions=2)
    penstock.produce("payments", [(f"k{n}", f"{n}") for n in range(60)])
    with begun(server.url) as connection:
        connection.execute("create table paid (n integer)")
        inbox.create_table(connection)
    app = App("pay")
    failures = 0
    patient = Retry(attempts=1000, backoff="50ms", backoff_max="200ms")

    @app.consumer("payments", retry=patient, concurrency=4)
    def pay(value: int, message: Message) -> None:
        nonlocal failures
        try:
            with begun(server.url) as connection:
                if inbox.take(connection, "pay", message):
                    time.sleep(0.01)
                    connection.execute("insert into paid values (%s)", (value,))
        except Exception:
            failures += 1
            raise

    paid = "select n from paid order by n"
    with app.test(penstock) as test:
        wait_until(lambda: len(rows(server.url, paid)) > 5, "some are paid")
        server.halt()
        wait_until(lambda: failures > 4, "others fail")
        server.resume()
        test.finish()
        assert test.read("pay.dead-letters") == []
    assert [n for (n,) in rows(server.url, paid)] == list(range(60))
