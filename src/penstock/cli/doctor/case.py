"""One topic of one group that is behind, and the reason that a rule finds for it. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from penstock.cli.doctor.facts import Glance
from penstock.cli.doctor.finding import RESTART_ALL, Advice, Cause
from penstock.cli.doctor.head import Odd
from penstock.cli.doctor.past import Calm, Moment, Writer
from penstock.cli.doctor.tail import Tail
from penstock.cli.doctor.trend import PartitionTrend, Trend
from penstock.cli.group.order import RankedLag
from penstock.cli.group.state import Place
from penstock.cli.output import plural
from penstock.model.figures import ThrottleFigures

BEHIND_S: Final = 60.0
"""A group without a limit is looked into when it is further behind than this."""


@dataclass(frozen=True, slots=True)
class Case:
    row: RankedLag
    trend: Trend
    partition_count: int
    """Of the topic."""
    glances: tuple[Glance, ...] = ()
    rebalances: int = 0
    """Where metrics tell."""
    calm: Calm | None = None
    """How it was before it fell behind, where the past is kept."""
    hours: tuple[Moment, ...] = ()
    writers: tuple[Writer, ...] = ()
    throttled: tuple[ThrottleFigures, ...] = ()
    tail: Tail | None = None
    odd: Mapping[Place, Odd] = field(default_factory=dict)
    leaders: int = 1
    """Brokers that lead partitions of the topic: each holds clients to their quotas by itself."""

    @property
    def group(self) -> str:
        return self.row.lag.group.name

    @property
    def behind(self) -> list[PartitionTrend]:
        """The partitions that make it a case: older than the limit, or of unknown age."""
        bound = BEHIND_S if self.row.limit_s is None else self.row.limit_s
        now_ms = self.row.lag.now_ms
        return [
            each
            for each in self.trend.partitions
            if each.lag > 0 and ((age := each.now.lag_s(now_ms)) is None or age >= bound)
        ]

    @property
    def stuck(self) -> list[PartitionTrend]:
        """Somebody has them, and their offsets stand still."""
        return [each for each in self.behind if each.is_stuck and each.now.owners]

    @property
    def keeps_up_elsewhere(self) -> bool:
        """Some of its partitions are read and not late: what holds up the others is theirs."""
        late = self.behind
        return any(
            (each.consumed_s or 0.0) > 0 for each in self.trend.partitions if each not in late
        )

    @property
    def readers(self) -> int:
        """Members that have a partition of this topic."""
        members = self.row.lag.group.members
        return sum(any(one[0] == self.row.topic for one in each.assigned) for each in members)


class Reason(NamedTuple):
    cause: Cause
    why: str
    evidence: tuple[str, ...] = ()
    first: tuple[Advice, ...] = ()
    avoid: tuple[Advice, ...] = (RESTART_ALL,)


def is_case(row: RankedLag) -> bool:
    """Over its limit; without one, behind by more than a minute, or nobody knows how long."""
    if row.limit_s is not None:
        return bool(row.over_s)
    if not row.lag.records:
        return False
    return row.seconds is None or row.seconds >= BEHIND_S


def more_members(case: Case) -> tuple[Advice, ...]:
    """Where there are partitions for them."""
    if case.row.lag.group.is_share:
        return (
            Advice(
                "start more members",
                "any number of them can work on one partition of a share group",
            ),
        )
    spare = case.partition_count - case.readers
    if spare <= 0:
        return ()
    partitions = plural(case.partition_count, "partition")
    return (
        Advice(
            f"start up to {spare} more member{'' if spare == 1 else 's'}",
            f"{partitions} are read by {plural(case.readers, 'member')}",
        ),
    )


def rates_text(case: Case) -> str:
    trend = case.trend
    if not trend.passed_s:
        return "how fast is not known: at the first look its coordinator did not answer for it"
    return (
        f"{trend.produced_s:,.1f} records/s written, {trend.consumed_s:,.1f} read, over "
        f"{trend.passed_s:.0f} s"
    )
