"""Reading the log of a shard at its start without decoding what was overwritten since.

Replay keeps of each key only the last record, which is why the log may be compacted. The same
holds for the part of it that was not compacted yet: of a million commits to a hundred thousand
partitions nine in ten need not be looked into.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from penstock.group.record import NO_PRODUCER, GroupEntry, TxnMarker
from penstock.group.wire import decode_record


class RawRecord(NamedTuple):
    offset: int
    key: bytes
    value: bytes | None


class RawTxnRecord(NamedTuple):
    """A record inside a transaction."""

    offset: int
    key: bytes
    value: bytes | None
    producer_id: int
    producer_epoch: int


def last_of_each_key(
    entries: Iterable[RawRecord | RawTxnRecord | tuple[int, TxnMarker]],
) -> Iterator[tuple[int, GroupEntry]]:
    """Entries in the order of the log go in; what a shard needs to replay comes out, in an order
    that leads to the same state. Transactions are kept as they are, since what they hold counts
    only with their markers; and so is a tombstone of what one of them wrote, since it takes back
    what waits for its marker too."""
    last: dict[bytes, RawRecord] = {}
    in_transactions: set[bytes] = set()
    for entry in entries:
        if isinstance(entry, RawRecord):
            # Taken out first, so that the dict's order is that of the last occurrences.
            last.pop(entry.key, None)
            last[entry.key] = entry
            if entry.value is None and entry.key in in_transactions:
                yield from _decoded(last)
                last = {}
            continue
        yield from _decoded(last)
        last = {}
        if isinstance(entry, RawTxnRecord):
            in_transactions.add(entry.key)
            record = decode_record(entry.key, entry.value, entry.producer_id, entry.producer_epoch)
            if record is not None:
                yield entry.offset, record
        else:
            yield entry
    yield from _decoded(last)


def _decoded(records: dict[bytes, RawRecord]) -> Iterator[tuple[int, GroupEntry]]:
    for raw in records.values():
        record = decode_record(raw.key, raw.value, NO_PRODUCER)
        if record is not None:
            yield raw.offset, record
