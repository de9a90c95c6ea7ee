"""confluent-kafka as a member of a consumer group."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaException, TopicPartition

from tests.conformance.clients.confluent import _record, as_broker_error
from tests.conformance.clients.member import Committed, Joining, Place
from tests.conformance.clients.record import PATIENCE_SECONDS, BrokerError, Record


def _places(partitions: Iterable[TopicPartition]) -> frozenset[Place]:
    return frozenset((one.topic, one.partition) for one in partitions)


def _partition(place: Place, committed: Committed) -> TopicPartition:
    return TopicPartition(*place, committed.offset, metadata=committed.metadata)


def _protocol_settings(joining: Joining) -> dict[str, Any]:
    if joining.protocol == "consumer":
        # Session and heartbeats are the broker's to say.
        settings = {"group.protocol": "consumer"}
        if joining.assignor is not None:
            settings["group.remote.assignor"] = joining.assignor
        return settings
    return {
        "partition.assignment.strategy": ",".join(joining.strategies),
        "session.timeout.ms": joining.session_ms,
        "heartbeat.interval.ms": 300,
    }


class ConfluentMember:
    name = "confluent-kafka"
    strategies = ("range", "roundrobin", "cooperative-sticky")

    def __init__(self, bootstrap_servers: str, joining: Joining) -> None:
        self.events: list[tuple[str, frozenset[Place]]] = []
        self._async_answers: list[Any] = []
        # Noted by the thread that polls: two threads in librdkafka's binding can block each other.
        self._assigned: frozenset[Place] = frozenset()
        settings = {
            "bootstrap.servers": bootstrap_servers,
            "group.id": joining.group,
            "max.poll.interval.ms": joining.poll_interval_ms,
            "auto.offset.reset": joining.reset,
            "enable.auto.commit": joining.auto_commit,
            "auto.commit.interval.ms": 200,
            "topic.metadata.refresh.interval.ms": 500,
            "fetch.wait.max.ms": 100,
            "log_level": 0,
            "on_commit": lambda error, places: self._async_answers.append(error),
        }
        if joining.instance is not None:
            settings["group.instance.id"] = joining.instance
        settings |= _protocol_settings(joining)
        self._consumer = Consumer(settings)
        topics = [f"^{joining.pattern}"] if joining.pattern else list(joining.topics)
        if topics:
            self._consumer.subscribe(topics, on_assign=self._on_assign, on_revoke=self._on_revoke)

    def _on_assign(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.events.append(("assign", _places(partitions)))

    def _on_revoke(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.events.append(("revoke", _places(partitions)))

    def poll(self) -> list[tuple[Place, Record]]:
        try:
            messages = self._consumer.consume(500, timeout=0.05)
        except KafkaException as failure:
            raise as_broker_error(failure.args[0]) from failure
        self._assigned = _places(self._consumer.assignment())
        found = []
        for message in messages:
            error = message.error()
            if error is not None and (error.fatal() or not error.retriable()):
                # What librdkafka reports and goes on from by itself is no failure.
                if error.name() in ("UNKNOWN_TOPIC_OR_PART", "_MAX_POLL_EXCEEDED"):
                    continue
                raise as_broker_error(error)
            if error is None:
                found.append(((message.topic(), message.partition()), _record(message)))
        return found

    def idle(self) -> None:
        time.sleep(0.05)

    def assignment(self) -> set[Place]:
        return set(self._assigned)

    def subscribe(self, topics: Iterable[str]) -> None:
        self._consumer.subscribe(list(topics), on_assign=self._on_assign, on_revoke=self._on_revoke)

    def assign(self, places: Mapping[Place, int | None]) -> None:
        self._consumer.assign(
            [
                TopicPartition(*place) if offset is None else TopicPartition(*place, offset)
                for place, offset in places.items()
            ]
        )

    def commit(self, offsets: Mapping[Place, Committed] | None = None) -> None:
        given: dict[str, Any] = {}
        if offsets is not None:
            given["offsets"] = [_partition(*one) for one in offsets.items()]
        try:
            done = self._consumer.commit(asynchronous=False, **given)
        except KafkaException as failure:
            raise as_broker_error(failure.args[0]) from failure
        for one in done:
            if one.error is not None:
                raise as_broker_error(one.error)

    def commit_async(self, offsets: Mapping[Place, Committed]) -> Callable[[], bool]:
        known = len(self._async_answers)
        self._consumer.commit(
            offsets=[_partition(*one) for one in offsets.items()], asynchronous=True
        )

        def answered() -> bool:
            if len(self._async_answers) == known:
                return False
            if self._async_answers[known] is not None:
                raise as_broker_error(self._async_answers[known])
            return True

        return answered

    def committed(self, places: Iterable[Place]) -> dict[Place, Committed | None]:
        wanted = [TopicPartition(*place) for place in places]
        try:
            found = self._consumer.committed(wanted, timeout=PATIENCE_SECONDS)
        except KafkaException as failure:
            raise as_broker_error(failure.args[0]) from failure
        return {
            (one.topic, one.partition): None
            if one.offset == OFFSET_INVALID
            else Committed(one.offset, one.metadata or "")
            for one in found
        }

    def position(self, place: Place) -> int:
        return int(self._consumer.position([TopicPartition(*place)])[0].offset)

    def group_metadata(self) -> Any:
        """Who it is in the group, for a transactional producer to say so as well."""
        return self._consumer.consumer_group_metadata()

    def close(self) -> None:
        try:
            self._consumer.close()
        except KafkaException as failure:
            raise BrokerError(None, str(failure)) from failure
