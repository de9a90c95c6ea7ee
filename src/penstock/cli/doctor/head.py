"""The records at which a group stands: whether one of them is unlike the others.

Members commit after several records, so the one that they do not get past is seldom the one at the
committed offset: it is some further on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Final, NamedTuple

from penstock.cli.failure import Failure
from penstock.cli.leader_call import Place, leaders_of, read_metadata
from penstock.cli.operator.link import Link
from penstock.cli.output import human_bytes
from penstock.cli.partition_record import iter_partition
from penstock.cli.wire_call import BrokerConnection
from penstock.records.record import Record

RECORDS: Final = 200
_MIN: Final = 5
_USUAL_SHARE: Final = 0.8
_LARGE_FACTOR: Final = 20
_LARGE_BYTES: Final = 64 << 10


class Odd(NamedTuple):
    offset: int
    how: str
    """In what it is unlike the others."""
    records: int
    """That were looked at."""


def odd_of(records: Iterable[Record]) -> Odd | None:
    """The first of these that is unlike most of them."""
    found = list(records)
    if len(found) < _MIN:
        return None
    kinds = [_kind(each.value) for each in found]
    usual = max(set(kinds), key=kinds.count)
    if kinds.count(usual) < len(kinds):
        if kinds.count(usual) < _USUAL_SHARE * len(kinds):
            return None
        first = next(at for at, kind in enumerate(kinds) if kind != usual)
        return Odd(found[first].offset, f"{kinds[first]}, not {usual}", len(found))
    sizes = [len(each.value or b"") for each in found]
    bound = max(_LARGE_FACTOR * median(sizes), _LARGE_BYTES)
    large = next((at for at, size in enumerate(sizes) if size > bound), None)
    if large is None:
        return None
    how = f"{human_bytes(sizes[large])}, half of them are below {human_bytes(int(median(sizes)))}"
    return Odd(found[large].offset, how, len(found))


def _kind(value: bytes | None) -> str:
    if value is None:
        return "without a value"
    try:
        json.loads(value)
    except ValueError:
        return "bytes" if value[:1] < b" " or value[:1] > b"~" else "text"
    return "JSON"


def read_odd(link: Link, spots: Mapping[Place, int]) -> dict[Place, Odd]:
    """By partition, of the records from an offset on. What cannot be read is left out."""
    if not spots:
        return {}
    leaders = leaders_of(read_metadata(link, sorted({topic for topic, _ in spots})))
    found = {}
    for place, offset in spots.items():
        if place not in leaders.by_place:
            continue
        try:
            with BrokerConnection(link.connect, *leaders.by_place[place]) as connection:
                odd = odd_of(iter_partition(connection, place, offset, offset + RECORDS))
        except Failure:
            continue
        if odd is not None:
            found[place] = odd
    return found
