"""Lag in words and in cells of tables. Pure."""

from __future__ import annotations

from penstock.cli.group.state import Group, GroupLag
from penstock.cli.output import plural


def duration(seconds: float | None) -> str:
    """In its two largest units: `31s`, `2m05s`, `3h10m`, `4d06h`."""
    if seconds is None:
        return "-"
    if seconds < 10 and seconds != int(seconds):
        return f"{seconds:.1f}s"
    whole = int(seconds)
    for size, unit, smaller, smaller_unit in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "m"),
        (60, "m", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size}{unit}{rest:02}{smaller_unit}"
    return f"{whole}s"


def place_name(place: tuple[str, int]) -> str:
    return f"{place[0]}-{place[1]}"


def who(group: Group) -> str:
    if not group.members:
        return "no members: nobody reads"
    return plural(len(group.members), "member")


def summary(lag: GroupLag) -> str:
    """One sentence about a group."""
    group = lag.group
    kind = f"{group.protocol}, {group.assignor}" if group.assignor else group.protocol
    return f"{group.name} is {group.state} ({kind}), {who(group)}; {_behind(lag)}"


def _behind(lag: GroupLag) -> str:
    late = [each for each in lag.partitions if (each.lag or 0) > 0]
    unknown = sum(not each.is_known for each in lag.partitions)
    of_how_many = f"is not known of {plural(unknown, 'partition')}"
    if late and not all(each.has_only_markers for each in late) and lag.worst is not None:
        return (
            f"it is {plural(lag.records, 'record')} behind, the oldest of them "
            f"{duration(lag.seconds)} old (partition {place_name(lag.worst.place)})"
            + (f"; how far {of_how_many}" if unknown else "")
        )
    if not lag.partitions:
        return "it has no offsets"
    if unknown:
        return f"how far it is behind {of_how_many}"
    if late:
        return "nothing is left to read but markers of transactions"
    return "nothing is left to read"
