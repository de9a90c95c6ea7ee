"""The SQL that the catalog's tables are made, read and changed with: in words that SQLite and
PostgreSQL have in common. Pure.

Values are named with a colon, `:offset`, as both Python's `sqlite3` and SQLAlchemy take them.
Names of tables are not quoted: `SELECT … FROM Topic` works whatever a database makes of capitals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from penstock.cli.catalog.declaration import CatalogTable, Column, Row, Value

Dialect = Literal["sqlite", "postgresql"]
Values = Mapping[str, Value]

_TYPES: Final = {
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "real": "FLOAT",
    "boolean": "BOOLEAN",
    "text": "VARCHAR",
}
_ID: Final[Mapping[Dialect, str]] = {"sqlite": "INTEGER", "postgresql": "SERIAL"}


def create(table: CatalogTable, dialect: Dialect) -> str:
    """Nothing happens where it is there."""
    lines = [_declared(each) for each in table.columns]
    key = ", ".join(_quoted(table.key))
    if table.has_id:
        lines = [f"id {_ID[dialect]} NOT NULL", *lines, "PRIMARY KEY (id)", f"UNIQUE ({key})"]
    else:
        lines.append(f"PRIMARY KEY ({key})")
    return f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join(lines)})"


def _declared(column: Column) -> str:
    default = f"'{column.default}'" if isinstance(column.default, str) else column.default
    said = "" if default is None else f" DEFAULT {default}"
    return f'"{column.name}" {_TYPES[column.type]}{said}{"" if column.nullable else " NOT NULL"}'


def select(table: CatalogTable) -> str:
    return f"SELECT {', '.join(_columns(table))} FROM {table.name}"


def insert(table: CatalogTable) -> str:
    values = ", ".join(f":{each.name}" for each in table.columns)
    return f"INSERT INTO {table.name} ({', '.join(_columns(table))}) VALUES ({values})"


def update(table: CatalogTable) -> str | None:
    """None for a table that is nothing but its key."""
    rest = [each.name for each in table.columns[len(table.key) :]]
    said = ", ".join(f'"{name}" = :{name}' for name in rest)
    return f"UPDATE {table.name} SET {said} WHERE {_key_is(table)}" if rest else None


def delete(table: CatalogTable) -> str:
    return f"DELETE FROM {table.name} WHERE {_key_is(table)}"


def row_values(table: CatalogTable, rows: Iterable[Row]) -> list[Values]:
    """For `insert` and `update`."""
    names = [each.name for each in table.columns]
    return [dict(zip(names, row, strict=True)) for row in rows]


def key_values(table: CatalogTable, keys: Iterable[Row]) -> list[Values]:
    """For `delete`."""
    return [dict(zip(table.key, key, strict=True)) for key in keys]


def _key_is(table: CatalogTable) -> str:
    return " AND ".join(f'"{name}" = :{name}' for name in table.key)


def _columns(table: CatalogTable) -> list[str]:
    return _quoted(each.name for each in table.columns)


def _quoted(names: Iterable[str]) -> list[str]:
    """`offset` is a word of SQL."""
    return [f'"{name}"' for name in names]
