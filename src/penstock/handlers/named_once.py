"""Partitions that one request names twice, and answers that are about one topic twice.

Kafka reads such requests into maps: what is said last of a partition counts, and a topic without
partitions is not there. Clients read answers into maps as well, so each topic has one place there.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def named_once(
    topics: list[T], partitions: str, index: str = "partition_index", key: str = "name"
) -> list[T]:
    """Each topic of a request once, with each of its partitions once. The arguments are the names
    of the fields."""
    if len(topics) == 1 and len(getattr(topics[0], partitions)) == 1:
        return topics
    named: dict[object, tuple[T, dict[int, Any]]] = {}
    for topic in topics:
        _, known = named.setdefault(getattr(topic, key), (topic, {}))
        known.update({getattr(one, index): one for one in getattr(topic, partitions)})
    for topic, known in named.values():
        setattr(topic, partitions, list(known.values()))
    return [topic for topic, known in named.values() if known]


def answered_once(topics: list[T], key: str = "name") -> list[T]:
    """Each topic of an answer once, with everything that is said of its partitions."""
    told: dict[object, Any] = {}
    for topic in topics:
        first = told.setdefault(getattr(topic, key), topic)
        if first is not topic:
            first.partitions = [*first.partitions, *getattr(topic, "partitions", ())]
    return [topic for topic in told.values() if topic.partitions]
