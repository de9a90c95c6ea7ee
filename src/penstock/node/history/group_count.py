"""What groups have done since they were last asked for, of the looks that `lag` takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from penstock.model.figures import GroupFigures
from penstock.node.lag.row import GroupRow, PartitionRow


class _Place(NamedTuple):
    """Of one topic of one group: where it stood."""

    partitions: int
    consumed: int
    end: int
    rebalances: int


class GroupCount:
    def __init__(self) -> None:
        self._places: dict[tuple[str, str], _Place] = {}

    def take(self, groups: Iterable[GroupRow], now_ms: int) -> Iterator[GroupFigures]:
        """Of those that read something, or are behind."""
        before, self._places = self._places, {}
        for group in groups:
            for topic, rows in _by_topic(group).items():
                place = self._places[group.group_id, topic] = _Place(
                    len(rows),
                    sum(row.consumed for row in rows),
                    sum(row.end or 0 for row in rows),
                    group.view.rebalances,
                )
                was = before.get((group.group_id, topic))
                found = _figures(group, topic, rows, was, place, now_ms)
                if found.lag or found.consumed or found.rebalances:
                    yield found


def _by_topic(group: GroupRow) -> dict[str, list[PartitionRow]]:
    found: dict[str, list[PartitionRow]] = {}
    for place, row in group.rows.items():
        if row.end is not None:
            found.setdefault(place.topic, []).append(row)
    return found


def _figures(
    group: GroupRow,
    topic: str,
    rows: list[PartitionRow],
    was: _Place | None,
    place: _Place,
    now_ms: int,
) -> GroupFigures:
    is_same = was is not None and was.partitions == place.partitions
    return GroupFigures(
        group.group_id,
        topic,
        sum(row.lag for row in rows),
        round(max(row.lag_s(now_ms) for row in rows), 1),
        _grown(was.consumed, place.consumed) if was is not None and is_same else None,
        _grown(was.end, place.end) if was is not None and is_same else None,
        group.view.members,
        max(place.rebalances - was.rebalances, 0) if was is not None else 0,
    )


def _grown(before: int, now: int) -> int | None:
    """None where offsets were set back, or a topic was made anew."""
    return now - before if now >= before else None
