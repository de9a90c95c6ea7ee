"""Statements in the transaction that a user's connection is in, whatever library it is of.

Known are connections of sqlite3 and psycopg, and SQLAlchemy's connections and sessions over them.
Which one it is shows by its type; none of the libraries is imported for that. Nothing here begins,
commits or rolls back: that is the user's.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from penstock.client.error import ClientError

Dialect = Literal["sqlite", "postgresql"]

_MARK = re.compile(r"\?")


class DatabaseUseError(ClientError):
    """A connection that cannot be used, or not like that."""


@dataclass(frozen=True, slots=True)
class Result:
    rows: list[tuple[Any, ...]]
    count: int
    """Rows that the statement changed or found."""


@dataclass(frozen=True, slots=True)
class Statements:
    dialect: Dialect
    _run: Callable[[str, Sequence[Any]], Result]

    def execute(self, statement: str, *values: Any) -> Result:
        """Each `?` in the statement stands for a value, whatever the library's own mark is."""
        return self._run(statement, values)

    @property
    def postgresql(self) -> bool:
        return self.dialect == "postgresql"


def statements_of(connection: Any) -> Statements:
    """Refuses a connection with autocommit that has no transaction open: what is written through
    it would be committed by itself."""
    if isinstance(connection, Statements):
        return connection
    if isinstance(connection, sqlite3.Connection):
        return _of_sqlite(connection)
    if _is(connection, "psycopg", "Connection"):
        return _of_psycopg(connection)
    if _is(connection, "sqlalchemy.orm", "Session", "scoped_session"):
        return _of_sqlalchemy(connection.connection())
    if _is(connection, "sqlalchemy", "Connection"):
        return _of_sqlalchemy(connection)
    kind = type(connection)
    raise DatabaseUseError(
        f"not a connection that is known: {kind.__module__}.{kind.__qualname__}; give one of"
        " sqlite3 or psycopg, or SQLAlchemy's Connection or Session (of an AsyncSession:"
        " session.run_sync)"
    )


def _is(connection: Any, module: str, *names: str) -> bool:
    """Whoever has an object of a library has the library imported."""
    library = sys.modules.get(module)
    return library is not None and isinstance(
        connection, tuple(getattr(library, name) for name in names)
    )


def _of_sqlite(connection: sqlite3.Connection) -> Statements:
    _require_sqlite_transaction(connection)

    def run(statement: str, values: Sequence[Any]) -> Result:
        cursor = connection.cursor()
        cursor.row_factory = None
        try:
            rows = cursor.execute(statement, values).fetchall()
            return Result(rows, max(cursor.rowcount, len(rows)))
        finally:
            cursor.close()

    return Statements("sqlite", run)


def _of_psycopg(connection: Any) -> Statements:
    _require_psycopg_transaction(connection)
    from psycopg.rows import tuple_row

    def run(statement: str, values: Sequence[Any]) -> Result:
        with connection.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(_marked(statement, "format"), values)
            rows = cursor.fetchall() if cursor.description is not None else []
            return Result(rows, cursor.rowcount)

    return Statements("postgresql", run)


def _of_sqlalchemy(connection: Any) -> Statements:
    dialect = connection.dialect
    if dialect.name not in ("sqlite", "postgresql"):
        raise DatabaseUseError(f"SQLite and PostgreSQL are known, not {dialect.name}")
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        _require_sqlite_transaction(driver)
    elif _is(driver, "psycopg", "Connection") and driver.autocommit:
        raise _no_transaction()

    def run(statement: str, values: Sequence[Any]) -> Result:
        found = connection.exec_driver_sql(_marked(statement, dialect.paramstyle), tuple(values))
        rows = [tuple(row) for row in found] if found.returns_rows else []
        return Result(rows, max(found.rowcount, len(rows)))

    return Statements(dialect.name, run)


def _marked(statement: str, style: str) -> str:
    if style == "qmark":
        return statement
    if style in ("format", "pyformat"):
        return _MARK.sub("%s", statement.replace("%", "%%"))
    if style == "numeric_dollar":
        numbers = itertools.count(1)
        return _MARK.sub(lambda _: f"${next(numbers)}", statement)
    raise DatabaseUseError(f"a driver that marks values as {style!r} is not known")


def _require_sqlite_transaction(connection: sqlite3.Connection) -> None:
    # With an isolation level Python's module begins one before the first change.
    begins = connection.isolation_level is not None
    if not begins and not connection.in_transaction:
        raise _no_transaction()


def _require_psycopg_transaction(connection: Any) -> None:
    from psycopg.pq import TransactionStatus

    idle = connection.info.transaction_status == TransactionStatus.IDLE
    if connection.autocommit and idle:
        raise _no_transaction()


def _no_transaction() -> DatabaseUseError:
    return DatabaseUseError(
        "the connection commits every statement by itself: begin a transaction first, so that this"
        " and your own changes are committed together"
    )
