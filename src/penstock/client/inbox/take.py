"""Taking records in the user's transaction: each once, by its event id or by its position."""

from __future__ import annotations

import time
from typing import Any

from penstock.client.database import statements_of
from penstock.client.inbox.identity import Received, event_id

_TAKE = (
    "insert into penstock_inbox (consumer, event, seen_ms) values (?, ?, ?) on conflict do nothing"
)
_ADVANCE = (
    "insert into penstock_inbox_position (consumer, topic, partition, next_offset)"
    " values (?, ?, ?, ?) on conflict (consumer, topic, partition)"
    " do update set next_offset = excluded.next_offset"
    " where penstock_inbox_position.next_offset < excluded.next_offset"
)


def take(connection: Any, consumer: str, message: Received) -> bool:
    """Whether this is the first time that `consumer` takes the event; False: leave it alone.

    Both the note and your changes are committed, or neither. Somebody else who takes the same event
    at the same moment waits for the end of your transaction.
    """
    row = (consumer, event_id(message), _now_ms())
    return statements_of(connection).execute(_TAKE, *row).count == 1


def advance(connection: Any, consumer: str, message: Received) -> bool:
    """As `take`, by position: False if `consumer` is past this record already.

    For consumers that deal with the records of a partition one after another. A record read again
    is known, also by a process that has lost the partition meanwhile; an event that was sent
    twice is not.
    """
    row = (consumer, message.topic, message.partition, message.offset + 1)
    return statements_of(connection).execute(_ADVANCE, *row).count == 1


def positions(connection: Any, consumer: str) -> dict[tuple[str, int], int]:
    """Where `advance` is in each partition: the offset to read next. The committed offsets of the
    group can be older, never newer if they are committed after the transaction."""
    rows = (
        statements_of(connection)
        .execute(
            "select topic, partition, next_offset from penstock_inbox_position where consumer = ?",
            consumer,
        )
        .rows
    )
    return {(topic, partition): offset for topic, partition, offset in rows}


def forget(connection: Any, older_than_s: float) -> int:
    """Remove events that were taken longer ago, and return how many; one that comes again after
    that is new. Keep them for longer than anything can be sent or read again."""
    limit = _now_ms() - int(older_than_s * 1000)
    statement = "delete from penstock_inbox where seen_ms < ?"
    return statements_of(connection).execute(statement, limit).count


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
