"""Reading the log of a shard at its start without decoding what was overwritten since.

Replay keeps of each key only the last record, which is why the log may be compacted. The same
holds for the part of it that was not compacted yet: of a million commits to a hundred thousand
partitions nine in ten need not be looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from penstock.group.classic.stored import group_of
from penstock.group.record import NO_PRODUCER, GroupEntry, GroupRecord, TxnMarker
from penstock.group.wire import decode_record
from penstock.model.error import ProtocolError
from penstock.protocol.messages.records.group_metadata import GroupMetadataValue

PassOver = Callable[[int, bytes, ProtocolError | None], None]
"""(offset, key, why) of a record that is not replayed; no reason for a type that is not known."""


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
    pass_over: PassOver,
    doubtful: Container[bytes] = (),
) -> Iterator[tuple[int, GroupEntry]]:
    """Entries in the order of the log go in; what a shard needs to replay comes out, in an order
    that leads to the same state. Transactions are kept as they are, since what they hold counts
    only with their markers; and so is a tombstone of what one of them wrote, since it takes back
    what waits for its marker too.

    A record that cannot be read hides the readable one of its key that came before. An owner that
    was told of one reads anew and names the key as `doubtful`: those are looked into one by one.
    """
    last: dict[bytes, RawRecord] = {}
    in_transactions: set[bytes] = set()
    for entry in entries:
        if isinstance(entry, RawRecord):
            if entry.key in doubtful and _decoded(entry, pass_over) is None:
                continue
            # Taken out first, so that the dict's order is that of the last occurrences.
            last.pop(entry.key, None)
            last[entry.key] = entry
            if entry.value is None and entry.key in in_transactions:
                yield from _all_decoded(last, pass_over)
                last = {}
            continue
        yield from _all_decoded(last, pass_over)
        last = {}
        if isinstance(entry, RawTxnRecord):
            in_transactions.add(entry.key)
            record = _decoded(entry, pass_over)
            if record is not None:
                yield entry.offset, record
        else:
            yield entry
    yield from _all_decoded(last, pass_over)


def _all_decoded(
    records: dict[bytes, RawRecord], pass_over: PassOver
) -> Iterator[tuple[int, GroupEntry]]:
    for raw in records.values():
        record = _decoded(raw, pass_over)
        if record is not None:
            yield raw.offset, record


def _decoded(raw: RawRecord | RawTxnRecord, pass_over: PassOver) -> GroupRecord | None:
    try:
        if isinstance(raw, RawTxnRecord):
            record = decode_record(raw.key, raw.value, raw.producer_id, raw.producer_epoch)
        else:
            record = decode_record(raw.key, raw.value, NO_PRODUCER)
            _check_group(record)
    except ProtocolError as error:
        pass_over(raw.offset, raw.key, error)
        return None
    if record is None:
        pass_over(raw.offset, raw.key, None)
    return record


def _check_group(record: GroupRecord | None) -> None:
    """A group is built from its record when it is first asked for, with all others waiting: one
    that contradicts itself is found out now."""
    if record is None or not isinstance(record.value, GroupMetadataValue):
        return
    try:
        group_of(record.key.group, record.value)  # type: ignore[union-attr]
    except Exception as error:
        raise ProtocolError(f"a group that cannot be: {error}") from error
