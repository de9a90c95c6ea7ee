"""A catalog in whatever a URL names, by SQLAlchemy: PostgreSQL, and files of SQLite with settings
of their own. What goes wrong there is a `DatabaseProblem`, of which those that may pass say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, create_engine, exc, text
from sqlalchemy.engine import URL, make_url

from penstock.cli.catalog.database import CONNECT_S, DatabaseProblem
from penstock.cli.catalog.declaration import Row
from penstock.cli.catalog.statement import Dialect, Values
from penstock.cli.failure import UsageFailure


def parse_url(said: str) -> URL:
    try:
        url = make_url(said)
    except exc.ArgumentError as error:
        raise _refused(said) from error
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise _refused(said)
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise UsageFailure("--database names no file: sqlite:///FILE")
    return url


def _refused(url: str) -> UsageFailure:
    return UsageFailure(
        f"--database takes sqlite:///FILE or postgresql://USER@HOST/NAME, not {url!r}"
    )


class UrlDatabase:
    def __init__(self, url: str) -> None:
        self._url = parse_url(url)
        self._is_sqlite = self._url.get_backend_name() == "sqlite"
        self.dialect: Dialect = "sqlite" if self._is_sqlite else "postgresql"
        wait = {"timeout" if self._is_sqlite else "connect_timeout": CONNECT_S}
        self._engine = create_engine(self._url, connect_args=wait, pool_pre_ping=True)

    @property
    def name(self) -> str:
        return self._url.render_as_string(hide_password=True).replace("+psycopg", "", 1)

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[_UrlTransaction]:
        try:
            with self._engine.begin() as connection:
                yield _UrlTransaction(connection)
        except exc.SQLAlchemyError as error:
            raise self._problem(error) from error

    def _problem(self, error: exc.SQLAlchemyError) -> DatabaseProblem:
        original = getattr(error, "orig", None) or error
        said = str(original).strip().splitlines()[0] if str(original) else type(error).__name__
        passing = isinstance(error, exc.OperationalError | exc.InterfaceError | exc.TimeoutError)
        # As of a file that is opened without settings.
        if self._is_sqlite and "locked" not in said:
            passing = False
        lost = isinstance(error, exc.DBAPIError) and error.connection_invalidated
        return DatabaseProblem(f"{self.name}: {said}", passing=passing or lost)

    def close(self) -> None:
        self._engine.dispose()


class _UrlTransaction:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def run(self, statement: str) -> None:
        self._connection.execute(text(statement))

    def run_each(self, statement: str, values: Sequence[Values]) -> None:
        self._connection.execute(text(statement), values)

    def rows(self, statement: str) -> Iterator[Row]:
        yield from (tuple(row) for row in self._connection.execute(text(statement)))
