"""Reading the log of a shard at its start without decoding what was overwritten since.

A record tells all of its transactional id, so of each key only the last counts: most records of a
log that was not compacted yet belong to transactions long ended.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from penstock.model.error import ProtocolError
from penstock.transaction.record import TransactionRecord
from penstock.transaction.wire import decode_record

PassOver = Callable[[int, bytes, ProtocolError | None], None]
"""(offset, key, why) of a record that is not replayed; no reason for a type that is not known."""


class RawRecord(NamedTuple):
    offset: int
    key: bytes
    value: bytes | None


def last_of_each_key(
    records: Iterable[RawRecord], pass_over: PassOver, doubtful: Container[bytes] = ()
) -> Iterator[tuple[int, TransactionRecord]]:
    """Records in the order of the log go in, what a shard needs to replay comes out.

    A record that cannot be read hides the readable one of its key that came before. An owner that
    was told of one reads anew and names the key as `doubtful`: those are looked into one by one.
    """
    last: dict[bytes, RawRecord] = {}
    for record in records:
        if record.key in doubtful and _decoded(record, pass_over) is None:
            continue
        # Taken out first, so that the dict's order is that of the last occurrences.
        last.pop(record.key, None)
        last[record.key] = record
    for raw in last.values():
        decoded = _decoded(raw, pass_over)
        if decoded is not None:
            yield raw.offset, decoded


def _decoded(raw: RawRecord, pass_over: PassOver) -> TransactionRecord | None:
    try:
        record = decode_record(raw.key, raw.value)
    except ProtocolError as error:
        pass_over(raw.offset, raw.key, error)
        return None
    if record is None:
        pass_over(raw.offset, raw.key, None)
    return record
