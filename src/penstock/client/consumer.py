"""Reading JSON records as a member of a consumer group, and committing by hand.

A consumer lives on between calls, one per servers, group and topics: the second call goes on
where the first stopped, whatever was committed. Commits matter to whoever reads next: another
process, or this one after `close()`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock.client.error import CommitError, ConsumeError, DecodeError
from penstock.client.record import Message, decode_key, decode_value
from penstock.client.session import LOG, bootstrap_of, opened, reuse

# A member that was away too long, or whose broker restarted, rejoins by itself at the next poll.
_PASSING = (KafkaError._MAX_POLL_EXCEEDED, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)


class GroupConsumer:
    """One member of a group, shared by the calls that name the same group and topics."""

    def __init__(self, bootstrap_servers: str, group_id: str, topics: tuple[str, ...]) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.group_id = group_id
        self.topics = topics
        self._lock = threading.Lock()
        self._unreachable = False
        self._ended: set[tuple[str, int]] = set()
        self._undecoded: DecodeError | None = None
        settings = _settings(bootstrap_servers, group_id) | {"error_cb": self._on_error}
        self._consumer = Consumer(settings, logger=LOG)
        if topics:
            self._consumer.subscribe(list(topics))

    def _on_error(self, error: Any) -> None:
        if error.code() in (KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT):
            self._unreachable = True

    def read(self, max_messages: int, timeout_s: float) -> list[Message]:
        with self._lock:
            return self._read(max_messages, time.monotonic() + timeout_s)

    def _read(self, max_messages: int, deadline: float) -> list[Message]:
        messages: list[Message] = []
        while len(messages) < max_messages and self._undecoded is None:
            record = self._consumer.poll(max(0.0, min(0.5, deadline - time.monotonic())))
            if record is not None:
                self._take(record, messages)
            if self._at_end(messages) or time.monotonic() >= deadline:
                break
        if not messages:
            self._raise_if_broken()
        return messages

    def _take(self, record: Any, messages: list[Message]) -> None:
        partition = (record.topic(), record.partition())
        error = record.error()
        if error is None:
            self._unreachable = False
            self._ended.discard(partition)
            try:
                messages.append(_message(record))
            except DecodeError as undecoded:
                self._undecoded = undecoded
        elif error.code() == KafkaError._PARTITION_EOF:
            self._unreachable = False
            self._ended.add(partition)
        elif error.code() not in _PASSING:
            raise ConsumeError(error.str())

    def _at_end(self, messages: list[Message]) -> bool:
        """Something was read and nothing more is there: no reason to wait for the time-out."""
        if not messages:
            return False
        assigned = {(each.topic, each.partition) for each in self._consumer.assignment()}
        return assigned <= self._ended

    def _raise_if_broken(self) -> None:
        undecoded, self._undecoded = self._undecoded, None
        if undecoded is not None:
            raise undecoded
        if self._unreachable:
            raise ConsumeError(f"no broker answers at {self.bootstrap_servers}")

    def commit(self, position: TopicPartition) -> None:
        committed = self._consumer.commit(offsets=[position], asynchronous=False)
        for each in committed or ():
            if each.error is not None:
                raise KafkaException(each.error)

    def close(self) -> None:
        with self._lock:
            self._consumer.close()


def consume(
    group_id: str,
    topics: str | Iterable[str],
    max_messages: int = 10,
    *,
    timeout_s: float = 10.0,
    bootstrap_servers: str | None = None,
) -> list[Message]:
    """Read up to `max_messages` records, from the group's committed offsets or the beginning.

    Returns as soon as there are `max_messages`, or something was read and every partition is at
    its end; with nothing to read it returns an empty list after `timeout_s`. Nothing is
    committed: call `commit_offset` once a record is dealt with. A record that is not JSON raises
    DecodeError when its turn comes, and the next call goes on behind it.
    """
    names = (topics,) if isinstance(topics, str) else tuple(sorted(set(topics)))
    return _member(bootstrap_of(bootstrap_servers), group_id, names).read(max_messages, timeout_s)


def commit_offset(
    group_id: str,
    topic: str,
    partition: int,
    offset: int,
    *,
    bootstrap_servers: str | None = None,
) -> None:
    """Say that the group is done with the record at `offset`: commits `offset + 1`."""
    servers = bootstrap_of(bootstrap_servers)
    position = TopicPartition(topic, partition, offset + 1)
    try:
        _committer(servers, group_id, topic).commit(position)
    except KafkaException as error:
        reason = error.args[0].str() if error.args else str(error)
        raise CommitError(f"group {group_id}, {topic}-{partition}: {reason}") from error


def _member(servers: str, group_id: str, topics: tuple[str, ...]) -> GroupConsumer:
    return reuse(
        GroupConsumer,
        (servers, group_id, topics),
        lambda: GroupConsumer(servers, group_id, topics),
    )


def _committer(servers: str, group_id: str, topic: str) -> GroupConsumer:
    """The member that reads the topic: a group with members takes commits from them alone."""
    for member in opened(GroupConsumer):
        same_group = (member.bootstrap_servers, member.group_id) == (servers, group_id)
        if same_group and topic in member.topics:
            return member
    return _member(servers, group_id, ())


def _message(record: Any) -> Message:
    topic, partition, offset = record.topic(), record.partition(), record.offset()
    return Message(
        topic=topic,
        partition=partition,
        offset=offset,
        key=decode_key(record.key()),
        value=decode_value(topic, partition, offset, record.value()),
        timestamp=record.timestamp()[1],
        headers=record.headers() or [],
    )


def _settings(bootstrap_servers: str, group_id: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": bootstrap_servers,
        "client.id": "penstock-client",
        "group.id": group_id,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "enable.partition.eof": True,
        # The end of a partition is known when a fetch comes back empty: `consume` waits for that.
        "fetch.wait.max.ms": 100,
        "fetch.queue.backoff.ms": 20,
    }
