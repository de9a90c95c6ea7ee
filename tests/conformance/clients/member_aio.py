"""aiokafka as a member of a consumer group: its event loop runs while the member polls or idles."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaError

from tests.conformance.clients.aio import _record, as_broker_error
from tests.conformance.clients.member import Committed, Joining, Place
from tests.conformance.clients.record import Record

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, events: list[tuple[str, frozenset[Place]]]) -> None:
        self._events = events

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self._note("revoke", revoked)

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._note("assign", assigned)

    def _note(self, kind: str, partitions: Iterable[TopicPartition]) -> None:
        self._events.append((kind, frozenset((p.topic, p.partition) for p in partitions)))


def _offsets(offsets: Mapping[Place, Committed]) -> dict[TopicPartition, tuple[int, str]]:
    return {TopicPartition(*place): (one.offset, one.metadata) for place, one in offsets.items()}


class AioMember:
    name = "aiokafka"
    strategies = tuple(ASSIGNORS)

    def __init__(self, bootstrap_servers: str, joining: Joining) -> None:
        self.events: list[tuple[str, frozenset[Place]]] = []
        self._runner = asyncio.Runner()
        self._consumer = self._runner.run(self._start(bootstrap_servers, joining))

    async def _start(self, bootstrap_servers: str, joining: Joining) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap_servers,
            group_id=joining.group,
            group_instance_id=joining.instance,
            partition_assignment_strategy=[ASSIGNORS[name] for name in joining.strategies],
            session_timeout_ms=joining.session_ms,
            heartbeat_interval_ms=300,
            max_poll_interval_ms=joining.poll_interval_ms,
            auto_offset_reset=joining.reset,
            enable_auto_commit=joining.auto_commit,
            auto_commit_interval_ms=200,
            metadata_max_age_ms=500,
            fetch_max_wait_ms=100,
        )
        listener = _Listener(self.events)
        if joining.pattern is not None:
            consumer.subscribe(pattern=joining.pattern, listener=listener)
        elif joining.topics:
            consumer.subscribe(joining.topics, listener=listener)
        await consumer.start()
        return consumer

    def _run(self, work: Awaitable[Any]) -> Any:
        async def run() -> Any:
            return await work

        try:
            return self._runner.run(run())
        except KafkaError as error:
            raise as_broker_error(error) from error

    def poll(self) -> list[tuple[Place, Record]]:
        answer = self._run(self._consumer.getmany(timeout_ms=50))
        return [
            ((place.topic, place.partition), _record(item))
            for place, items in answer.items()
            for item in items
        ]

    def idle(self) -> None:
        self._run(asyncio.sleep(0.05))

    def assignment(self) -> set[Place]:
        return {(one.topic, one.partition) for one in self._consumer.assignment()}

    def assign(self, places: Mapping[Place, int | None]) -> None:
        async def assign() -> None:
            self._consumer.assign([TopicPartition(*place) for place in places])
            for place, offset in places.items():
                if offset is not None:
                    self._consumer.seek(TopicPartition(*place), offset)

        self._run(assign())

    def commit(self, offsets: Mapping[Place, Committed] | None = None) -> None:
        given = None if offsets is None else _offsets(offsets)
        self._run(self._consumer.commit(given))

    def commit_async(self, offsets: Mapping[Place, Committed]) -> Callable[[], bool]:
        async def start() -> asyncio.Task[None]:
            return asyncio.create_task(self._consumer.commit(_offsets(offsets)))

        task = self._run(start())
        return lambda: task.done() and task.result() is None

    def committed(self, places: Iterable[Place]) -> dict[Place, Committed | None]:
        # aiokafka does not hand out the metadata here.
        found = {
            place: self._run(self._consumer.committed(TopicPartition(*place))) for place in places
        }
        return {
            place: None if offset is None else Committed(offset) for place, offset in found.items()
        }

    def position(self, place: Place) -> int:
        return int(self._run(self._consumer.position(TopicPartition(*place))))

    def close(self) -> None:
        try:
            self._run(self._consumer.stop())
        finally:
            self._runner.close()
