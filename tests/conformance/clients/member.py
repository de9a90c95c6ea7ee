"""One member of a consumer group, kept alive by a thread of its own, whatever client it uses.

A group only moves while its members poll. Each member therefore polls in its own thread, and a
test asks it questions there: clients must not be called from two threads.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from tests.conformance.clients.record import PATIENCE_SECONDS, BrokerError, Record

Place = tuple[str, int]  # a topic and a partition
T = TypeVar("T")


@dataclass(frozen=True)
class Committed:
    offset: int
    metadata: str = ""


@dataclass(frozen=True)
class Joining:
    """How a consumer comes to its partitions. Without topics and pattern it is a simple one."""

    group: str
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    strategies: tuple[str, ...] = ("range",)
    instance: str | None = None
    session_ms: int = 10_000
    poll_interval_ms: int = 60_000
    reset: str = "earliest"
    auto_commit: bool = False
    poll_ms: int = 50
    protocol: str = "classic"
    """Or "consumer": then the broker assigns, by the assignor named here or its own default."""
    assignor: str | None = None


class GroupConsumer(Protocol):
    name: str
    strategies: Iterable[str]
    events: list[tuple[str, frozenset[Place]]]

    def poll(self) -> list[tuple[Place, Record]]: ...

    def idle(self) -> None:
        """Let time go by without a poll, as an application does that is busy."""
        ...

    def assignment(self) -> set[Place]: ...

    def assign(self, places: Mapping[Place, int | None]) -> None: ...

    def commit(self, offsets: Mapping[Place, Committed] | None = None) -> None:
        """Without offsets: whatever was read."""
        ...

    def commit_async(self, offsets: Mapping[Place, Committed]) -> Callable[[], bool]:
        """A question whether the answer came, to be asked between polls."""
        ...

    def committed(self, places: Iterable[Place]) -> dict[Place, Committed | None]: ...

    def position(self, place: Place) -> int: ...

    def close(self) -> None: ...


@dataclass
class Member:
    """`received` and `failure` are what the thread saw last."""

    make: Callable[[], GroupConsumer]
    received: list[tuple[Place, Record]] = field(default_factory=list)
    failure: BrokerError | None = None
    polling: bool = True

    def __post_init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[GroupConsumer], Any], Future[Any]]] = (
            queue.SimpleQueue()
        )
        self._ending = threading.Event()
        self._ready: Future[GroupConsumer] = Future()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.consumer = self._ready.result(PATIENCE_SECONDS)

    @property
    def assigned(self) -> set[Place]:
        if self.failure is not None or self._ending.is_set():
            return set()
        return self.consumer.assignment()

    def ask(self, job: Callable[[GroupConsumer], T]) -> T:
        future: Future[T] = Future()
        self._jobs.put((job, future))
        return future.result(PATIENCE_SECONDS)

    def assign(self, places: Mapping[Place, int | None]) -> None:
        """For a simple consumer: read these from here on (None: from the committed offset)."""
        self.ask(lambda consumer: consumer.assign(places))
        self.polling = True

    def events(self) -> list[tuple[str, frozenset[Place]]]:
        return list(self.consumer.events)

    def values(self) -> list[bytes | None]:
        return [record.value for _, record in list(self.received)]

    def end(self) -> None:
        self._ending.set()

    def close(self) -> None:
        """Close the consumer as an application does; most leave their group by that."""
        self.end()
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "the consumer did not close"

    def _run(self) -> None:
        try:
            consumer = self.make()
        except BaseException as error:
            self._ready.set_exception(error)
            return
        self._ready.set_result(consumer)
        try:
            while not self._ending.is_set():
                self._turn(consumer)
        finally:
            consumer.close()

    def _turn(self, consumer: GroupConsumer) -> None:
        while not self._jobs.empty():
            job, future = self._jobs.get()
            try:
                future.set_result(job(consumer))
            except BaseException as error:
                future.set_exception(error)
        try:
            if self.polling and self.failure is None:
                self.received += consumer.poll()
            else:
                consumer.idle()
        except BrokerError as error:
            self.failure = error
