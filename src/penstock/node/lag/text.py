"""The metrics of groups in Prometheus' text format.

Written here and not by the prometheus client: tens of thousands of lines in one go would hold up
everybody. What has not changed since the last time is not written anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from penstock.group.share.view import SHARE_TYPE
from penstock.node.lag.row import GroupRow, PartitionRow, label

ROWS_MAX: Final = 100_000
"""Partitions that are told one by one; with more of them, of each group only the worst."""


class Family(NamedTuple):
    name: str
    kind: str
    text: str


FAMILIES: Final = (
    Family("penstock_group_info", "gauge", "1, with the state of the group and its protocol"),
    Family("penstock_group_members", "gauge", "Members of the group; 0 if nobody reads"),
    Family(
        "penstock_group_rebalances_total",
        "counter",
        "Generations of a classic group, epochs of another",
    ),
    Family("penstock_group_commits_total", "counter", "Offsets committed since metrics are read"),
    Family(
        "penstock_group_last_commit_timestamp_seconds",
        "gauge",
        "When the group last committed anything",
    ),
    Family(
        "penstock_group_committed_offset",
        "gauge",
        "Next offset that the group will consume; of a share group, the first not done with",
    ),
    Family(
        "penstock_group_commit_timestamp_seconds",
        "gauge",
        "When the group last committed this partition",
    ),
    Family("penstock_group_lag", "gauge", "Records not consumed yet, up to the high watermark"),
    Family("penstock_group_lag_seconds", "gauge", "Age of the oldest record not consumed yet"),
    Family("penstock_group_lag_sum", "gauge", "Records not consumed yet, of all partitions"),
    Family("penstock_group_lag_max", "gauge", "Of the partition with the most of them"),
    Family("penstock_group_lag_seconds_max", "gauge", "Of the partition furthest behind"),
    Family("penstock_group_sla_seconds", "gauge", "How far behind the group may be"),
    Family(
        "penstock_group_sla_over_seconds",
        "gauge",
        "By how much the partition furthest behind is over that; 0 if it is not",
    ),
)
"""In the order in which a group's text is made."""

_STILL: Final = 7
"""So many of them change only when something happens to the group."""
_GROUP_ONLY: Final = 5
"""The first of those, which have one line for each group."""


class GroupText:
    """Lines by family, to be put together when all groups have been added."""

    def __init__(self, row_count: int) -> None:
        self._worst_only = row_count > ROWS_MAX
        self._lines: tuple[list[str], ...] = tuple([] for _ in FAMILIES)

    def add(self, group: GroupRow, now_ms: int) -> None:
        texts = None if self._worst_only else group.calm
        if texts is None:
            if group.still is None:
                group.still = tuple("".join(lines) for lines in _still(group))
            known = [row for row in group.rows.values() if row.end is not None]
            still = (*group.still[:_GROUP_ONLY], "", "") if self._worst_only else group.still
            texts = (*still, *self._lag(group, known, now_ms))
            is_calm = len(known) == len(group.rows) and not any(row.lag for row in known)
            if is_calm and not self._worst_only:
                group.calm = texts
        for lines, text in zip(self._lines, texts, strict=True):
            if text:
                lines.append(text)

    def _lag(self, group: GroupRow, known: list[PartitionRow], now_ms: int) -> tuple[str, ...]:
        if not known:
            return ("",) * (len(FAMILIES) - _STILL)
        lags = [row.lag for row in known]
        ages = [row.lag_s(now_ms) for row in known]
        shown = list(zip(known, lags, ages, strict=True))
        if self._worst_only:
            shown = [max(shown, key=lambda each: (each[2], each[1]))]
        limits = _limits(known, ages)
        named = {topic: f'{{group="{group.name}",topic="{label(topic)}"}}' for topic in limits}
        return (
            "".join([f"penstock_group_lag{row.labels} {lag}\n" for row, lag, _ in shown]),
            "".join([f"penstock_group_lag_seconds{row.labels} {age}\n" for row, _, age in shown]),
            f"penstock_group_lag_sum{group.labels} {sum(lags)}\n",
            f"penstock_group_lag_max{group.labels} {max(lags)}\n",
            f"penstock_group_lag_seconds_max{group.labels} {max(ages)}\n",
            "".join(
                f"penstock_group_sla_seconds{named[topic]} {limit}\n"
                for topic, (limit, _) in limits.items()
            ),
            "".join(
                f"penstock_group_sla_over_seconds{named[topic]} {max(age - limit, 0.0)}\n"
                for topic, (limit, age) in limits.items()
            ),
        )

    def render(self) -> bytes:
        return "".join(self._parts()).encode()

    def _parts(self) -> Iterator[str]:
        for family, lines in zip(FAMILIES, self._lines, strict=True):
            name = family.name
            yield f"# HELP {name} {family.text}\n# TYPE {name} {family.kind}\n"
            yield from lines


def _limits(rows: list[PartitionRow], ages: list[float]) -> dict[str, tuple[float, float]]:
    """By topic: its limit, and the age of the partition furthest behind."""
    found: dict[str, tuple[float, float]] = {}
    for row, age in zip(rows, ages, strict=True):
        if row.limit_s is not None:
            known = found.get(row.place.topic, (row.limit_s, 0.0))
            found[row.place.topic] = (row.limit_s, max(known[1], age))
    return found


def _still(group: GroupRow) -> Iterator[list[str]]:
    view, labels = group.view, group.labels
    rows = group.rows.values()
    stands = f'state="{view.state}",protocol="{view.protocol}"'
    yield [f'penstock_group_info{{group="{group.name}",{stands}}} 1\n']
    yield [f"penstock_group_members{labels} {view.members}\n"]
    yield [f"penstock_group_rebalances_total{labels} {view.rebalances}\n"]
    # Share groups commit nothing: they acknowledge.
    is_share = view.protocol == SHARE_TYPE
    yield [] if is_share else [f"penstock_group_commits_total{labels} {group.commits}\n"]
    yield (
        [f"penstock_group_last_commit_timestamp_seconds{labels} {group.last_commit_ms / 1000}\n"]
        if group.last_commit_ms >= 0
        else []
    )
    yield [f"penstock_group_committed_offset{row.labels} {row.committed}\n" for row in rows]
    yield [
        f"penstock_group_commit_timestamp_seconds{row.labels} {row.commit_ms / 1000}\n"
        for row in rows
        if row.commit_ms >= 0
    ]
