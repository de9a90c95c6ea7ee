"""A connection of our own to a database that is named by a URL: for relays and workers.

One transaction at a time; SQLite is told beforehand whether it will write. Users' connections are
in `statement`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from penstock.client.database.statement import (
    DatabaseUseError,
    Dialect,
    Statements,
    statements_of,
)

_BUSY_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 10


class OwnDatabase(Protocol):
    dialect: Dialect
    errors: tuple[type[Exception], ...]
    """What the library raises: the database is away, or refuses."""

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Statements]:
        """Committed at the end, rolled back on any exception."""
        ...

    def close(self) -> None: ...


def open_database(url: str, *, make: bool = True) -> OwnDatabase:
    """sqlite:///path or postgresql://user@host/name; SQLAlchemy's +driver is passed over.

    Without `make` a file has to be there: a name that was mistyped is no empty database.
    """
    scheme, _, rest = url.partition("://")
    name = scheme.partition("+")[0]
    if name == "sqlite":
        path = Path(rest.removeprefix("/"))
        if not make and not path.exists():
            raise DatabaseUseError(f"there is no database {path}; sqlite:///path names a file")
        return SqliteDatabase(path)
    if name in ("postgres", "postgresql"):
        return PostgresDatabase(f"postgresql://{rest}")
    raise DatabaseUseError(
        f"no such database: {scheme}://…: use sqlite:///path or postgresql://user@host/name"
    )


class SqliteDatabase:
    dialect: Dialect = "sqlite"
    errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(
            path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        # Readers go on reading, and a commit is on the disk before it is reported.
        self._connection.execute("pragma journal_mode = wal")
        self._connection.execute("pragma synchronous = full")

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Statements]:
        self._connection.execute("begin immediate" if write else "begin")
        with self._connection:
            yield statements_of(self._connection)

    def close(self) -> None:
        self._connection.close()


class PostgresDatabase:
    dialect: Dialect = "postgresql"

    def __init__(self, url: str) -> None:
        import psycopg

        self.errors: tuple[type[Exception], ...] = (psycopg.Error,)
        self._connection: Any = psycopg.connect(url, connect_timeout=_CONNECT_TIMEOUT_S)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Statements]:
        with self._connection.transaction():
            yield statements_of(self._connection)

    def close(self) -> None:
        self._connection.close()
