"""TOPIC and TOPIC:PARTITION as they are typed, and the partitions they name."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.cli.cluster import unknown_topic
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.operator.state import ClusterState, TopicPartition
from penstock.cli.output import plural


def parse_place(text: str) -> tuple[str, int | None]:
    topic, colon, number = text.partition(":")
    if not topic or (colon and not (number.isascii() and number.isdecimal())):
        raise UsageFailure(f"a partition is TOPIC:NUMBER, such as orders:0, not {text!r}")
    return topic, int(number) if colon else None


def find_partitions(state: ClusterState, words: Iterable[str]) -> list[TopicPartition]:
    found: dict[TopicPartition, None] = {}
    for word in words:
        topic, number = parse_place(word)
        there = [each.place for each in state.of_topic(topic)]
        if not there:
            raise unknown_topic(topic)
        if number is not None and TopicPartition(topic, number) not in there:
            raise Failure(
                f"there is no partition {topic}:{number}; {topic} has "
                f"{plural(len(there), 'partition')}, counted from 0"
            )
        found |= dict.fromkeys(there if number is None else [TopicPartition(topic, number)])
    return list(found)


def parse_brokers(text: str, option: str) -> list[int]:
    words = [each.strip() for each in text.split(",")]
    if not all(each.isascii() and each.isdecimal() for each in words):
        raise UsageFailure(f"{option} takes ids of brokers such as 1,2,3, not {text!r}")
    return [int(each) for each in words]
