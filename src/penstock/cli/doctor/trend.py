"""How one topic of one group moved between two looks. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from penstock.cli.group.state import GroupLag, PartitionLag, Place

JITTER: Final = 0.1
"""Of what is written meanwhile: less than that is not seen as work of a share group."""


class PartitionTrend(NamedTuple):
    now: PartitionLag
    produced_s: float | None
    """Records a second; None where one of the looks does not know."""
    consumed_s: float | None

    @property
    def place(self) -> Place:
        return self.now.place

    @property
    def lag(self) -> int:
        return max(self.now.lag or 0, 0)

    @property
    def is_stuck(self) -> bool:
        """Its offset stands still while records wait; `trends` knows that they waited before."""
        return self.lag > 0 and self.consumed_s == 0.0

    @property
    def closing_s(self) -> float | None:
        """By how many records a second the lag falls; negative where it grows."""
        if self.produced_s is None or self.consumed_s is None:
            return None
        return self.consumed_s - self.produced_s

    @property
    def left_s(self) -> float | None:
        """Until nothing is left, at this pace; None where it does not come nearer."""
        if not self.lag:
            return 0.0
        closing_s = self.closing_s
        return self.lag / closing_s if closing_s is not None and closing_s > 0 else None


@dataclass(frozen=True, slots=True)
class Trend:
    partitions: tuple[PartitionTrend, ...]
    passed_s: float

    @property
    def lag(self) -> int:
        return sum(each.lag for each in self.partitions)

    @property
    def produced_s(self) -> float:
        return sum(each.produced_s or 0.0 for each in self.partitions)

    @property
    def consumed_s(self) -> float:
        return sum(each.consumed_s or 0.0 for each in self.partitions)

    @property
    def is_known(self) -> bool:
        return any(each.closing_s is not None for each in self.partitions)


def trend_of(before: GroupLag | None, after: GroupLag) -> Trend:
    """Of the partitions of `after`; a group that was not there before has no rates."""
    earlier = {} if before is None else {each.place: each for each in before.partitions}
    passed_s = 0.0 if before is None else (after.now_ms - before.now_ms) / 1000
    return Trend(
        tuple(_partition(earlier.get(each.place), each, passed_s) for each in after.partitions),
        passed_s,
    )


def _partition(before: PartitionLag | None, now: PartitionLag, passed_s: float) -> PartitionTrend:
    if before is None or passed_s <= 0:
        return PartitionTrend(now, None, None)
    produced_s = _rate(before.end, now.end, passed_s)
    consumed_s = _rate(before.done, now.done, passed_s)
    if consumed_s is not None and now.waiting is not None:
        consumed_s = _without_jitter(before, now, consumed_s, produced_s or 0.0)
    if consumed_s is not None and (consumed_s < 0 or (consumed_s == 0 and not before.lag)):
        # Its offset was set back; or all was read at the first look, and what came since may
        # still be dealt with.
        consumed_s = None
    return PartitionTrend(now, produced_s, consumed_s)


def _without_jitter(
    before: PartitionLag, now: PartitionLag, consumed_s: float, produced_s: float
) -> float:
    """What waits in a share group is counted by its coordinator, a moment before the end of the log
    is asked for: what was written in between looks like work that was done, or undone."""
    stands = before.committed == now.committed
    return 0.0 if stands and consumed_s < JITTER * produced_s else max(consumed_s, 0.0)


def _rate(before: int | None, now: int | None, passed_s: float) -> float | None:
    return None if before is None or now is None else (now - before) / passed_s
