"""Making tables that may be there already, by several processes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.client.database.statement import Dialect, statements_of

LOCKS = 0x70656E73
"""The first half of our advisory locks in PostgreSQL: "pens"."""
_CREATION = -1


def create_once(connection: Any, statements: Callable[[Dialect], Sequence[str]]) -> None:
    database = statements_of(connection)
    if database.postgresql:
        # Two that create at once would fail in PostgreSQL's catalogue.
        database.execute("select pg_advisory_xact_lock(?, ?)", LOCKS, _CREATION)
    for statement in statements(database.dialect):
        database.execute(statement)
