"""The catalog in a relational database: its tables, and changes to them in one transaction.

SQLAlchemy speaks to SQLite and PostgreSQL alike. What goes wrong there is a `DatabaseProblem`, of
which those that may pass say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    TextClause,
    UniqueConstraint,
    bindparam,
    create_engine,
    exc,
    select,
    text,
)
from sqlalchemy import Column as SqlColumn
from sqlalchemy.engine import URL, make_url
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql import quoted_name
from sqlalchemy.types import TypeEngine

from penstock.cli.catalog.declaration import KEPT, CatalogTable, Change, Column, Row, Rows
from penstock.cli.failure import Failure, UsageFailure

DEFAULT_URL: Final = "sqlite:///penstock-catalog.db"
_TYPES: Final[Mapping[str, type[TypeEngine[Any]]]] = {
    "integer": Integer,
    "bigint": BigInteger,
    "real": Float,
    "boolean": Boolean,
    "text": String,
}
_CHUNK_ROWS: Final = 5_000
_CONNECT_S: Final = 10


class DatabaseProblem(Failure):
    """`passing`: the same may work later."""

    def __init__(self, message: str, *, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing


def parse_url(said: str) -> URL:
    try:
        url = make_url(said)
    except exc.ArgumentError as error:
        raise UsageFailure(_forms(said)) from error
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise UsageFailure(_forms(said))
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise UsageFailure("--database names no file: sqlite:///FILE")
    return url


def _forms(said: str) -> str:
    return f"--database takes sqlite:///FILE or postgresql://USER@HOST/NAME, not {said!r}"


class CatalogStore:
    def __init__(self, url: str) -> None:
        self._url = parse_url(url)
        self._is_sqlite = self._url.get_backend_name() == "sqlite"
        wait = {"timeout" if self._is_sqlite else "connect_timeout": _CONNECT_S}
        self._engine = create_engine(self._url, connect_args=wait, pool_pre_ping=True)
        self._tables = sql_tables()

    @property
    def name(self) -> str:
        return self._url.render_as_string(hide_password=True).replace("+psycopg", "", 1)

    def prepare(self) -> None:
        """Make the tables that are not there."""
        with self._transaction() as connection:
            for table in self._tables.values():
                connection.execute(CreateTable(table, if_not_exists=True))

    def load(self) -> dict[CatalogTable, Rows]:
        """All rows, as of one moment."""
        with self._transaction() as connection:
            return {each: self._rows(connection, each) for each in KEPT}

    def _rows(self, connection: Connection, table: CatalogTable) -> Rows:
        columns = [self._tables[table].c[each.name] for each in table.columns]
        found: Iterable[Row] = (tuple(row) for row in connection.execute(select(*columns)))
        return {table.key_of(row): row for row in found}

    def write(self, changes: Sequence[Change]) -> None:
        """All of them, or none."""
        with self._transaction() as connection:
            for change in changes:
                self._delete(connection, change.table, change.deleted)
            for change in changes:
                self._update(connection, change.table, change.updated)
                self._insert(connection, change.table, change.inserted)

    def _insert(self, connection: Connection, table: CatalogTable, rows: Sequence[Row]) -> None:
        names = [each.name for each in table.columns]
        for part in _chunks(rows):
            said = [dict(zip(names, row, strict=True)) for row in part]
            connection.execute(self._tables[table].insert(), said)

    def _update(self, connection: Connection, table: CatalogTable, rows: Sequence[Row]) -> None:
        names = [each.name for each in table.columns]
        rest = names[len(table.key) :]
        if not rest or not rows:
            return
        statement = (
            self._tables[table]
            .update()
            .where(*self._key_is(table))
            .values({name: bindparam(f"new_{name}") for name in rest})
        )
        for part in _chunks(rows):
            said = [dict(zip(_bound(table), row, strict=True)) for row in part]
            connection.execute(statement, said)

    def _delete(self, connection: Connection, table: CatalogTable, keys: Sequence[Row]) -> None:
        statement = self._tables[table].delete().where(*self._key_is(table))
        for part in _chunks(keys):
            names = [f"old_{name}" for name in table.key]
            connection.execute(statement, [dict(zip(names, key, strict=True)) for key in part])

    def _key_is(self, table: CatalogTable) -> Iterator[ColumnElement[bool]]:
        for name in table.key:
            yield self._tables[table].c[name] == bindparam(f"old_{name}")

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except exc.SQLAlchemyError as error:
            raise self._problem(error) from error

    def _problem(self, error: exc.SQLAlchemyError) -> DatabaseProblem:
        original = getattr(error, "orig", None) or error
        said = str(original).strip().splitlines()[0] if str(original) else type(error).__name__
        passing = isinstance(error, exc.OperationalError | exc.InterfaceError | exc.TimeoutError)
        # A file that cannot be opened or written does not come back by itself; a lock does.
        if self._is_sqlite and "locked" not in said:
            passing = False
        lost = isinstance(error, exc.DBAPIError) and error.connection_invalidated
        return DatabaseProblem(f"{self.name}: {said}", passing=passing or lost)

    def close(self) -> None:
        self._engine.dispose()


def _chunks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), _CHUNK_ROWS):
        yield rows[start : start + _CHUNK_ROWS]


def _bound(table: CatalogTable) -> list[str]:
    keys = len(table.key)
    return [
        f"{'old' if index < keys else 'new'}_{each.name}"
        for index, each in enumerate(table.columns)
    ]


def sql_tables() -> dict[CatalogTable, Table]:
    metadata = MetaData()
    return {each: _sql_table(each, metadata) for each in KEPT}


def _sql_table(table: CatalogTable, metadata: MetaData) -> Table:
    """Names of tables are not quoted: `SELECT … FROM Topic` works whatever a database makes of
    capitals."""
    columns = [_sql_column(each, table) for each in table.columns]
    if table.has_id:
        columns.insert(0, SqlColumn("id", Integer, primary_key=True, autoincrement=True))
    unique = [UniqueConstraint(*table.key)] if table.has_id else []
    return Table(quoted_name(table.name, False), metadata, *columns, *unique)


def _sql_column(column: Column, table: CatalogTable) -> SqlColumn[object]:
    return SqlColumn(
        column.name,
        _TYPES[column.type],
        primary_key=not table.has_id and column.name in table.key,
        autoincrement=False,
        nullable=column.nullable,
        server_default=_default(column.default),
    )


def _default(value: int | str | None) -> str | TextClause | None:
    return text(str(value)) if isinstance(value, int) else value
