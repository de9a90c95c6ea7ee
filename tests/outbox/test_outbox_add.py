"""Adding events in a user's transaction, through each of the libraries. No broker here."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from typing import Any

import pytest

from penstock.client import outbox
from penstock.client.database import DatabaseUseError
from tests.outbox.outbox_kit import begun, make, rows

ADDED = "select topic, key, value, headers from penstock_outbox order by id"


def test_an_event_is_there_if_the_transaction_is_committed(url: str) -> None:
    make(url)
    with begun(url) as connection:
        event = outbox.add(connection, "orders", "o-1", {"total": 9.5}, headers={"trace": "t"})
    with pytest.raises(RuntimeError), begun(url) as connection:
        outbox.add(connection, "orders", "o-2", {"total": 1})
        raise RuntimeError
    assert rows(url, ADDED) == [("orders", b"o-1", b'{"total":9.5}', '[["trace", "t"]]')]
    assert rows(url, "select event_id from penstock_outbox") == [(event,)]


@pytest.mark.parametrize("kind", ["connection", "session"])
def test_sqlalchemy_connections_and_sessions_take_events(url: str, kind: str) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    from sqlalchemy.orm import Session

    make(url)
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    opened: Any = engine.connect if kind == "connection" else lambda: Session(engine)
    with opened() as connection, connection.begin():
        outbox.add(connection, "orders", None, b"\x00raw")
        outbox.add(connection, "orders", "o-1", None)
    with opened() as connection:
        outbox.add(connection, "orders", None, b"never committed")
        connection.rollback()
    engine.dispose()
    assert rows(url, ADDED) == [("orders", None, b"\x00raw", None), ("orders", b"o-1", None, None)]


def test_a_connection_that_commits_by_itself_is_refused(url: str) -> None:
    make(url)
    if url.startswith("sqlite"):
        path = url.removeprefix("sqlite:///")
        opened: Any = closing(sqlite3.connect(path, isolation_level=None))
    else:
        import psycopg

        opened = psycopg.connect(url, autocommit=True)
    with opened as connection:
        with pytest.raises(DatabaseUseError, match="begin a transaction first"):
            outbox.add(connection, "orders", "k", 1)
        connection.execute("begin")
        outbox.add(connection, "orders", "k", 2)
        connection.execute("commit")
    assert rows(url, "select value from penstock_outbox") == [(b"2",)]


def test_rows_of_any_shape_are_understood(url: str) -> None:
    """A user's connection may make rows into dictionaries."""
    make(url, shards=3)
    with begun(url) as connection:
        if isinstance(connection, sqlite3.Connection):
            connection.row_factory = lambda cursor, row: {"x": row}
        else:
            from psycopg.rows import dict_row

            connection.row_factory = dict_row
        for number in range(20):
            outbox.add(connection, "orders", f"o-{number}", number)
    assert rows(url, "select count(*), count(distinct shard) from penstock_outbox") == [(20, 3)]


def test_what_cannot_be_sent_is_refused_in_the_transaction(sqlite_url: str) -> None:
    make(sqlite_url)
    with begun(sqlite_url) as connection:
        with pytest.raises(ValueError, match="not a name of a topic"):
            outbox.add(connection, "no topic", "k", 1)
        with pytest.raises(ValueError, match="are text"):
            outbox.add(connection, "orders", "k", 1, headers={"h": b"\xff"})
        with pytest.raises(TypeError):
            outbox.add(connection, "orders", "k", object())
    with pytest.raises(DatabaseUseError, match="not a connection that is known"):
        outbox.add("sqlite:///x", "orders", "k", 1)


def test_tables_are_made_once(url: str) -> None:
    make(url, shards=2)
    make(url, shards=5)
    named = rows(url, "select outbox from penstock_outbox_shard")
    assert len(named) == len(set(named)) == 2


def test_events_of_one_key_have_ids_in_the_order_of_commits(postgres_url: str) -> None:
    """In PostgreSQL two transactions run at once: the second to add waits for the first."""
    make(postgres_url)
    added = threading.Event()

    def second() -> None:
        with begun(postgres_url) as connection:
            outbox.add(connection, "orders", "same", "second")
            added.set()

    with begun(postgres_url) as connection:
        outbox.add(connection, "orders", "same", "first")
        other = threading.Thread(target=second)
        other.start()
        with begun(postgres_url) as watching:
            _wait_blocked(watching)
        assert not added.is_set()
        with begun(postgres_url) as third:
            outbox.add(third, "orders", "other", "is not held up")
    other.join()
    values = rows(postgres_url, "select value from penstock_outbox where key = 'same' order by id")
    assert values == [(b'"first"',), (b'"second"',)]


def _wait_blocked(connection: Any) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = connection.execute(
            "select count(*) from pg_locks where locktype = 'advisory' and not granted"
        ).fetchone()
        if found[0]:
            return
        time.sleep(0.01)
    raise AssertionError("the second transaction does not wait")
