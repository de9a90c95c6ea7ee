"""Preferred leaders, as evenly over brokers as replicas allow. Pure; copies nothing.

A leader goes from a broker with many to one with at least two fewer, if need be by way of others:
each hands one on. When no such way is left, no other choice of leaders is more even.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator

from penstock.cli.balance.layout import Layout
from penstock.cli.operator.state import TopicPartition

Ways = dict[int, list[TopicPartition]]
"""By broker: the partitions that it is preferred for, and that may be handed on."""
HandOn = tuple[TopicPartition, int]


def spread_leaders(layout: Layout) -> None:
    counts: Counter[int] = Counter(each[0] for each in layout.replicas.values())
    led: Ways = {each: [] for each in layout.brokers}
    for place in layout.movable:
        led[layout.replicas[place][0]].append(place)
    while (way := _way(layout, counts, led)) is not None:
        for place, broker in way:
            before = layout.replicas[place][0]
            layout.prefer(place, broker)
            led[before].remove(place)
            led[broker].append(place)
            counts[before] -= 1
            counts[broker] += 1


def _way(layout: Layout, counts: Counter[int], led: Ways) -> list[HandOn] | None:
    least = min((counts[each] for each in layout.brokers), default=0)
    for start in sorted(layout.brokers, key=lambda each: (-counts[each], each)):
        if counts[start] - least < 2:
            break
        found = _way_from(layout, counts, led, start)
        if found:
            return found
    return None


def _way_from(layout: Layout, counts: Counter[int], led: Ways, start: int) -> list[HandOn] | None:
    """The shortest: breadth first."""
    came: dict[int, tuple[int, TopicPartition] | None] = {start: None}
    waiting = deque([start])
    while waiting:
        broker = waiting.popleft()
        if counts[start] - counts[broker] >= 2:
            return list(_back(came, broker))
        for place in led[broker]:
            for other in layout.replicas[place][1:]:
                if other not in came:
                    came[other] = (broker, place)
                    waiting.append(other)
    return None


def _back(came: dict[int, tuple[int, TopicPartition] | None], last: int) -> Iterator[HandOn]:
    while (step := came[last]) is not None:
        before, place = step
        yield place, last
        last = before
