"""The thread that reads: polls the consumer, and pauses it when memory is full.

It never runs a handler, so that no handler can cost the membership of the group. Records go to
the event loop in batches. `membership` answers rebalances, in this thread too.

All calls of the consumer are made in this thread: one from another waits until the poll under way
is over, with Python's global lock in its hands.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock.client.app.declaration import Declaration
from penstock.client.app.desk import Desk
from penstock.client.app.log import LOG
from penstock.client.app.membership import Membership, reason_of
from penstock.client.session import LOG as LIBRDKAFKA_LOG

_BATCH = 1000
_POLL_S = 0.1
_BRISK_POLL_S = 0.002
_ENDS_S = 1.0
_PASSING = (
    KafkaError._MAX_POLL_EXCEEDED,
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)


class Poller:
    def __init__(
        self,
        declaration: Declaration,
        settings: dict[str, Any],
        loop: asyncio.AbstractEventLoop,
        desk: Desk,
    ) -> None:
        self._declaration = declaration
        self._loop = loop
        self._desk = desk
        self.consumer = Consumer(
            settings | {"error_cb": self._on_error, "on_commit": self._on_commit},
            logger=LIBRDKAFKA_LOG,
        )
        self.commit_failures = 0
        self.handed = 0
        """Records given to the event loop, ever; the loop counts those it is done with."""
        self.done = 0
        self.ends: dict[tuple[str, int], int] = {}
        """End of each partition, as last heard."""
        self.eofs: dict[tuple[str, int], int] = {}
        """Where partitions ended when all before was handed over."""
        self.brisk = False
        """Somebody waits for what the thread is called for."""
        self.is_stopping = False
        self._room = threading.Event()
        self._full = False
        self.is_waiting = False
        """Nothing is read until some is done."""
        self._held: set[tuple[str, int]] = set()
        """Retry topics' partitions that are paused until something is due."""
        self._ends_due = 0.0
        self._calls: list[Callable[[], object]] = []
        self._said: set[str] = set()
        self.membership = Membership(declaration, loop, desk, self)
        self._thread = threading.Thread(target=self._run, name="penstock-poller", daemon=True)

    def start(self, topics: Sequence[str]) -> None:
        self.consumer.subscribe(
            list(topics),
            on_assign=self.membership.on_assign,
            on_revoke=self.membership.on_revoke,
            on_lost=self.membership.on_lost,
        )
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self, offsets: Sequence[TopicPartition]) -> None:
        """Commit and leave the group; blocks."""
        self.is_stopping = True
        self._room.set()
        self._thread.join()
        self.commit_now(offsets)
        self.consumer.close()

    def settle(self, count: int) -> None:
        """The loop is done with so many records."""
        self.done += count
        if self.is_waiting:
            self.make_room()

    def make_room(self) -> None:
        """The thread goes on when half of what it may hand over is done."""
        if self.handed - self.done <= self._declaration.buffer // 2:
            self.is_waiting = False
            self._room.set()

    def call(self, what: Callable[[], object]) -> None:
        """Have the thread do this between two polls."""
        self._calls.append(what)

    def hold(self, place: tuple[str, int], is_ours: Callable[[], bool]) -> None:
        """`is_ours`: whether it is assigned as it was when this was asked for. A rebalance may come
        first, and bring the partition back from another place on."""

        def pause() -> None:
            if not is_ours():
                return
            self._held.add(place)
            self._tried(lambda: self.consumer.pause([TopicPartition(*place)]), "pause")

        self.call(pause)

    def go_on(
        self,
        place: tuple[str, int],
        offset: int,
        is_ours: Callable[[], bool],
        then: Callable[[bool], None],
    ) -> None:
        """Read a partition that was held once more, from this offset on; `then` hears of it."""

        def seek() -> None:
            if not is_ours():
                return
            target = TopicPartition(*place, offset)
            done = self._tried(lambda: self.consumer.seek(target), "seek")
            # What was read before the seek is on its way to the loop, and dropped there.
            self._loop.call_soon_threadsafe(then, done)
            if done:
                self._held.discard(place)
            if done and not self._full:
                self._tried(lambda: self.consumer.resume([TopicPartition(*place)]), "resume")

        self.call(seek)

    def commit(self, offsets: Sequence[TopicPartition]) -> None:
        """Without waiting; a failure is counted, and the next commit holds what this one held."""
        commit = partial(self.consumer.commit, offsets=list(offsets), asynchronous=True)
        self.call(partial(self._tried, commit, "commit"))

    async def wait_committed(self, offsets: Sequence[TopicPartition]) -> bool:
        """Whether it was taken."""
        answer: asyncio.Future[bool] = self._loop.create_future()

        def commit() -> None:
            self._loop.call_soon_threadsafe(answer.set_result, self.commit_now(offsets))

        self.brisk = True
        self.call(commit)
        return await answer

    def commit_now(self, offsets: Sequence[TopicPartition]) -> bool:
        if not offsets:
            return True
        commit = partial(self.consumer.commit, offsets=list(offsets), asynchronous=False)
        return self._tried(commit, "commit")

    def _tried(self, call: Callable[[], Any], what: str) -> bool:
        try:
            call()
            return True
        except KafkaException as error:
            if what == "commit":
                self.commit_failures += 1
            LOG.warning("%s: %s refused: %s", self._declaration.group, what, reason_of(error))
        except RuntimeError:
            # Closed in the meantime.
            pass
        return False

    def _run(self) -> None:
        try:
            while not self.is_stopping:
                self._turn()
        except Exception as error:
            LOG.exception("%s: reading ended", self._declaration.group)
            self._loop.call_soon_threadsafe(self._desk.fail, f"reading ended: {error}")

    def _turn(self) -> None:
        while self._calls:
            self._calls.pop(0)()
        self._keep_room()
        self._look_at_ends()
        batch = self.consumer.consume(_BATCH, 0)
        if not batch:
            # A batch would be waited for until it is full; the first record is not.
            first = self.consumer.poll(_BRISK_POLL_S if self.brisk else _POLL_S)
            if first is None:
                return
            batch = [first]
        records = [each for each in batch if each.error() is None]
        if records:
            self._hand_over(records)
        if len(records) < len(batch):
            for each in batch:
                self._on_record_error(each)

    def _hand_over(self, records: Sequence[Any]) -> None:
        if self._declaration.delivery == "at-most-once":
            self._commit_first(records)
        self.handed += len(records)
        self._loop.call_soon_threadsafe(self._desk.take, records)

    def _look_at_ends(self) -> None:
        """What the last fetches said; nobody is asked."""
        now = time.monotonic()
        if now < self._ends_due:
            return
        self._ends_due = now + _ENDS_S
        for each in self.consumer.assignment():
            _, high = self.consumer.get_watermark_offsets(each, cached=True)
            if high >= 0:
                self.ends[each.topic, each.partition] = high

    def _commit_first(self, records: Sequence[Any]) -> None:
        ends: dict[tuple[str, int], int] = {}
        for each in records:
            ends[each.topic(), each.partition()] = each.offset() + 1
        offsets = [TopicPartition(*place, offset) for place, offset in ends.items()]
        while not self.is_stopping and not self.commit_now(offsets):
            self._room.wait(_POLL_S)

    def _keep_room(self) -> None:
        """A moment is waited for room: to pause and resume costs what was fetched ahead."""
        if self.handed - self.done < self._declaration.buffer:
            if self._full:
                self._full = False
                self._tried(lambda: self.consumer.resume(self._not_held()), "resume")
            return
        if not self._full:
            self._room.clear()
            self._full = self.is_waiting = True
            if self.handed - self.done > self._declaration.buffer // 2:
                self._room.wait(_POLL_S)
            self.is_waiting = False
            if self.handed - self.done < self._declaration.buffer:
                self._full = False
                return
            self._tried(lambda: self.consumer.pause(self.consumer.assignment()), "pause")

    def _not_held(self) -> list[TopicPartition]:
        assigned: list[TopicPartition] = self.consumer.assignment()
        return [each for each in assigned if (each.topic, each.partition) not in self._held]

    def seat(self, starts: list[TopicPartition]) -> None:
        """Partitions that came are read, or wait for room with the others.

        librdkafka remembers that a partition was paused when it was taken away, and would never
        read it again."""
        self.consumer.incremental_assign(starts)
        if self._full:
            self._tried(lambda: self.consumer.pause(starts), "pause")
        else:
            self._tried(lambda: self.consumer.resume(starts), "resume")

    def unseat(self, places: Sequence[tuple[str, int]]) -> None:
        self._held.difference_update(places)

    def rest(self) -> None:
        """A moment, unless it all ends."""
        self._room.wait(_POLL_S)

    # --- what librdkafka reports -------------------------------------------------------------

    def _on_commit(self, error: Any, _: Any) -> None:
        if error is not None:
            self.commit_failures += 1
            LOG.warning("%s: commit refused: %s", self._declaration.group, error.str())
            self._loop.call_soon_threadsafe(self._desk.soil)

    def _on_error(self, error: Any) -> None:
        if error.fatal() or error.code() == KafkaError._AUTHENTICATION:
            self._loop.call_soon_threadsafe(self._desk.fail, error.str())

    def _on_record_error(self, record: Any) -> None:
        error = record.error()
        if error is None:
            return
        if error.code() == KafkaError._PARTITION_EOF:
            # Behind what was read so far has gone to the loop.
            self._loop.call_soon_threadsafe(
                self.eofs.__setitem__, (record.topic(), record.partition()), record.offset()
            )
        elif error.fatal():
            self._loop.call_soon_threadsafe(self._desk.fail, error.str())
        elif error.code() not in _PASSING or error.str() not in self._said:
            self._said.add(error.str())
            LOG.warning("%s: %s", self._declaration.group, error.str())
