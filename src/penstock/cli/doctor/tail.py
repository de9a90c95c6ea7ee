"""The last records of a topic, by which a rule tells a backfill from a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
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
_RECORDS: Final = 500
_OLD_S: Final = 600.0
_SAME_SHARE: Final = 0.5

Written = Mapping[str, Mapping[Place, float]]
"""Records by partition, of topics that are to be looked into."""


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


def read_tails(link: Link, written: Written, now_ms: int) -> dict[str, Tail]:
    """Of what was written between the looks, from each partition its share. A topic that cannot be
    read is left out."""
    if not written:
        return {}
    leaders = leaders_of(read_metadata(link, list(written)))
    found = {}
    for topic, places in written.items():
        try:
            tail = tail_of(_last(link, leaders, _shares(places)), now_ms)
        except Failure:
            continue
        if tail is not None:
            found[topic] = tail
    return found


def _shares(places: Mapping[Place, float]) -> dict[Place, int]:
    """Records to look at: as many of each partition as it had of all."""
    busiest = sorted(places, key=lambda each: -places[each])[:_PARTITIONS_MAX]
    total = sum(places[each] for each in busiest)
    return {each: round(_RECORDS * places[each] / total) for each in busiest} if total else {}


def _last(link: Link, leaders: Leaders, counts: Mapping[Place, int]) -> Iterable[Record]:
    starts = list_offsets(link, leaders, counts, EARLIEST)
    ends = list_offsets(link, leaders, counts, LATEST)
    for place, count in counts.items():
        end = ends.get(place, 0)
        first = max(starts.get(place, 0), end - count)
        if first < end:
            with BrokerConnection(link.connect, *leaders.by_place[place]) as connection:
                yield from iter_partition(connection, place, first, end)
