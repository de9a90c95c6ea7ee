"""Checks what clients did and saw against what Kafka promises them.

    violations = check([Produce(...), Poll(...), ...])

Pure: it never asks a broker, and it finds nothing wrong in any history that a correct one may give,
however often clients and brokers died. It judges records that stay: nothing retained or compacted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from penstock.testing.history_event import (
    Assign,
    Begin,
    Commit,
    End,
    Event,
    Outcome,
    Poll,
    Produce,
    Seen,
)
from penstock.testing.history_index import Fate, History
from penstock.testing.history_log import Recorder, load
from penstock.testing.history_offset import stale_positions
from penstock.testing.history_view import Place, matches

__all__ = [
    "Assign",
    "Begin",
    "Commit",
    "End",
    "Event",
    "Fault",
    "Outcome",
    "Poll",
    "Produce",
    "Recorder",
    "Seen",
    "Violation",
    "check",
    "load",
]


class Fault(Enum):
    LOST = "lost"
    """An acknowledged write that readers passed by."""
    VANISHED = "vanished"
    """A record that one reader had seen when another found the partition to end before it."""
    ABORTED_READ = "aborted read"
    """A record that failed or whose transaction did not commit, seen by a read_committed reader."""
    TORN = "torn transaction"
    """One part of a transaction is visible, another is not."""
    DUPLICATE = "duplicate"
    SKIPPED = "skipped"
    """A consumer went over a record that was there for it."""
    BACKWARDS = "backwards"
    """A consumer got what it had already got, without having been moved."""
    REORDERED = "reordered"
    """Writes of one producer stand in another order than it made them."""
    DIVERGED = "diverged"
    """Two values at one offset, or a record elsewhere than acknowledged."""
    FOREIGN = "foreign"
    """A record that nobody wrote."""
    STALE_OFFSET = "stale offset"
    """A group started from another position than its last commit."""


class Violation(NamedTuple):
    fault: Fault
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.fault.value}: {self.where}: {self.detail}"


Problem = tuple[Fault, object, str]


def check(events: Iterable[Event]) -> list[Violation]:
    """What is wrong with a history; each process's own events must be in their order."""
    history = History(events)
    problems = [
        *_lost(history),
        *_vanished(history),
        *_unreadable(history),
        *_torn(history),
        *_duplicates(history),
        *_reordered(history),
        *_diverged(history),
        *_polls(history),
        *((Fault.STALE_OFFSET, where, detail) for where, detail in stale_positions(history)),
    ]
    return [Violation(fault, _name(where), detail) for fault, where, detail in problems]


def _name(where: object) -> str:
    return f"{where[0]}-{where[1]}" if isinstance(where, tuple) else str(where)


def _lost(history: History) -> Iterator[Problem]:
    for write in history.writes:
        if history.fate(write) is Fate.HAPPENED and history.is_gone(write):
            at = "" if write.offset is None else f" at offset {write.offset}"
            yield Fault.LOST, write.partition, f"{write.value!r} was acknowledged{at}"


def _vanished(history: History) -> Iterator[Problem]:
    for reader in history.readers:
        for end in reader.ends:
            view = history.committed if end.committed_only else history.everything
            for place in view.behind(reader.partition, end.offset, end.since_s):
                detail = (
                    f"{view.records[place].value!r} at offset {place.offset} had been seen when "
                )
                yield (
                    Fault.VANISHED,
                    reader.partition,
                    f"{detail}{reader.process} found the end at {end.offset}",
                )


def _unreadable(history: History) -> Iterator[Problem]:
    for place, seen in history.everything.records.items():
        tries = history.tries_of(place, seen)
        if not tries:
            detail = f"offset {place.offset} holds {seen.value!r}"
            yield Fault.FOREIGN, place.partition, detail
        elif _must_not_be_seen(history, tries, place in history.committed.records):
            detail = f"{seen.value!r} at offset {place.offset} did not commit"
            yield Fault.ABORTED_READ, place.partition, detail


def _must_not_be_seen(history: History, tries: list[Produce], by_committed: bool) -> bool:
    if by_committed:
        return all(history.fate(write) is Fate.NEVER for write in tries)
    return all(write.outcome is Outcome.FAILED for write in tries)


def _torn(history: History) -> Iterator[Problem]:
    for name, writes in history.transactions().items():
        visible = [write for write in writes if history.is_visible(write)]
        hidden = [write for write in writes if history.is_hidden(write)]
        if visible and hidden:
            detail = f"{visible[0].value!r} is visible, {hidden[0].value!r} is not"
            yield Fault.TORN, name, detail


def _duplicates(history: History) -> Iterator[Problem]:
    first: dict[tuple[str, str], Place] = {}
    for place, seen in sorted(history.committed.records.items()):
        before = first.setdefault((place.partition.topic, seen.value), place)
        if before != place:
            detail = f"{seen.value!r} at offset {place.offset} and at {_name(before.partition)}"
            yield Fault.DUPLICATE, place.partition, f"{detail} offset {before.offset}"


def _reordered(history: History) -> Iterator[Problem]:
    latest: dict[tuple[str, object], tuple[int, str]] = defaultdict(lambda: (-1, ""))
    for write in history.writes:
        offset = history.offset_of(write)
        if offset is None:
            continue
        lane = (write.process, write.partition)
        if offset < latest[lane][0]:
            detail = f"{write.value!r} at offset {offset} was sent after {latest[lane][1]!r}"
            yield Fault.REORDERED, write.partition, f"{detail} at {latest[lane][0]}"
        latest[lane] = max(latest[lane], (offset, write.value))


def _diverged(history: History) -> Iterator[Problem]:
    for place, one, other in history.everything.conflicts:
        detail = f"offset {place.offset} holds {one.value!r} and {other.value!r}"
        yield Fault.DIVERGED, place.partition, detail
    for write in history.writes:
        if write.offset is None or write.outcome is not Outcome.OK:
            continue
        seen = history.everything.at(write.partition, write.offset)
        if seen is not None and not matches(write, seen):
            detail = f"{write.value!r} was acknowledged at offset {write.offset}, "
            yield Fault.DIVERGED, write.partition, detail + f"where {seen.value!r} stands"


def _polls(history: History) -> Iterator[Problem]:
    """Each consumer against everything that is known to lie between two of its records."""
    for reader in history.readers:
        position = reader.position
        for offset in reader.offsets:
            if position is not None and offset < position:
                detail = f"{reader.process} got offset {offset} when it stood at {position}"
                yield Fault.BACKWARDS, reader.partition, detail
            elif position is not None:
                for skipped in history.committed.between(reader.partition, position, offset):
                    detail = f"{reader.process} went from {position} to {offset}"
                    yield Fault.SKIPPED, reader.partition, f"{detail}, over {skipped.value!r}"
            position = offset + 1
