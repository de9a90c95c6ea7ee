"""An outbox of a test: made, filled, looked at."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from penstock.client import outbox
from penstock.client.database import open_database


@contextmanager
def begun(url: str) -> Iterator[Any]:
    """A user's own connection, committed at the end."""
    if url.startswith("sqlite"):
        path = url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, timeout=60)) as connection, connection:
            yield connection
        return
    import psycopg

    with psycopg.connect(url) as connection:
        yield connection


def make(url: str, shards: int = 1) -> None:
    with begun(url) as connection:
        outbox.create_table(connection, shards)


def fill(url: str, topic: str, keys: Sequence[str], count: int, start: int = 0) -> None:
    """Events numbered over all keys, in transactions of ten."""
    for first in range(start, start + count, 10):
        with begun(url) as connection:
            for number in range(first, min(first + 10, start + count)):
                outbox.add(connection, topic, keys[number % len(keys)], {"n": number})


def rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    with closing(open_database(url)) as database, database.transaction(write=False) as sql:
        return sql.execute(statement).rows
