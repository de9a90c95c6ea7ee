"""What differs between SQLite and PostgreSQL: connecting, column types, values, locking.

Both know `insert … on conflict`, so the statements are written once. What each says of a table that
exists is in `catalog`. Nothing here knows Spark beyond the names of its types.
"""

from __future__ import annotations

import datetime
import decimal
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.pipelines.error import DeclarationError, SetupError
from penstock.pipelines.sinks import catalog
from penstock.pipelines.sinks.evolution import TableColumn
from penstock.pipelines.version import INSTALL

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUSY_TIMEOUT_S = 60.0
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")
_SPARK_TYPES = {
    "string": ("text", "text"),
    "binary": ("blob", "bytea"),
    "boolean": ("integer", "boolean"),
    "byte": ("integer", "smallint"),
    "short": ("integer", "smallint"),
    "integer": ("integer", "integer"),
    "long": ("integer", "bigint"),
    "float": ("real", "real"),
    "double": ("real", "double precision"),
    # SQLite has neither exact numbers nor times: as text they stay what they were.
    "decimal": ("text", "numeric"),
    "date": ("text", "date"),
    "timestamp": ("text", "timestamptz"),
    "timestamp_ntz": ("text", "timestamp"),
}


@dataclass(frozen=True, slots=True)
class Dialect:
    name: str
    mark: str
    """What stands for a value in a statement."""
    lock: str
    """After a select: nobody else decides on this row until the transaction ends."""
    open: Callable[[], AbstractContextManager[Any]]
    """A cursor in one transaction: committed at the end, rolled back on any exception."""
    adapt: Callable[[Any], Any]

    def column_type(self, column: str, spark_type: str) -> str:
        family = "decimal" if spark_type.startswith("decimal") else spark_type
        try:
            return _SPARK_TYPES[family][self.name == "postgresql"]
        except KeyError:
            raise DeclarationError(
                f"{column} is {spark_type} in the rows, and the database has no type for that:"
                " flatten it, or use to_json"
            ) from None

    def columns(self, cursor: Any, table: str) -> list[TableColumn]:
        """Of a table that is there; nothing if it is not."""
        if self.name == "postgresql":
            return catalog.postgres_columns(cursor, quoted(table))
        return catalog.sqlite_columns(cursor, table)

    def unique_keys(self, cursor: Any, table: str) -> list[tuple[str, ...]]:
        """By what its rows are told apart: the primary key, and unique indexes over all rows."""
        if self.name == "postgresql":
            return catalog.postgres_keys(cursor, quoted(table))
        return catalog.sqlite_keys(cursor, table)

    def holds(self, have: str, new: str) -> bool:
        if self.name == "postgresql":
            return catalog.postgres_holds(have, new)
        return catalog.sqlite_holds(have, new)

    def delete(self, table: str, key: Sequence[str]) -> str:
        same = " and ".join(f"{quoted(name)} = {self.mark}" for name in key)
        return f"delete from {quoted(table)} where {same}"

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        marks = ", ".join([self.mark] * len(columns))
        names, keys = ", ".join(map(quoted, columns)), ", ".join(map(quoted, key))
        rest = [quoted(name) for name in columns if name not in key]
        news = ", ".join(f"{name} = excluded.{name}" for name in rest)
        then = f"update set {news}" if rest else "nothing"
        return (
            f"insert into {quoted(table)} ({names}) values ({marks}) on conflict ({keys}) do {then}"
        )


def quoted(name: str) -> str:
    """A column, a table, or schema.table; names that need more than quotes are refused."""
    if not _NAME.fullmatch(name):
        raise DeclarationError(f"not a plain SQL name: {name!r}")
    return ".".join(f'"{part}"' for part in name.split("."))


def dialect_of(url: str) -> Dialect:
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        path = rest.removeprefix("/")
        return Dialect("sqlite", "?", "", lambda: _open_sqlite(Path(path)), _plain)
    if scheme in ("postgres", "postgresql"):
        return Dialect("postgresql", "%s", " for update", lambda: _open_postgres(url), _same)
    raise DeclarationError(
        f"no such database: {scheme}://…: use sqlite:///path or postgresql://user@host/name"
    )


@contextmanager
def _open_sqlite(path: Path) -> Iterator[sqlite3.Cursor]:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    try:
        # Readers go on reading, and a commit is on the disk before it is reported.
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        connection.execute("begin immediate")
        with connection:
            yield connection.cursor()
    finally:
        connection.close()


@contextmanager
def _open_postgres(url: str) -> Iterator[Any]:
    try:
        import psycopg
    except ImportError as error:
        raise SetupError(f"PostgreSQL needs psycopg; {INSTALL}") from error
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        yield cursor


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value) if isinstance(value, decimal.Decimal) else value


def _same(value: Any) -> Any:
    return value
