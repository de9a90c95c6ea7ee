"""The outbox: an event is sent if, and only if, the transaction that added it is committed.

    with engine.begin() as connection:
        connection.execute(...)
        outbox.add(connection, "orders.placed", order.id, {"total": 95})

A relay (`penstock outbox relay`, or `Relay` in a process of your own) sends the events, in order
per key. It is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.client.outbox.add import add
from penstock.client.outbox.event import EVENT_ID
from penstock.client.outbox.table import create_table, table_sql

if TYPE_CHECKING:
    from penstock.client.outbox.relay import Relay

__all__ = ["EVENT_ID", "Relay", "add", "create_table", "table_sql"]


def __getattr__(name: str) -> Any:
    if name == "Relay":
        from penstock.client.outbox.relay import Relay

        return Relay
    raise AttributeError(name)
