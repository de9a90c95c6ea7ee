"""Reading the log of a shard at its start without decoding what was overwritten since.

A record tells all of its transactional id, so of each key only the last counts: most records of a
log that was not compacted yet belong to transactions long ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from penstock.transaction.record import TransactionRecord
from penstock.transaction.wire import decode_record


class RawRecord(NamedTuple):
    offset: int
    key: bytes
    value: bytes | None


def last_of_each_key(records: Iterable[RawRecord]) -> Iterator[tuple[int, TransactionRecord]]:
    """Records in the order of the log go in, what a shard needs to replay comes out."""
    last: dict[bytes, RawRecord] = {}
    for record in records:
        # Taken out first, so that the dict's order is that of the last occurrences.
        last.pop(record.key, None)
        last[record.key] = record
    for raw in last.values():
        decoded = decode_record(raw.key, raw.value)
        if decoded is not None:
            yield raw.offset, decoded
