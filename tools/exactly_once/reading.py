"""The reader at the end: everything committed in a topic, and whether anything hangs."""

from __future__ import annotations

import time

from confluent_kafka import Consumer, IsolationLevel, KafkaError, Message
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient, OffsetSpec

from penstock.model.id import TopicPartition
from penstock.testing.history import Assign, Event, Poll, Seen
from tools.exactly_once.setup import (
    GROUP,
    PARTITIONS,
    SOURCE,
    TRANSACTION_HEADER,
    client_settings,
    now_s,
)


class UnreadableError(RuntimeError):
    """A partition could not be read to its end in time."""


def end_offsets(bootstrap: str, topic: str, level: IsolationLevel) -> dict[int, int]:
    admin = AdminClient(client_settings(bootstrap))
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    asked = {Position(topic, index): latest for index in range(PARTITIONS)}
    answers = admin.list_offsets(asked, isolation_level=level, request_timeout=60)
    return {position.partition: future.result(90).offset for position, future in answers.items()}


def hanging(bootstrap: str, topic: str, timeout_s: float) -> dict[int, tuple[int, int]]:
    """Partitions whose last stable offset does not come to the end, with both offsets."""
    deadline = time.monotonic() + timeout_s
    while True:
        ends = end_offsets(bootstrap, topic, IsolationLevel.READ_UNCOMMITTED)
        stable = end_offsets(bootstrap, topic, IsolationLevel.READ_COMMITTED)
        open_still = {one: (stable[one], end) for one, end in ends.items() if stable[one] != end}
        if not open_still or time.monotonic() > deadline:
            return open_still
        time.sleep(0.2)


def lag(bootstrap: str) -> int:
    """How many records of the source the group has not committed yet."""
    ends = end_offsets(bootstrap, SOURCE, IsolationLevel.READ_COMMITTED)
    consumer = Consumer(client_settings(bootstrap) | {"group.id": GROUP})
    try:
        committed = consumer.committed([Position(SOURCE, index) for index in ends], timeout=15)
        # Where records were lost, the group may be ahead of what is left.
        return sum(max(ends[one.partition] - max(one.offset, 0), 0) for one in committed)
    finally:
        consumer.close()


def read_topic(bootstrap: str, topic: str, process: str, timeout_s: float = 180.0) -> list[Event]:
    """Each partition from its start to its end, as a history of one reader."""
    consumer = Consumer(client_settings(bootstrap) | _READER_SETTINGS)
    began_s = now_s()
    try:
        consumer.assign([Position(topic, index, 0) for index in range(PARTITIONS)])
        records = _read_to_end(consumer, timeout_s)
    finally:
        consumer.close()
    events: list[Event] = []
    for index, seen in records.items():
        where = TopicPartition(topic, index)
        events.append(Assign(process=process, partition=where, position=0, began_s=began_s))
        events.append(
            Poll(
                process=process,
                began_s=began_s,
                ended_s=now_s(),
                partition=where,
                records=tuple(seen),
                at_end=True,
            )
        )
    return events


_READER_SETTINGS = {
    "group.id": "nobody",
    "enable.auto.commit": False,
    "isolation.level": "read_committed",
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 50,
}


def _read_to_end(consumer: Consumer, timeout_s: float) -> dict[int, list[Seen]]:
    records: dict[int, list[Seen]] = {index: [] for index in range(PARTITIONS)}
    unfinished = set(records)
    deadline = time.monotonic() + timeout_s
    while unfinished and time.monotonic() < deadline:
        message = consumer.poll(1.0)
        if message is None:
            continue
        error, index = message.error(), message.partition() or 0
        if error is None:
            records[index].append(_seen(message))
        elif error.code() == KafkaError._PARTITION_EOF:
            unfinished.discard(index)
    if unfinished:
        raise UnreadableError(f"partitions {sorted(unfinished)} have no end")
    return records


def _seen(message: Message) -> Seen:
    headers = dict(message.headers() or [])
    tag = headers.get(TRANSACTION_HEADER)
    value = (message.value() or b"").decode()
    return Seen(message.offset() or 0, value, tag.decode() if isinstance(tag, bytes) else None)
