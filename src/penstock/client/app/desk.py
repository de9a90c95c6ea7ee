"""What the thread that reads and the event loop say to each other."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from confluent_kafka import TopicPartition


class Assigned:
    """A partition that came, and what the group knows of it."""

    def __init__(self, topic: str, partition: int, position: int, metadata: str | None) -> None:
        self.topic = topic
        self.partition = partition
        self.position = position
        self.metadata = metadata


class Desk(Protocol):
    """The event loop's side; called there, except for `open_commits`."""

    def assign(self, parts: Sequence[Assigned]) -> None: ...
    def open_commits(self, parts: Sequence[Assigned]) -> list[TopicPartition]: ...
    def take(self, batch: Sequence[Any]) -> None: ...
    def drain(
        self, places: Sequence[tuple[str, int]], *, lost: bool
    ) -> Coroutine[Any, Any, list[TopicPartition]]: ...
    def soil(self) -> None: ...
    def fail(self, reason: str) -> None: ...
