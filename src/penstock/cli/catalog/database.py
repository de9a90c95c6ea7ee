"""The databases that a catalog can be in, by their URL, and what goes wrong there.

A file of SQLite is Python's own library's (`sqlite_file`). Whatever else a URL says is
SQLAlchemy's (`sql_url`), which takes as long to load as a whole command may to start: a catalog in
a file does without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

from penstock.cli.catalog.declaration import Row
from penstock.cli.catalog.statement import Dialect, Values
from penstock.cli.failure import Failure

CONNECT_S: Final = 10
_FILE: Final = re.compile(r"sqlite:///(?!:memory:)([^?%]+)", re.DOTALL)
"""A path alone: what is escaped or set in a URL is for SQLAlchemy to read."""


class DatabaseProblem(Failure):
    """`passing`: the same may work later."""

    def __init__(self, message: str, *, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing


class Transaction(Protocol):
    def run(self, statement: str) -> None: ...

    def run_each(self, statement: str, values: Sequence[Values]) -> None:
        """Once for each of them."""
        ...

    def rows(self, statement: str) -> Iterator[Row]: ...


class Database(Protocol):
    dialect: Dialect

    @property
    def name(self) -> str:
        """Its URL, without a password."""
        ...

    def transaction(self, *, writes: bool) -> AbstractContextManager[Transaction]:
        """All of it, or, after any exception, nothing; those of the database are a
        DatabaseProblem."""
        ...

    def close(self) -> None: ...


def open_database(url: str) -> Database:
    """Connects with the first transaction."""
    file = _FILE.fullmatch(url)
    if file is not None:
        from penstock.cli.catalog.sqlite_file import SqliteFile

        return SqliteFile(file[1])
    from penstock.cli.catalog.sql_url import UrlDatabase

    return UrlDatabase(url)
