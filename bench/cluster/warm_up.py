"""Work that is not measured, for as long as a system gets faster by it.

A virtual machine that has just started is not what Kafka's users have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bench.case import latency, produce
from bench.cluster.peer import ClusterPeer
from bench.cluster.scale import Scale
from bench.schedule import Say

TURNS_MAX: Final = 5
GAIN_MIN: Final = 1.1


def warm_up(peer: ClusterPeer, scale: Scale, say: Say) -> None:
    for size in produce.SIZES:

        def rate(size: int = size) -> float:
            return produce.native(peer, size, scale)[f"produce.librdkafka.{size}"]

        rates = repeat_while_faster(rate)
        say(f"warm-up {size:7} {peer.name:15} " + ", ".join(f"{each:,.0f}" for each in rates))
    latency.latency(peer, "ack", scale)


def repeat_while_faster(rate: Callable[[], float]) -> list[float]:
    """Until a turn is no better than the best before it, at most a few times."""
    rates = [rate()]
    while len(rates) < TURNS_MAX:
        best = max(rates)
        rates.append(rate())
        if rates[-1] < GAIN_MIN * best:
            break
    return rates
