"""What the group gives us and takes away: rebalances, answered inside of poll.

A partition that comes is looked up first: where it was committed, and what is known of it. One
that goes is drained in the event loop first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from confluent_kafka import KafkaException, TopicPartition

from penstock.client.app.declaration import Declaration
from penstock.client.app.desk import Assigned, Desk
from penstock.client.app.log import LOG

_ANSWER_S = 10.0


class Reader(Protocol):
    """The thread that reads."""

    consumer: Any
    is_stopping: bool

    def commit_now(self, offsets: Sequence[TopicPartition]) -> bool: ...
    def seat(self, starts: list[TopicPartition]) -> None: ...
    def unseat(self, places: Sequence[tuple[str, int]]) -> None: ...
    def rest(self) -> None: ...


class Membership:
    def __init__(
        self,
        declaration: Declaration,
        loop: asyncio.AbstractEventLoop,
        desk: Desk,
        reader: Reader,
    ) -> None:
        self._declaration = declaration
        self._loop = loop
        self._desk = desk
        self._reader = reader
        self.rebalances = 0
        self.is_assigned = False
        """Whether the group has told what is ours, were it nothing."""
        self.group_metadata: Any = None
        """For transactions: who in the group we are."""

    def on_assign(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        self.rebalances += 1
        self.is_assigned = True
        self.group_metadata = consumer.consumer_group_metadata()
        if not partitions:
            return
        found = [self._known(each) for each in self._committed(partitions)]
        self._reader.commit_now(self._desk.open_commits(found))
        self._loop.call_soon_threadsafe(self._desk.assign, found)
        self._reader.seat(
            [TopicPartition(each.topic, each.partition, each.position) for each in found]
        )

    def on_revoke(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        self._give_up(partitions, lost=False)

    def on_lost(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        self._give_up(partitions, lost=True)

    def _give_up(self, partitions: list[TopicPartition], *, lost: bool) -> None:
        self.rebalances += 1
        if self._reader.is_stopping or not partitions:
            return
        places = [(each.topic, each.partition) for each in partitions]
        self._reader.unseat(places)
        self.group_metadata = self._reader.consumer.consumer_group_metadata()
        waiting = asyncio.run_coroutine_threadsafe(self._desk.drain(places, lost=lost), self._loop)
        commits = waiting.result()
        if not lost:
            self._reader.commit_now(commits)

    def _committed(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        while True:
            try:
                answer: list[TopicPartition] = self._reader.consumer.committed(
                    partitions, timeout=_ANSWER_S
                )
                if all(each.error is None for each in answer):
                    return answer
                reason = next(str(each.error) for each in answer if each.error is not None)
            except KafkaException as error:
                reason = reason_of(error)
            if self._reader.is_stopping:
                return partitions
            LOG.warning("%s: committed offsets: %s", self._declaration.group, reason)
            self._reader.rest()

    def _known(self, place: TopicPartition) -> Assigned:
        position = place.offset
        if position < 0:
            position = self._first(place)
        return Assigned(place.topic, place.partition, position, place.metadata)

    def _first(self, place: TopicPartition) -> int:
        """Where a group starts that has committed nothing."""
        while not self._reader.is_stopping:
            try:
                low, high = self._reader.consumer.get_watermark_offsets(place, timeout=_ANSWER_S)
                return int(low if self._declaration.start == "earliest" else high)
            except KafkaException as error:
                LOG.warning("%s: %s: %s", self._declaration.group, place, reason_of(error))
                self._reader.rest()
        return 0


def reason_of(error: KafkaException) -> str:
    return str(error.args[0].str() if error.args else error)
