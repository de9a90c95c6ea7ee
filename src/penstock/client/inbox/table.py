"""The tables of an inbox, as SQL. What is done with them is in `take`."""

from __future__ import annotations

from typing import Any

from penstock.client.database import create_once
from penstock.client.database.statement import Dialect

_STATEMENTS = (
    """create table if not exists penstock_inbox (
    consumer text not null,
    event text not null,
    seen_ms bigint not null,
    primary key (consumer, event)
)""",
    "create index if not exists penstock_inbox_seen on penstock_inbox (seen_ms)",
    """create table if not exists penstock_inbox_position (
    consumer text not null,
    topic text not null,
    partition integer not null,
    next_offset bigint not null,
    primary key (consumer, topic, partition)
)""",
)


def table_sql(dialect: Dialect) -> list[str]:
    """What `create_table` executes; the same for every database."""
    return list(_STATEMENTS)


def create_table(connection: Any) -> None:
    """Make the tables if they are not there, in the connection's transaction."""
    create_once(connection, table_sql)
