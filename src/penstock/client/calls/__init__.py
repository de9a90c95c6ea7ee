"""Calls to the outside that must happen: written down in the user's transaction, made by a worker.

    with engine.begin() as connection:
        if inbox.take(connection, "billing", message):
            calls.request(connection, "charge", order, key=inbox.idempotency_key(message, "charge"))

    calls.Worker(url, {"charge": calls.Kind(charge, done=paid, gave_up=refused)}).start()

A worker can die after the outside has done what was asked and before that is noted. Then the call
is made again, with the same key: an outside that knows the key does it once.
"""

from penstock.client.calls.request import Call, create_table, request, table_sql
from penstock.client.calls.worker import Kind, Worker

__all__ = ["Call", "Kind", "Worker", "create_table", "request", "table_sql"]
