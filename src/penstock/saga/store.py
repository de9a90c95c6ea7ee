"""The database of one service: states of its orders, and what else it keeps books of.

SQL only, in the transaction that the caller is in. What happens in which state is in `tables`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.client import inbox, outbox
from penstock.client.database import Statements
from penstock.saga.machine import NEW

_STATE = """create table if not exists saga_state (
    order_id text primary key,
    state text not null,
    body text not null,
    placed_ms bigint not null,
    changed_ms bigint not null
)"""
_TABLES: Mapping[str, tuple[str, ...]] = {
    "orders": (),
    "inventory": (
        """create table if not exists stock (
    item text primary key,
    first integer not null,
    free integer not null check (free >= 0)
)""",
        """create table if not exists reservation (
    order_id text not null,
    item text not null,
    quantity integer not null,
    held integer not null,
    primary key (order_id, item)
)""",
    ),
    "payment": (
        """create table if not exists ledger (
    order_id text not null,
    kind text not null,
    amount integer not null,
    primary key (order_id, kind)
)""",
    ),
    "fulfilment": ("create table if not exists shipment (order_id text primary key)",),
    "notification": ("create table if not exists notice (order_id text not null, text text)",),
}


@dataclass(frozen=True, slots=True)
class OrderBody:
    """What an order is about; every event of it carries all of this."""

    order: str
    items: Mapping[str, int]
    total: int
    card: str
    placed_ms: int

    @classmethod
    def decode(cls, value: Mapping[str, Any]) -> OrderBody:
        return cls(value["order"], value["items"], value["total"], value["card"], value["placed"])

    def encode(self) -> dict[str, Any]:
        return {
            "order": self.order,
            "items": dict(self.items),
            "total": self.total,
            "card": self.card,
            "placed": self.placed_ms,
        }


def create_tables(sql: Statements, service: str, *, constraints: bool = True) -> None:
    outbox.create_table(sql)
    inbox.create_table(sql)
    for statement in (_STATE, *_TABLES[service]):
        sql.execute(statement if constraints else _unconstrained(statement))


def _unconstrained(statement: str) -> str:
    """For a planted fault: a database that lets a service reserve twice."""
    return statement.replace(" check (free >= 0)", "").replace(
        "held integer not null,\n    primary key (order_id, item)", "held integer not null"
    )


def fill_stock(sql: Statements, quantities: Mapping[str, int]) -> None:
    for item, quantity in quantities.items():
        sql.execute(
            "insert into stock values (?, ?, ?) on conflict do nothing", item, quantity, quantity
        )


def read_state(sql: Statements, order: str) -> str:
    rows = sql.execute("select state from saga_state where order_id = ?", order).rows
    return rows[0][0] if rows else NEW


def write_state(sql: Statements, body: OrderBody, state: str) -> None:
    sql.execute(
        "insert into saga_state values (?, ?, ?, ?, ?) on conflict (order_id)"
        " do update set state = excluded.state, changed_ms = excluded.changed_ms",
        *(body.order, state, json.dumps(body.encode()), body.placed_ms, _now_ms()),
    )


def answer(sql: Statements, question: str, body: OrderBody) -> bool:
    if question == "card accepted":
        return body.card == "good"
    return all(_free(sql, item) >= quantity for item, quantity in body.items.items())


def _free(sql: Statements, item: str) -> int:
    lock = " for update" if sql.postgresql else ""
    rows = sql.execute(f"select free from stock where item = ?{lock}", item).rows
    return rows[0][0] if rows else 0


def _reserve(sql: Statements, body: OrderBody) -> None:
    for item, quantity in sorted(body.items.items()):
        sql.execute("update stock set free = free - ? where item = ?", quantity, item)
        sql.execute("insert into reservation values (?, ?, ?, 1)", body.order, item, quantity)


def _release(sql: Statements, body: OrderBody) -> None:
    for item, quantity in sorted(body.items.items()):
        sql.execute("update stock set free = free + ? where item = ?", quantity, item)
    sql.execute("update reservation set held = 0 where order_id = ?", body.order)


def _charge(sql: Statements, body: OrderBody) -> None:
    sql.execute("insert into ledger values (?, 'charge', ?)", body.order, body.total)


def _refund(sql: Statements, body: OrderBody) -> None:
    sql.execute("insert into ledger values (?, 'refund', ?)", body.order, body.total)


def _ship(sql: Statements, body: OrderBody) -> None:
    sql.execute("insert into shipment values (?)", body.order)


def _notify(sql: Statements, body: OrderBody) -> None:
    sql.execute("insert into notice values (?, ?)", body.order, f"about your order {body.order}")


ACTIONS: Mapping[str, Callable[[Statements, OrderBody], None]] = {
    "reserve": _reserve,
    "release": _release,
    "charge": _charge,
    "refund": _refund,
    "ship": _ship,
    "notify": _notify,
}


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
