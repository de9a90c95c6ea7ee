"""A catalog in a file of SQLite, by Python's own library."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from penstock.cli.catalog.database import CONNECT_S, DatabaseProblem
from penstock.cli.catalog.declaration import Row
from penstock.cli.catalog.statement import Dialect, Values


class SqliteFile:
    dialect: Dialect = "sqlite"

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    @property
    def name(self) -> str:
        return f"sqlite:///{self._path}"

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[_SqliteTransaction]:
        try:
            connection = self._connect()
            # One that reads first and then writes is refused where another writes in between,
            # however long it would wait.
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            with connection:
                yield _SqliteTransaction(connection)
        except sqlite3.Error as error:
            said = str(error)
            # A file that cannot be opened or written does not come back by itself; a lock does.
            raise DatabaseProblem(f"{self.name}: {said}", passing="locked" in said) from error

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(self._path, timeout=CONNECT_S, isolation_level=None)
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


class _SqliteTransaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str) -> None:
        self._connection.execute(statement)

    def run_each(self, statement: str, values: Sequence[Values]) -> None:
        self._connection.executemany(statement, values)

    def rows(self, statement: str) -> Iterator[Row]:
        yield from self._connection.execute(statement)
