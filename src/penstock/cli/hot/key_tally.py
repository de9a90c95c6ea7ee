"""Which keys make most of a partition, by its last records. Their values are not looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, cast

from penstock.cli.hot.facts import KeySample, KeyShare
from penstock.cli.leader_call import Leaders, fetch
from penstock.cli.operator.link import Link
from penstock.cli.operator.state import TopicPartition
from penstock.cli.wire_call import BrokerConnection, Unreachable
from penstock.model.error import ApiError
from penstock.records.header import Buffer, iter_batches
from penstock.records.record import Record, iter_records

RECORDS: Final = 2000
KEYS: Final = 10
_BYTES: Final = 1 << 20
_FETCHES_MAX: Final = 8


def sample_keys(link: Link, leaders: Leaders, place: TopicPartition, end: int) -> KeySample | None:
    """None where it cannot be read."""
    found = sample_records(link, leaders, place, end, RECORDS)
    return tally(place, found) if found else None


def sample_records(
    link: Link, leaders: Leaders, place: TopicPartition, end: int, count: int
) -> list[Record]:
    """The last ones; none of a partition that cannot be read."""
    address = leaders.by_place.get(place)
    if address is None:
        return []
    offset = max(end - count, 0)
    found: list[Record] = []
    try:
        with BrokerConnection(link.connect, *address) as connection:
            for _ in range(_FETCHES_MAX):
                if offset >= end or len(found) >= count:
                    break
                records, reached = _read(connection, place, offset)
                found += records
                if reached <= offset:
                    break
                offset = reached
    except (Unreachable, ApiError):
        pass
    return found


def _read(
    connection: BrokerConnection, place: TopicPartition, offset: int
) -> tuple[list[Record], int]:
    answer = fetch(connection, {place: offset}, bytes_max=_BYTES, partition_bytes_max=_BYTES)
    data = answer.get(place)
    if data is None or data.error_code or not data.records:
        # Deleted from below the tail meanwhile, or compacted: what is there says enough.
        return [], offset
    found: list[Record] = []
    with memoryview(cast("Buffer", data.records)) as view:
        for position, header in iter_batches(view, 0, len(view)):
            if not header.is_control:
                found += iter_records(bytes(view[position : position + header.size]))
            reached = header.next_offset
    return [each for each in found if each.offset >= offset], reached


def tally(place: TopicPartition, records: Iterable[Record]) -> KeySample:
    sizes: Counter[bytes | None] = Counter()
    counts: Counter[bytes | None] = Counter()
    for each in records:
        sizes[each.key] += len(each.key or b"") + len(each.value or b"")
        counts[each.key] += 1
    total = sizes.total() or 1
    keys = tuple(KeyShare(key, counts[key], size / total) for key, size in sizes.most_common(KEYS))
    return KeySample(place, counts.total(), keys)
