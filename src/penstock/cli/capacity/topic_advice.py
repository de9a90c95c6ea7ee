"""How many partitions a topic should have, by what it takes and by who reads it. Pure."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

PER_CONSUMER: Final = (2, 5)
"""Partitions for each member of the largest group: fewer leave no room to grow, more cost."""
_FAR: Final = 4
"""So many times more than is needed is worth a word."""


class TopicLoad(NamedTuple):
    topic: str
    partitions: int
    bytes_s: float
    consumers: int
    """Members of the largest group that reads it."""


class TopicAdvice(NamedTuple):
    topic: str
    partitions: int
    for_rate: int
    """Its rate at the peak over the rate of one partition."""
    for_consumers: int
    verdict: str
    """Empty where nothing is to be done."""

    def document(self) -> dict[str, Any]:
        return self._asdict()


def advise(load: TopicLoad, peak_factor: float, partition_bytes_s: float) -> TopicAdvice:
    for_rate = max(math.ceil(load.bytes_s * peak_factor / partition_bytes_s), 1)
    for_consumers = max(PER_CONSUMER[0] * load.consumers, 1)
    wanted = max(for_rate, for_consumers)
    return TopicAdvice(
        load.topic, load.partitions, for_rate, for_consumers, _verdict(load, for_rate, wanted)
    )


def _verdict(load: TopicLoad, for_rate: int, wanted: int) -> str:
    if load.partitions < for_rate:
        return f"too few for its rate: {for_rate} at its peak"
    if load.consumers > load.partitions:
        idle = load.consumers - load.partitions
        return f"{idle} of {load.consumers} members have nothing to do"
    most = max(wanted, PER_CONSUMER[1] * max(load.consumers, 1))
    if load.partitions > _FAR * most:
        return f"far more than it needs: {wanted} would do"
    return ""
