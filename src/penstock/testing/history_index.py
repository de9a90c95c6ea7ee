"""A history put in order: what became of each write, and what was seen of it.

Draws conclusions only where there is no other; it never says what is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from penstock.model.id import TopicPartition
from penstock.testing.history_event import (
    Assign,
    Commit,
    End,
    Event,
    Outcome,
    Poll,
    Produce,
    Seen,
)
from penstock.testing.history_view import Place, View, matches


class Fate(Enum):
    HAPPENED = "happened"
    NEVER = "never"
    OPEN = "open"


class LogEnd(NamedTuple):
    """Where a reader found the end of a partition, and since when it must have been there."""

    offset: int
    since_s: float
    committed_only: bool


@dataclass(slots=True)
class Reader:
    """What one consumer got from one partition, between two moves."""

    process: str
    partition: TopicPartition
    position: int | None
    offsets: list[int] = field(default_factory=list)
    ends: list[LogEnd] = field(default_factory=list)


class History:
    def __init__(self, events: Iterable[Event]) -> None:
        self.readers: list[Reader] = []
        self.assigns: list[Assign] = []
        self.committed = View()
        self.everything = View()
        self._writes: dict[object, Produce] = {}
        self._commits: dict[object, Commit] = {}
        self._ends: dict[str, End] = {}
        self._reading: dict[tuple[str, TopicPartition], Reader] = {}
        for event in _timed(list(events)):
            self._add(event)
        self._tries: dict[tuple[TopicPartition, str], list[Produce]] = defaultdict(list)
        for write in self.writes:
            self._tries[write.partition, write.value].append(write)

    @property
    def writes(self) -> Iterable[Produce]:
        """In the order in which each process made them."""
        return self._writes.values()

    @property
    def commits(self) -> Iterable[Commit]:
        return self._commits.values()

    def _add(self, event: Event) -> None:
        # A later note takes the place of the first one, which keeps the order of the calls.
        match event:
            case Produce(process=process, transaction=name, partition=where, value=value):
                self._writes[process, name, where, value] = event
            case Commit(process=process, transaction=name, group=group, partition=where):
                self._commits[process, name, group, where, event.offset] = event
            case End(transaction=transaction):
                self._ends[transaction] = event
            case Assign():
                self.assigns.append(event)
                self._move(event)
            case Poll():
                self._read(event)

    def _move(self, event: Assign) -> None:
        reader = Reader(event.process, event.partition, event.position)
        self.readers.append(reader)
        self._reading[event.process, event.partition] = reader

    def _read(self, poll: Poll) -> None:
        key = (poll.process, poll.partition)
        if key not in self._reading:
            self._move(Assign(process=poll.process, partition=poll.partition))
        reader = self._reading[key]
        reader.offsets += [record.offset for record in poll.records]
        position = reader.offsets[-1] + 1 if reader.offsets else reader.position
        if poll.at_end and position is not None:
            reader.ends.append(LogEnd(position, poll.began_s, poll.committed_only))
        self.everything.add(poll)
        if poll.committed_only:
            self.committed.add(poll)

    def fate(self, event: Produce | Commit) -> Fate:
        if event.outcome is Outcome.FAILED:
            return Fate.NEVER
        ended = Fate.HAPPENED if event.transaction is None else self._ended(event.transaction)
        sure = event.outcome is Outcome.OK or ended is Fate.NEVER
        return ended if sure else Fate.OPEN

    def _ended(self, transaction: str) -> Fate:
        end = self._ends.get(transaction)
        if end is None or not end.commit or end.outcome is Outcome.FAILED:
            return Fate.NEVER
        return Fate.HAPPENED if end.outcome is Outcome.OK else Fate.OPEN

    def settled_s(self, event: Produce | Commit) -> float:
        """From when on everybody must see it."""
        end = self._ends.get(event.transaction) if event.transaction is not None else None
        return event.ended_s if end is None else max(event.ended_s, end.ended_s)

    def tries_of(self, place: Place, seen: Seen) -> list[Produce]:
        """The writes that this record can be; those that say so, if there are any."""
        tries = self._tries.get((place.partition, seen.value), [])
        tries = [write for write in tries if matches(write, seen)]
        exact = [write for write in tries if write.offset == place.offset]
        return exact or [write for write in tries if write.offset is None] or tries

    def offset_of(self, write: Produce) -> int | None:
        """Where it certainly stands: the only place it can be, and nothing else can be there."""
        places = self.everything.places_of(write)
        if len(places) != 1:
            return None
        seen = self.everything.records[places[0]]
        return places[0].offset if self.tries_of(places[0], seen) == [write] else None

    def is_visible(self, write: Produce) -> bool:
        """Whether a read_committed reader certainly saw this very write."""
        offset = self.offset_of(write)
        return offset is not None and self.committed.at(write.partition, offset) is not None

    def is_hidden(self, write: Produce) -> bool:
        """Whether read_committed readers certainly were where it would be, and did not see it."""
        return self.committed.misses(write, self.settled_s(write))

    def is_gone(self, write: Produce) -> bool:
        return self.is_hidden(write) or self.everything.misses(write, self.settled_s(write))

    def transactions(self) -> Mapping[str, list[Produce]]:
        found: dict[str, list[Produce]] = defaultdict(list)
        for write in self.writes:
            if write.transaction is not None:
                found[write.transaction].append(write)
        return found


def _timed(events: list[Event]) -> list[Event]:
    if any(event.began_s or event.ended_s for event in events):
        return events
    return [replace(one, began_s=when, ended_s=when) for when, one in enumerate(events)]
