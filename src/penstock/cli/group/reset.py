"""What a change of a group's offsets would do, partition by partition. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from penstock.cli.group.state import Place
from penstock.cli.position import Position


class Step(NamedTuple):
    place: Place
    former: int | None
    target: int | None
    """None where the offset is to be deleted: an undo of a group that had none."""
    former_ms: int | None = None
    """The time of the record that is read next now; None if there is none."""
    target_ms: int | None = None
    start: int = 0
    end: int | None = None
    """Of the log: there are records between them only, wherever offsets stand."""

    @property
    def skipped(self) -> int:
        """Records that would never be read."""
        return max(self._moved, 0)

    @property
    def read_again(self) -> int:
        return max(-self._moved, 0)

    @property
    def _moved(self) -> int:
        if self.former is None or self.target is None:
            return 0
        return self._within(self.target) - self._within(self.former)

    def _within(self, offset: int) -> int:
        return max(self.start, offset if self.end is None else min(offset, self.end))

    @property
    def is_beginning(self) -> bool:
        """Of a partition that had no offset."""
        return self.former is None and self.target is not None and self.end is not None

    @property
    def before(self) -> int:
        """Records that stand before the place where it begins."""
        return self._within(self.target) - self.start if self.target is not None else 0

    @property
    def ahead(self) -> int:
        """Records that are read from there on."""
        if self.target is None or self.end is None:
            return 0
        return self.end - self._within(self.target)

    def moved_s(self, now_ms: int) -> float | None:
        """By how much time, whichever way; None where it is not known."""
        if self.former is None or self.target is None:
            return None
        if not self._moved:
            return 0.0
        if self.former_ms is None and self.target_ms is None:
            return None
        former_ms = now_ms if self.former_ms is None else self.former_ms
        target_ms = now_ms if self.target_ms is None else self.target_ms
        return abs(target_ms - former_ms) / 1000


Plan = tuple[Step, ...]


def targets(
    position: Position,
    starts: Mapping[Place, int],
    ends: Mapping[Place, int],
    at_time: Mapping[Place, int],
) -> dict[Place, int]:
    """Only of partitions whose leader has answered."""
    return {
        place: position.resolve(starts[place], ends[place], at_time.get(place))
        for place in starts.keys() & ends.keys()
    }


def shifted(
    committed: Mapping[Place, int],
    by: int,
    starts: Mapping[Place, int],
    ends: Mapping[Place, int],
) -> dict[Place, int]:
    """Every offset forth or back by so many records, within the log."""
    return {
        place: min(max(offset + by, starts[place]), ends[place])
        for place, offset in committed.items()
        if place in starts and place in ends
    }


def plan(committed: Mapping[Place, int], wanted: Mapping[Place, int | None]) -> Plan:
    return tuple(
        Step(place, committed.get(place), target) for place, target in sorted(wanted.items())
    )


def spots(steps: Iterable[Step], ends: Mapping[Place, int]) -> Iterator[tuple[Place, int]]:
    """Where records are whose times the preview shows."""
    for step in steps:
        for offset in (step.former, step.target):
            if offset is not None and offset < ends.get(step.place, offset):
                yield step.place, offset


def bounded(steps: Iterable[Step], starts: Mapping[Place, int], ends: Mapping[Place, int]) -> Plan:
    return tuple(
        step._replace(start=starts.get(step.place, 0), end=ends.get(step.place)) for step in steps
    )


def timed(steps: Iterable[Step], times: Mapping[tuple[Place, int], int | None]) -> Plan:
    def time_at(step: Step, offset: int | None) -> int | None:
        return None if offset is None else times.get((step.place, offset))

    return tuple(
        step._replace(former_ms=time_at(step, step.former), target_ms=time_at(step, step.target))
        for step in steps
    )


def changes(steps: Iterable[Step]) -> Plan:
    return tuple(step for step in steps if step.former != step.target)
