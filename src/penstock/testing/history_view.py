"""What readers of one kind saw of the partitions, taken together."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from penstock.model.id import TopicPartition
from penstock.testing.history_event import Poll, Produce, Seen


class Place(NamedTuple):
    partition: TopicPartition
    offset: int


class View:
    def __init__(self) -> None:
        self.records: dict[Place, Seen] = {}
        self.conflicts: list[tuple[Place, Seen, Seen]] = []
        self._offsets: dict[TopicPartition, list[int]] = defaultdict(list)
        self._places: dict[tuple[TopicPartition, str], list[Place]] = defaultdict(list)
        self._ends_s: dict[TopicPartition, float] = {}
        self._seen_s: dict[Place, float] = {}

    def add(self, poll: Poll) -> None:
        for record in poll.records:
            self._see(Place(poll.partition, record.offset), record, poll.ended_s)
        if poll.at_end:
            before = self._ends_s.get(poll.partition, poll.began_s)
            self._ends_s[poll.partition] = max(before, poll.began_s)

    def _see(self, place: Place, record: Seen, when_s: float) -> None:
        known = self.records.setdefault(place, record)
        self._seen_s[place] = min(when_s, self._seen_s.get(place, when_s))
        if known is record:
            insort(self._offsets[place.partition], place.offset)
            self._places[place.partition, record.value].append(place)
        elif known != record:
            self.conflicts.append((place, known, record))

    def at(self, partition: TopicPartition, offset: int) -> Seen | None:
        return self.records.get(Place(partition, offset))

    def between(self, partition: TopicPartition, start: int, end: int) -> Iterator[Seen]:
        """Records known to lie in a half-open range of offsets."""
        offsets = self._offsets[partition]
        for offset in offsets[bisect_left(offsets, start) : bisect_left(offsets, end)]:
            yield self.records[Place(partition, offset)]

    def behind(self, partition: TopicPartition, end: int, before_s: float) -> Iterator[Place]:
        """Records from an offset on that somebody had seen by then."""
        offsets = self._offsets[partition]
        for offset in offsets[bisect_left(offsets, end) :]:
            place = Place(partition, offset)
            if self._seen_s[place] <= before_s:
                yield place

    def places_of(self, write: Produce) -> list[Place]:
        """Where this write can be meant: at the acknowledged offset, if there is one."""
        places = self._places.get((write.partition, write.value), [])
        return [
            place
            for place in places
            if write.offset in (None, place.offset) and matches(write, self.records[place])
        ]

    def misses(self, write: Produce, settled_s: float) -> bool:
        """Whether readers went past the place where it would stand, and nobody saw it."""
        if self.places_of(write):
            return False
        offsets = self._offsets.get(write.partition)
        if write.offset is not None and offsets and offsets[-1] >= write.offset:
            return True
        end_s = self._ends_s.get(write.partition)
        return end_s is not None and end_s >= settled_s


def matches(write: Produce, seen: Seen) -> bool:
    known = seen.transaction is not None and write.transaction is not None
    return write.value == seen.value and (not known or write.transaction == seen.transaction)
