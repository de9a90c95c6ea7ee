"""Which partition a record goes to, where that is not left to librdkafka.

By key it is: "crc32" is librdkafka's own way, "murmur2" Java's, and records without a key stay with
a partition for a moment.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Literal, Protocol

Choice = Literal["crc32", "murmur2", "round-robin", "sticky"]
Choose = Callable[[str, bytes | None, int], int]
"""Of topic, key and number of partitions."""
Partitioner = Choice | Choose

LIBRDKAFKA_NAMES = {"crc32": "consistent_random", "murmur2": "murmur2_random"}
STICKY_MS = 10
"""For so long a partition is kept; librdkafka does the same with records that have no key."""


class Chooser(Protocol):
    def __call__(self, topic: str, key: bytes | None, partitions: int, now_ms: float) -> int: ...


def chooser_of(wanted: Partitioner) -> Chooser | None:
    """None: librdkafka chooses."""
    if callable(wanted):
        return _Custom(wanted)
    if wanted == "round-robin":
        return _RoundRobin()
    if wanted == "sticky":
        return _Sticky()
    if wanted in LIBRDKAFKA_NAMES:
        return None
    known = ", ".join([*LIBRDKAFKA_NAMES, "round-robin", "sticky"])
    raise ValueError(f"no such partitioner: {wanted!r}; there are {known}, and your own function")


class _Custom:
    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def __call__(self, topic: str, key: bytes | None, partitions: int, now_ms: float) -> int:
        chosen = self._choose(topic, key, partitions)
        if not 0 <= chosen < partitions:
            raise ValueError(f"{topic} has {partitions} partitions, and none is number {chosen}")
        return chosen


class _RoundRobin:
    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def __call__(self, topic: str, key: bytes | None, partitions: int, now_ms: float) -> int:
        chosen = (self._last.get(topic, -1) + 1) % partitions
        self._last[topic] = chosen
        return chosen


class _Sticky:
    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, float]] = {}

    def __call__(self, topic: str, key: bytes | None, partitions: int, now_ms: float) -> int:
        chosen, until_ms = self._kept.get(topic, (-1, 0.0))
        if now_ms >= until_ms or chosen >= partitions:
            others = [each for each in range(partitions) if each != chosen] or [0]
            chosen = random.choice(others)
            self._kept[topic] = (chosen, now_ms + STICKY_MS)
        return chosen
