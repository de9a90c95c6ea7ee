"""The tables of an outbox, as SQL. Statements on them are with whoever runs them.

`penstock_outbox` has the events that are not sent yet; a row goes when its event is acknowledged.
`penstock_outbox_shard` has a row for each shard: who relays it, until when, and which events are
being sent.
"""

from __future__ import annotations

from typing import Any

from penstock.client.database import create_once
from penstock.client.database.statement import Dialect

_COLUMNS = """
    shard integer not null,
    event_id text not null,
    topic text not null,
    key {bytes},
    value {bytes},
    headers text,
    created_ms bigint not null,
    error text
"""
_SHARDS = """create table if not exists penstock_outbox_shard (
    shard integer primary key,
    outbox text not null default ({identity}),
    owner text,
    epoch bigint not null default 0,
    lease_until_ms bigint not null default 0,
    batch_id text,
    batch text
)"""
_WAITING = (
    "create index if not exists penstock_outbox_waiting"
    " on penstock_outbox (shard, id) where error is null"
)


def table_sql(dialect: Dialect, shards: int = 1) -> list[str]:
    """What `create_table` executes, for whoever keeps migrations of their own."""
    if not 1 <= shards <= 256:
        raise ValueError(f"an outbox has 1 to 256 shards, not {shards}")
    if dialect == "postgresql":
        number, binary = "bigint generated always as identity primary key", "bytea"
        identity = "gen_random_uuid()::text"
    else:
        number, binary = "integer primary key autoincrement", "blob"
        identity = "lower(hex(randomblob(16)))"
    columns = _COLUMNS.format(bytes=binary)
    rows = ", ".join(f"({shard})" for shard in range(shards))
    fill = (
        f"insert into penstock_outbox_shard (shard) select column1 from (values {rows}) as made"
        " where not exists (select 1 from penstock_outbox_shard)"
    )
    return [
        f"create table if not exists penstock_outbox (\n    id {number},{columns})",
        _WAITING,
        _SHARDS.format(identity=identity),
        fill,
    ]


def create_table(connection: Any, shards: int = 1) -> None:
    """Make the tables if they are not there, in the connection's transaction.

    Events of one key always go through one shard, and one relay at a time sends a shard. The
    number of shards stays what it was when the tables were made.
    """
    create_once(connection, lambda dialect: table_sql(dialect, shards))
