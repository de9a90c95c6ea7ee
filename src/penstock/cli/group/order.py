"""Which groups come first: those over their limit, the strictest limit first; then by age.

Payments, which may be 30 seconds behind and are 31, come before analytics that are three hours
behind. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from penstock.cli.group.state import GroupLag, PartitionLag
from penstock.model.sla import Slas, limit_of


class RankedLag(NamedTuple):
    """One topic of one group."""

    lag: GroupLag
    topic: str
    limit_s: float | None

    @property
    def seconds(self) -> float | None:
        return self.lag.seconds

    @property
    def over_s(self) -> float | None:
        """None without a limit; never below 0."""
        if self.limit_s is None:
            return None
        return max((self.seconds or 0.0) - self.limit_s, 0.0)

    @property
    def worst(self) -> PartitionLag | None:
        return self.lag.worst


def ranked(lags: Iterable[GroupLag], slas: Slas) -> list[RankedLag]:
    """Every topic of every group, worst first."""
    rows = [
        RankedLag(lag.of_topic(topic), topic, limit_of(slas, lag.group.name, topic))
        for lag in lags
        for topic in lag.topics
    ]
    return sorted(rows, key=_key)


def _key(row: RankedLag) -> tuple[bool, float, float, int, str, str]:
    is_over = bool(row.over_s)
    strictness = row.limit_s if is_over and row.limit_s is not None else 0.0
    age = row.over_s if is_over and row.over_s is not None else row.seconds or 0.0
    return not is_over, strictness, -age, -row.lag.records, row.lag.group.name, row.topic
