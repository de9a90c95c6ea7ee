"""Two replicas that change places, for bytes, where no single one can go. Pure.

Where every replica of a broker that has too much is larger than what it has too much, a move only
turns givers into takers. In exchange for a smaller one the difference alone goes. Both are copied,
so it has to be worth it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from penstock.cli.balance.band import Band
from penstock.cli.balance.layout import Layout
from penstock.cli.balance.replica_step import Pair, Step, helps, outside, pairs_of
from penstock.cli.operator.state import TopicPartition

WORTH: Final = 0.1
"""Bytes nearer to the band, for each byte that is copied."""
_NEAR: Final = 4
"""Of the replicas whose size fits best, so many are tried."""


class _Swap(NamedTuple):
    copied: int
    given: TopicPartition
    taken: TopicPartition


def swap_by_bytes(layout: Layout, band: Band) -> tuple[Step, Step] | None:
    for pair in pairs_of(layout, layout.bytes, band):
        best = min(_swaps(layout, band, pair), default=None)
        if best is not None:
            return (
                Step(best.given, pair.giver, pair.taker),
                Step(best.taken, pair.taker, pair.giver),
            )
    return None


def _swaps(layout: Layout, band: Band, pair: Pair) -> Iterator[_Swap]:
    """Those that help, by what they copy."""
    held = sorted((layout.size(each), each) for each in layout.movable_on(pair.taker))
    sizes = [size for size, _ in held]
    for given in sorted(layout.movable_on(pair.giver)):
        size = layout.size(given)
        if not layout.may_take(given, pair.giver, pair.taker):
            continue
        # The one of the best size, and its neighbours: it may not be allowed to go.
        at = bisect_left(sizes, size - pair.wanted)
        for smaller, taken in held[max(at - _NEAR, 0) : at + _NEAR]:
            swap = _Swap(size + smaller, given, taken)
            if (
                smaller < size
                and layout.may_take(taken, pair.taker, pair.giver)
                and _is_worth_it(layout, band, pair, size - smaller, swap.copied)
            ):
                yield swap


def _is_worth_it(layout: Layout, band: Band, pair: Pair, weight: int, copied: int) -> bool:
    if not helps(layout.bytes, band, pair, weight):
        return False
    before = outside(layout.bytes, band, pair, 0)
    return before - outside(layout.bytes, band, pair, weight) >= WORTH * copied
