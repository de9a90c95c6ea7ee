"""kafka-python as a member of a consumer group."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

with warnings.catch_warnings():
    # See kafka_python.py.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition
    from kafka.coordinator.assignors.cooperative_sticky import (
        CooperativeStickyAssignor,
    )
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
    from kafka.errors import KafkaConnectionError, KafkaError
    from kafka.structs import OffsetAndMetadata

from tests.conformance.clients.kafka_python import _record, as_broker_error
from tests.conformance.clients.member import Committed, Joining, Place
from tests.conformance.clients.record import PATIENCE_SECONDS, Record

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
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


def _offsets(offsets: Mapping[Place, Committed]) -> dict[TopicPartition, OffsetAndMetadata]:
    return {
        TopicPartition(*place): OffsetAndMetadata(one.offset, one.metadata, -1)
        for place, one in offsets.items()
    }


class KafkaPythonMember:
    name = "kafka-python"
    strategies = tuple(ASSIGNORS)

    def __init__(self, bootstrap_servers: str, joining: Joining) -> None:
        self.events: list[tuple[str, frozenset[Place]]] = []
        self._poll_ms = joining.poll_ms
        self._consumer = KafkaConsumer(
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
            self._consumer.subscribe(pattern=joining.pattern, listener=listener)
        elif joining.topics:
            self._consumer.subscribe(joining.topics, listener=listener)
            # As a leader it assigns nothing, and may stay so, where it does not know the topic yet.
            for topic in joining.topics:
                self._consumer.partitions_for_topic(topic)

    def poll(self) -> list[tuple[Place, Record]]:
        try:
            answer = self._consumer.poll(timeout_ms=self._poll_ms)
        except KafkaConnectionError:
            # All brokers are down at once: an application polls again.
            return []
        except KafkaError as error:
            raise as_broker_error(error) from error
        return [
            ((place.topic, place.partition), _record(item))
            for place, items in answer.items()
            for item in items
        ]

    def idle(self) -> None:
        time.sleep(0.05)

    def assignment(self) -> set[Place]:
        return {(one.topic, one.partition) for one in self._consumer.assignment()}

    def assign(self, places: Mapping[Place, int | None]) -> None:
        self._consumer.assign([TopicPartition(*place) for place in places])
        for place, offset in places.items():
            if offset is not None:
                self._consumer.seek(TopicPartition(*place), offset)

    def commit(self, offsets: Mapping[Place, Committed] | None = None) -> None:
        given = None if offsets is None else _offsets(offsets)
        try:
            self._consumer.commit(given, timeout_ms=PATIENCE_SECONDS * 1000)
        except KafkaError as error:
            raise as_broker_error(error) from error

    def commit_async(self, offsets: Mapping[Place, Committed]) -> Callable[[], bool]:
        answers: list[Any] = []
        self._consumer.commit_async(
            _offsets(offsets), callback=lambda _, answer: answers.append(answer)
        )

        def answered() -> bool:
            if answers and isinstance(answers[0], KafkaError):
                raise as_broker_error(answers[0])
            return bool(answers)

        return answered

    def committed(self, places: Iterable[Place]) -> dict[Place, Committed | None]:
        found: dict[Place, Committed | None] = {}
        for place in places:
            try:
                one = self._consumer.committed(TopicPartition(*place), metadata=True)
            except KafkaError as error:
                raise as_broker_error(error) from error
            found[place] = None if one is None else Committed(one.offset, one.metadata or "")
        return found

    def position(self, place: Place) -> int:
        return int(self._consumer.position(TopicPartition(*place)))

    def close(self) -> None:
        self._consumer.close()
