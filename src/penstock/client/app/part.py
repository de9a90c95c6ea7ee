"""A partition that is assigned to this process, and a record of it that is worked on."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Hashable
from typing import Any

from confluent_kafka import TopicPartition

from penstock.client.app.progress import Progress
from penstock.client.app.suspicion import InHand, Suspicion

_numbers = itertools.count()


class Part:
    """From one assignment to its end; the next assignment of the same partition is another."""

    __slots__ = (
        "backlog",
        "careful",
        "delay",
        "gone",
        "in_hand",
        "noted",
        "number",
        "origin",
        "outputs",
        "partition",
        "progress",
        "returns",
        "shelf",
        "suspicion",
        "topic",
        "waits",
    )

    def __init__(self, topic: str, partition: int, progress: Progress) -> None:
        self.number = next(_numbers)
        self.topic = topic
        self.partition = partition
        self.progress = progress
        self.origin = topic
        """The topic that a retry topic is for."""
        self.delay: str | None = None
        """Of a retry topic."""
        self.shelf = 0
        self.gone = False
        self.waits = False
        """Paused until its next record is due; what still arrives is read again then."""
        self.returns = False
        """Due, and about to be read again."""
        self.suspicion: Suspicion | None = None
        self.in_hand: InHand | None = None
        self.noted: InHand | None = None
        """What is committed of that."""
        self.careful = 0
        """Records under way that may end the process."""
        self.outputs: list[Work] = []
        """Done, and what they send goes into the next transaction."""
        self.backlog: deque[Any] = deque()
        """What waits until the suspicion is over."""

    @property
    def place(self) -> tuple[str, int]:
        return (self.topic, self.partition)

    def commit(self, *, is_open: bool = True) -> TopicPartition:
        made = self.progress.commit(is_open=is_open, in_hand=self.in_hand if is_open else None)
        return TopicPartition(self.topic, self.partition, made.offset, made.metadata)


class Work:
    __slots__ = (
        "is_careful",
        "is_refused",
        "lane",
        "message",
        "offset",
        "outputs",
        "part",
        "tries",
    )

    def __init__(self, part: Part, offset: int, message: Any, lane: Hashable) -> None:
        self.part = part
        self.offset = offset
        self.message = message
        self.lane = lane
        self.outputs: list[Any] | None = None
        """What it sends, if that goes into a transaction."""
        self.is_refused = False
        """Whether what it sent could not be written, and its letter is to be."""
        self.is_careful = False
        """Whether it may be what ended the process before."""
        self.tries = 0
        """How often it has failed since it was read."""

    def __str__(self) -> str:
        return f"{self.part.topic}-{self.part.partition} offset {self.offset}"
