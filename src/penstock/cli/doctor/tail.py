"""The last records of a topic, by which a rule tells a backfill from a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Final

from penstock.cli.failure import Failure
from penstock.cli.leader_call import (
    EARLIEST,
    LATEST,
    Leaders,
    Place,
    leaders_of,
    list_offsets,
    read_metadata,
)
from penstock.cli.operator.link import Link
from penstock.cli.partition_record import iter_partition
from penstock.cli.wire_call import BrokerConnection
from penstock.records.record import Record

_PARTITIONS_MAX: Final = 8
_RECORDS: Final = 200
"""Of each partition."""
_OLD_S: Final = 600.0
_SAME_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Tail:
    records: int
    age_s: float
    """By their own time stamps, the median."""
    key: bytes | None
    """The most frequent one."""
    key_share: float
    same_share: float
    """Of the most frequent pair of key and value."""

    @property
    def is_backfill(self) -> bool:
        return self.age_s >= _OLD_S

    @property
    def is_loop(self) -> bool:
        return self.same_share >= _SAME_SHARE


def tail_of(records: Iterable[Record], now_ms: int) -> Tail | None:
    found = list(records)
    if not found:
        return None
    keys = Counter(each.key for each in found)
    pairs = Counter((each.key, each.value) for each in found)
    (key, most), (_, same) = keys.most_common(1)[0], pairs.most_common(1)[0]
    age_ms = median(now_ms - each.timestamp for each in found)
    return Tail(len(found), age_ms / 1000, key, most / len(found), same / len(found))


def read_tails(link: Link, topics: Iterable[str], now_ms: int) -> dict[str, Tail]:
    """A topic that cannot be read, or has nothing, is left out."""
    names = list(topics)
    if not names:
        return {}
    leaders = leaders_of(read_metadata(link, names))
    found = {}
    for topic in names:
        try:
            tail = tail_of(_last(link, leaders, leaders.places(topic)[:_PARTITIONS_MAX]), now_ms)
        except Failure:
            continue
        if tail is not None:
            found[topic] = tail
    return found


def _last(link: Link, leaders: Leaders, places: list[Place]) -> Iterable[Record]:
    starts = list_offsets(link, leaders, places, EARLIEST)
    ends = list_offsets(link, leaders, places, LATEST)
    for place in places:
        end = ends.get(place, 0)
        first = max(starts.get(place, 0), end - _RECORDS)
        if first < end:
            with BrokerConnection(link.connect, *leaders.by_place[place]) as connection:
                yield from iter_partition(connection, place, first, end)
