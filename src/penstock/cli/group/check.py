"""What will happen when a group's consumers start: where each partition begins, and what is
amiss. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from penstock.cli.group.state import Group, PartitionLag, Place
from penstock.cli.group.words import duration
from penstock.cli.output import plural


class Reset(StrEnum):
    """`auto.offset.reset` of the consumers."""

    earliest = "earliest"
    latest = "latest"
    none = "none"


class Finding(NamedTuple):
    is_problem: bool
    text: str


class Deployment(NamedTuple):
    """What is about to be started."""

    topics: Mapping[str, int | None]
    """Partitions of each; None where there is no such topic."""
    members: int | None
    reset: Reset


def check(
    group: Group | None, lags: Sequence[PartitionLag], planned: Deployment, now_ms: int
) -> list[Finding]:
    found = [_about_group(group)]
    for topic, count in sorted(planned.topics.items()):
        if count is None:
            found.append(Finding(True, f"there is no topic {topic}: its consumers would wait"))
            continue
        rows = [each for each in lags if each.place[0] == topic]
        found += _about_topic(topic, rows, planned.reset, now_ms)
    found += _about_members(group, planned)
    return found


def _about_group(group: Group | None) -> Finding:
    if group is None:
        return Finding(False, "the group is new: it has no offsets and no members")
    if group.members:
        who = plural(len(group.members), "member")
        return Finding(False, f"the group is {group.state} and has {who} ({group.protocol})")
    return Finding(False, "the group has no members now")


def _about_topic(
    topic: str, rows: Sequence[PartitionLag], reset: Reset, now_ms: int
) -> Iterable[Finding]:
    placed = [each for each in rows if each.committed is not None]
    lost = [each for each in placed if each.start is not None and _before(each, each.start)]
    beyond = [each for each in placed if (each.lag or 0) < 0]
    fine = [each for each in placed if each not in lost and each not in beyond]
    if fine:
        records = sum(each.lag or 0 for each in fine)
        ages = [each.lag_s(now_ms) or 0.0 for each in fine]
        yield Finding(
            False,
            f"{topic}: {plural(len(fine), 'partition')} will go on from committed offsets, "
            f"{plural(records, 'record')} and {duration(max(ages))} behind",
        )
    if lost:
        yield Finding(
            True,
            f"{topic}: {_named(lost)} {_verb(lost, 'stand')} before the start of the log, which "
            f"retention has moved: auto.offset.reset={reset} decides, and {_effect(lost, reset)}",
        )
    if beyond:
        yield Finding(
            True,
            f"{topic}: {_named(beyond)} {_verb(beyond, 'stand')} behind the end of the log (was "
            f"the topic made anew?): auto.offset.reset={reset} decides, and "
            f"{_effect(beyond, reset)}",
        )
    new = [each for each in rows if each.committed is None]
    if new:
        # A new group is meant to begin somewhere; part of one is more likely an accident.
        is_problem = bool(placed) or reset is Reset.none
        yield Finding(
            is_problem,
            f"{topic}: {_named(new)} {'have' if len(new) > 1 else 'has'} no offset: "
            f"auto.offset.reset={reset} decides, and {_effect(new, reset)}",
        )


def _before(row: PartitionLag, start: int) -> bool:
    return row.committed is not None and row.committed < start


def _effect(rows: Sequence[PartitionLag], reset: Reset) -> str:
    records = sum((each.end or 0) - (each.start or 0) for each in rows)
    if reset is Reset.none:
        return "the consumers fail (NoOffsetForPartitionException)"
    if reset is Reset.earliest:
        return f"{plural(records, 'record')} are read from the beginning"
    return f"{plural(records, 'record')} that are there are skipped"


def _named(rows: Sequence[PartitionLag], most: int = 5) -> str:
    places: list[Place] = [each.place for each in rows]
    shown = ", ".join(str(partition) for _, partition in places[:most])
    more = f" and {len(places) - most} more" if len(places) > most else ""
    return f"partition{'s' if len(places) > 1 else ''} {shown}{more}"


def _verb(rows: Sequence[PartitionLag], of_many: str) -> str:
    return of_many if len(rows) > 1 else f"{of_many}s"


def _about_members(group: Group | None, planned: Deployment) -> Iterable[Finding]:
    count = planned.members
    if count is None:
        count = 0 if group is None else len(group.members)
    partitions = sum(each or 0 for each in planned.topics.values())
    if count > partitions:
        idle = count - partitions
        yield Finding(
            True,
            f"{plural(count, 'member')} for {plural(partitions, 'partition')}: {idle} would have "
            "nothing to do",
        )
