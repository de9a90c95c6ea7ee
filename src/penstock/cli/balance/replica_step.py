"""The next replica to move, for bytes or for numbers of replicas. Pure.

Whoever has too much gives to whoever has least, and neither crosses the mean if it can be helped:
so no more is copied than is too much. Of the replicas that bring a broker into the band the
smallest goes; if none does, the largest that fits. A step is taken only if it brings brokers
nearer to the band, which is why planning ends, and a balanced cluster plans nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from penstock.cli.balance.band import Band
from penstock.cli.balance.layout import Layout
from penstock.cli.operator.state import TopicPartition


class Step(NamedTuple):
    place: TopicPartition
    giver: int
    taker: int


class Pair(NamedTuple):
    giver: int
    taker: int
    over: float
    """That the giver has above the mean."""
    under: float
    """That the taker has below it."""
    wanted: float
    """That would bring both into the band."""

    @property
    def fit(self) -> float:
        return min(self.over, self.under)


def step_by_bytes(layout: Layout, band: Band) -> Step | None:
    for pair in pairs_of(layout, layout.bytes, band):
        for place in _by_fit(layout, pair):
            if layout.may_take(place, pair.giver, pair.taker) and helps(
                layout.bytes, band, pair, layout.size(place)
            ):
                return Step(place, pair.giver, pair.taker)
    return None


def step_by_count(layout: Layout, band: Band, bytes_band: Band) -> Step | None:
    """Numbers never spoil bytes; the smallest replica goes first."""
    for pair in pairs_of(layout, layout.counts, band):
        if not helps(layout.counts, band, pair, 1):
            continue
        for place in sorted(layout.movable_on(pair.giver), key=_smallest(layout, pair.taker)):
            if layout.may_take(place, pair.giver, pair.taker) and not _spoils(
                layout.bytes, bytes_band, pair, layout.size(place)
            ):
                return Step(place, pair.giver, pair.taker)
    return None


def _smallest(layout: Layout, taker: int) -> Callable[[TopicPartition], tuple[object, ...]]:
    return lambda place: (layout.size(place), layout.of_topic[place.topic, taker], place)


def pairs_of(layout: Layout, loads: Mapping[int, int], band: Band) -> Iterator[Pair]:
    givers = sorted(layout.brokers, key=lambda each: (-loads[each], each))
    takers = sorted(layout.brokers, key=lambda each: (loads[each], each))
    for giver in givers:
        for taker in takers:
            over, under = loads[giver] - band.mean, band.mean - loads[taker]
            wanted = max(loads[giver] - band.high, band.low - loads[taker])
            if wanted > 0 and loads[giver] > loads[taker]:
                yield Pair(giver, taker, over, under, wanted)


def _by_fit(layout: Layout, pair: Pair) -> list[TopicPartition]:
    def rank(place: TopicPartition) -> tuple[object, ...]:
        size = layout.size(place)
        if size > pair.fit:
            kind, order = 2, size
        else:
            kind, order = (0, size) if size >= pair.wanted else (1, -size)
        return kind, order, layout.of_topic[place.topic, pair.taker], place

    return sorted(layout.movable_on(pair.giver), key=rank)


def helps(loads: Mapping[int, int], band: Band, pair: Pair, weight: int) -> bool:
    before, after = outside(loads, band, pair, 0), outside(loads, band, pair, weight)
    # By more than arithmetic on large numbers is wrong by.
    return after < before * (1 - 1e-9)


def _spoils(loads: Mapping[int, int], band: Band, pair: Pair, weight: int) -> bool:
    before, after = outside(loads, band, pair, 0), outside(loads, band, pair, weight)
    return after > before * (1 + 1e-9)


def outside(loads: Mapping[int, int], band: Band, pair: Pair, weight: int) -> float:
    giver, taker = loads[pair.giver] - weight, loads[pair.taker] + weight
    return band.outside(giver) + band.outside(taker)
