"""The catalog in a relational database: its tables, and changes to them in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from penstock.cli.catalog.database import Transaction, open_database
from penstock.cli.catalog.declaration import KEPT, CatalogTable, Change, Row, Rows
from penstock.cli.catalog.statement import (
    create,
    delete,
    insert,
    key_values,
    row_values,
    select,
    update,
)

_CHUNK_ROWS: Final = 5_000


class CatalogStore:
    def __init__(self, url: str) -> None:
        self._database = open_database(url)

    @property
    def name(self) -> str:
        return self._database.name

    def prepare(self) -> None:
        """Make the tables that are not there."""
        with self._database.transaction(writes=True) as transaction:
            for table in KEPT:
                transaction.run(create(table, self._database.dialect))

    def load(self) -> dict[CatalogTable, Rows]:
        """All rows, as of one moment."""
        with self._database.transaction(writes=False) as transaction:
            return {each: _rows(transaction, each) for each in KEPT}

    def write(self, changes: Sequence[Change]) -> None:
        """All of them, or none."""
        with self._database.transaction(writes=True) as transaction:
            for change in changes:
                _delete(transaction, change.table, change.deleted)
            for change in changes:
                _update(transaction, change.table, change.updated)
                _insert(transaction, change.table, change.inserted)

    def close(self) -> None:
        self._database.close()


def _rows(transaction: Transaction, table: CatalogTable) -> Rows:
    return {table.key_of(row): row for row in transaction.rows(select(table))}


def _insert(transaction: Transaction, table: CatalogTable, rows: Sequence[Row]) -> None:
    for part in _chunks(rows):
        transaction.run_each(insert(table), row_values(table, part))


def _update(transaction: Transaction, table: CatalogTable, rows: Sequence[Row]) -> None:
    statement = update(table)
    if statement is not None:
        for part in _chunks(rows):
            transaction.run_each(statement, row_values(table, part))


def _delete(transaction: Transaction, table: CatalogTable, keys: Sequence[Row]) -> None:
    for part in _chunks(keys):
        transaction.run_each(delete(table), key_values(table, part))


def _chunks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), _CHUNK_ROWS):
        yield rows[start : start + _CHUNK_ROWS]
