"""A call that is wanted: its row in `penstock_call`, written in the user's transaction."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from penstock.client.database import create_once, statements_of
from penstock.client.database.statement import Dialect

_DUE = (
    "create index if not exists penstock_call_due on penstock_call (name, due_ms)"
    " where state = 'pending'"
)
_STATEMENTS = (
    """create table if not exists penstock_call (
    key text primary key,
    name text not null,
    request text not null,
    state text not null default 'pending',
    attempts integer not null default 0,
    due_ms bigint not null,
    response text,
    error text
)""",
    _DUE,
)


@dataclass(frozen=True, slots=True)
class Call:
    key: str
    """The idempotency key: give it to the outside."""
    name: str
    request: Any
    attempt: int
    """1 at first. From 2 on an earlier one may have been heard by the outside."""


def table_sql(dialect: Dialect) -> list[str]:
    """What `create_table` executes; the same for every database."""
    return list(_STATEMENTS)


def create_table(connection: Any) -> None:
    """Make the table if it is not there, in the connection's transaction."""
    create_once(connection, table_sql)


def request(connection: Any, name: str, request: Any, *, key: str) -> bool:
    """Ask for a call, to be made if the connection's transaction is committed.

    False: one with this key was asked for before.
    """
    row = (key, name, json.dumps(request), time.time_ns() // 1_000_000)
    statement = (
        "insert into penstock_call (key, name, request, due_ms) values (?, ?, ?, ?)"
        " on conflict do nothing"
    )
    return statements_of(connection).execute(statement, *row).count == 1
