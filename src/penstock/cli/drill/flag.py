"""What must not be done in an incident, seen in how the cluster changed meanwhile. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

SKIPPED_MIN: Final = 50
"""Records: more than one bad one and its neighbours."""


class Seen(NamedTuple):
    """One group at a moment."""

    lag: int
    lag_s: float
    members: frozenset[str]
    partitions: int
    committed: int
    """Of all partitions together."""
    dealt: int = 0
    """Records that its members have dealt with."""


class Moment(NamedTuple):
    at_s: float
    """Since the page."""
    groups: Mapping[str, Seen]
    processes: tuple[int, ...] = ()
    """Of the brokers, where the drill runs them."""


class Act(NamedTuple):
    """What was typed at the drill."""

    at_s: float
    words: tuple[str, ...]


def flags(
    moments: Sequence[Moment], acts: Sequence[Act], strictest: str, limit_s: float
) -> list[str]:
    """In words; `strictest` is the group with the strictest limit."""
    if not moments:
        return []
    found = [
        *_restart_all(moments, acts),
        *_partitions(moments),
        *_members(moments),
        *_brokers(moments),
        *_skipped(moments),
        *_urgency(moments, acts, strictest, limit_s),
    ]
    return list(dict.fromkeys(found))


def _restart_all(moments: Sequence[Moment], acts: Sequence[Act]) -> list[str]:
    typed = any(each.words[:2] == ("restart", "all") for each in acts)
    if not typed:
        return []
    return ["all consumers were restarted at once: a rebalance everywhere, and the cause was left"]


def _partitions(moments: Sequence[Moment]) -> list[str]:
    first = moments[0].groups
    return [
        f"partitions were added to the topic of {name} under pressure: keys have moved"
        for each in moments
        for name, seen in each.groups.items()
        if name in first and seen.partitions > first[name].partitions
    ]


def _members(moments: Sequence[Moment]) -> list[str]:
    return [
        f"{name} got more members than partitions: the others had nothing to do"
        for each in moments
        for name, seen in each.groups.items()
        if len(seen.members) > seen.partitions
    ]


def _brokers(moments: Sequence[Moment]) -> list[str]:
    if all(each.processes == moments[0].processes for each in moments):
        return []
    return ["brokers were restarted, which were not the cause"]


def _skipped(moments: Sequence[Moment]) -> list[str]:
    """What is committed beyond what members have dealt with, nobody has."""
    first = moments[0].groups
    return [
        f"{name} was set forward past good records: nobody has dealt with them"
        for each in moments
        for name, seen in each.groups.items()
        if name in first
        and seen.committed - first[name].committed - (seen.dealt - first[name].dealt) >= SKIPPED_MIN
    ]


def _urgency(
    moments: Sequence[Moment], acts: Sequence[Act], strictest: str, limit_s: float
) -> list[str]:
    late = [
        each.at_s
        for each in moments
        if strictest in each.groups and each.groups[strictest].lag_s > limit_s
    ]
    named = [
        each for each in acts if len(each.words) > 1 and each.words[0] in ("members", "repair")
    ]
    if not late or not named or named[0].words[1] not in _LAX:
        return []
    if late[0] > named[0].at_s:
        return []
    return [f"{named[0].words[1]} came first while {strictest} was over its stricter limit"]


_LAX: Final = ("analytics",)
