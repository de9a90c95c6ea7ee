"""The partitions that this process has, and what is committed of them. Sends nothing itself.

It also knows which of them came from a process that crashed, and is careful with
their records until those that may have been at work then are through (`careful`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from confluent_kafka import TopicPartition

from penstock.client.app.declaration import Declaration
from penstock.client.app.desk import Assigned
from penstock.client.app.part import Part
from penstock.client.app.progress import Note, Progress, read_note
from penstock.client.app.suspicion import Suspicion


class Assignment:
    def __init__(self, declared: Declaration) -> None:
        self.parts: dict[tuple[str, int], Part] = {}
        self._declared = declared
        self._delayed = declared.delayed_topics
        even = len(set(declared.weights.values())) == 1
        self.weights = [1] if even else list(declared.weights.values())
        """A shelf of the lanes for each topic, or one for all where none goes before another."""
        self._shelves = {
            topic: 0 if even else place for place, topic in enumerate(declared.weights)
        }
        self._window = declared.commit_every + declared.concurrency

    def open_commits(self, came: Sequence[Assigned]) -> list[TopicPartition]:
        """The note that somebody is at work, before anything is handled."""
        if self._declared.delivery == "at-most-once":
            return []
        return [
            TopicPartition(each.topic, each.partition, each.position, _opened(each))
            for each in came
        ]

    def add(self, came: Assigned) -> Part:
        note = read_note(came.metadata, came.position)
        part = Part(came.topic, came.partition, Progress(came.position, note.finished))
        part.origin, part.delay = self._delayed.get(came.topic, (came.topic, None))
        part.shelf = self._shelves[part.origin]
        if note.is_open and self._declared.delivery != "at-most-once":
            part.in_hand = note.in_hand
            part.suspicion = Suspicion(note.in_hand, self._window, self._declared.concurrency)
        self.parts[part.place] = part
        return part

    def anew(self, part: Part, position: int) -> Part:
        """The partition starts over at an earlier place: its topic was made anew, or cut."""
        part.gone = True
        fresh = Part(part.topic, part.partition, Progress(position))
        fresh.origin, fresh.delay, fresh.shelf = part.origin, part.delay, part.shelf
        self.parts[part.place] = fresh
        return fresh

    def remove(self, places: Iterable[tuple[str, int]]) -> list[Part]:
        return [self.parts.pop(each) for each in places if each in self.parts]

    def dirty_commits(self) -> list[TopicPartition]:
        return [each.commit() for each in self.parts.values() if each.progress.is_dirty]

    def soil(self) -> None:
        """A commit failed: all is to be committed again."""
        for each in self.parts.values():
            each.progress.is_dirty = True


def _opened(came: Assigned) -> str:
    note: Note = read_note(came.metadata, came.position)
    progress = Progress(came.position, note.finished)
    return progress.commit(in_hand=note.in_hand).metadata
