"""Adding an event to the outbox, in the user's transaction. Sending it is the relay's."""

from __future__ import annotations

import time
import uuid
from typing import Any

from penstock.client.database import LOCKS, statements_of
from penstock.client.outbox.event import (
    encode_event_key,
    encode_event_value,
    keep_headers,
    order_hash,
    require_topic,
)
from penstock.client.record import Headers

_NAMES = "shard, event_id, topic, key, value, headers, created_ms"
_SHARD = "cast(? as integer) % (select cast(count(*) as integer) from penstock_outbox_shard)"
_ADD_SQLITE = f"insert into penstock_outbox ({_NAMES}) values ({_SHARD}, ?, ?, ?, ?, ?, ?)"
_TYPED = "?::text, ?::text, ?::bytea, ?::bytea, ?::text, ?::bigint"
_ADD_POSTGRES = f"insert into penstock_outbox ({_NAMES}) select {_SHARD}, {_TYPED}"
# The id is taken after the lock: whoever adds an event of this key next waits until this
# transaction has ended, and so has a later id and a later commit.
_IN_ORDER = f"{_ADD_POSTGRES} from (select pg_advisory_xact_lock(?, ?)) as held"


def add(
    connection: Any,
    topic: str,
    key: str | bytes | None,
    value: Any,
    *,
    headers: Headers | None = None,
    event_id: str | None = None,
) -> str:
    """Add an event that is sent if, and only if, the connection's transaction is committed.

    Returns the id of the event, which goes along as the header `penstock.event.id`. Bytes are sent
    as they are, everything else as JSON, None as a tombstone. Events of one key are sent in the
    order of their transactions' commits: in PostgreSQL the key is locked until the transaction
    ends, so change your own rows first. Events without a key have no order.
    """
    require_topic(topic)
    event = event_id or str(uuid.uuid4())
    encoded_key = encode_event_key(key)
    spread = order_hash(topic, event.encode() if encoded_key is None else encoded_key)
    row = (
        spread,
        event,
        topic,
        encoded_key,
        encode_event_value(value),
        keep_headers(headers),
        time.time_ns() // 1_000_000,
    )
    database = statements_of(connection)
    if not database.postgresql:
        database.execute(_ADD_SQLITE, *row)
    elif encoded_key is None:
        database.execute(_ADD_POSTGRES, *row)
    else:
        database.execute(_IN_ORDER, *row, LOCKS, spread)
    return event
