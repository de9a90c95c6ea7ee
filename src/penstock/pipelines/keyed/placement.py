"""How producers of a source that has grown place keys, as far as anything there tells it.

States tell it, by where they stand among the partitions that the source had; and so do the keys of
records in those that it has got. Reads the source; moves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock.pipelines.kafka import (
    CALL_TIMEOUT_S,
    admin,
    consumer_settings,
    end_offsets,
    first_offsets,
    partition_count,
)
from penstock.pipelines.keyed.partitioner import PARTITIONERS, Partitioner, partitioners_of

if TYPE_CHECKING:
    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run_settings import RunSettings

_NEWEST = 1_000
_POLL_S = 0.1


def ways_of(
    states: Mapping[int, Collection[bytes]], before: int, count: int
) -> tuple[Partitioner, ...]:
    """How producers may place keys, by where the states are: one, or those that differ in where
    states are to go."""
    ways = partitioners_of(states, (before,))
    keys = [key for held in states.values() for key in held]
    same = all(len({each(key, count) for each in ways}) == 1 for key in keys)
    return ways[:1] if same else ways


def shown_by(newest: Mapping[int, Collection[bytes]], count: int) -> tuple[Partitioner, ...]:
    """How they place them by keys in new partitions; where a topic grew in steps, not all keys are
    there by the last of them."""
    steps = range(min(newest, default=count) + 1, count + 1)
    return partitioners_of(newest, (count,)) or partitioners_of(newest, steps)


def is_told(pipeline: KeyedPipeline, settings: RunSettings, before: int) -> bool:
    """Whether the new partitions by now tell one way of placing keys from the other."""
    try:
        count = partition_count(admin(settings.client()), pipeline.topic)
        newest = newest_keys(pipeline, settings, before, count)
    except KafkaException:
        return False  # the broker is away; there is another look
    return len(shown_by(newest, count)) < len(PARTITIONERS)


def newest_keys(
    pipeline: KeyedPipeline, settings: RunSettings, before: int, count: int
) -> dict[int, set[bytes]]:
    """Of each partition that is new the keys of its last records."""
    found: dict[int, set[bytes]] = {each: set() for each in range(before, count)}
    places = [(pipeline.topic, each) for each in found]
    client = settings.client()
    first, ends = (ask(admin(client), places) for ask in (first_offsets, end_offsets))
    filled = [
        TopicPartition(*each, max(first[each], ends[each] - _NEWEST))
        for each in places
        if ends[each] > first[each]
    ]
    if not filled:
        return found
    consumer = Consumer(consumer_settings(client, f"{pipeline.name}.restore"))
    try:
        consumer.assign(filled)
        for message in _to_the_end(consumer, len(filled)):
            if key := message.key():
                found[message.partition()].add(key)
    finally:
        consumer.close()
    return found


def _to_the_end(consumer: Consumer, partitions: int) -> Iterator[Any]:
    """Every record, until each of the partitions was at its end."""
    ended: set[int] = set()
    deadline = time.monotonic() + CALL_TIMEOUT_S
    while len(ended) < partitions:
        if time.monotonic() > deadline:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "no end in sight"))
        message: Any = consumer.poll(_POLL_S)
        error = message.error() if message is not None else None
        if message is None:
            continue
        if error is None:
            yield message
        elif error.code() == KafkaError._PARTITION_EOF:
            ended.add(message.partition())
        elif not error.retriable() and error.code() != KafkaError._TRANSPORT:
            raise KafkaException(error)
