"""The inbox: what a record changes in the user's database is changed once.

    with engine.begin() as connection:
        if inbox.take(connection, "billing", message):
            connection.execute(...)

The mirror of the outbox: that the record was dealt with is noted in the transaction that deals with
it. By event id (`take`: any order, any number of threads) or by position (`advance`: each
partition in order, and no row for each event).
"""

from penstock.client.inbox.identity import event_id, idempotency_key
from penstock.client.inbox.table import create_table, table_sql
from penstock.client.inbox.take import advance, forget, positions, take
from penstock.client.inbox.window import Window

__all__ = [
    "Window",
    "advance",
    "create_table",
    "event_id",
    "forget",
    "idempotency_key",
    "positions",
    "table_sql",
    "take",
]
