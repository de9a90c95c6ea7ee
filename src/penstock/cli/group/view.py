"""Groups and their lag as tables and as JSON. Pure."""

from __future__ import annotations

from typing import Any

from penstock.cli.group.order import RankedLag
from penstock.cli.group.reset import Plan, Step
from penstock.cli.group.state import GroupLag, Member, PartitionLag
from penstock.cli.group.words import duration, place_name
from penstock.cli.output import Cell, plural

LAG_COLUMNS = ("topic", "part", "committed", "end", "behind", "age", "member")
MEMBER_COLUMNS = ("client", "host", "partitions", "behind", "age", "member")
RANK_COLUMNS = ("group", "topic", "age", "limit", "over", "behind", "worst", "state", "members")
PLAN_COLUMNS = ("topic", "part", "from", "to", "effect", "time")


def lag_rows(lag: GroupLag) -> list[tuple[Cell, ...]]:
    return [
        (
            *each.place,
            each.committed,
            each.end,
            each.lag,
            duration(each.lag_s(lag.now_ms)),
            _whose(each),
        )
        for each in lag.partitions
    ]


def lag_document(lag: GroupLag) -> dict[str, Any]:
    return {
        "group": lag.group.name,
        "state": lag.group.state,
        "protocol": lag.group.protocol,
        "assignor": lag.group.assignor,
        "coordinator": lag.group.coordinator,
        "members": len(lag.group.members),
        "lag": lag.known_records,
        "lag_seconds": lag.seconds,
        "unanswered_partitions": lag.unanswered,
        "partitions": [_partition_document(each, lag.now_ms) for each in lag.partitions],
    }


def _partition_document(row: PartitionLag, now_ms: int) -> dict[str, Any]:
    return {
        "topic": row.place[0],
        "partition": row.place[1],
        "committed": row.committed,
        "start": row.start,
        "end": row.end,
        "lag": row.lag,
        "lag_seconds": row.lag_s(now_ms),
        "member": row.owners[0].member_id if len(row.owners) == 1 else None,
        "host": row.owners[0].host if len(row.owners) == 1 else None,
        "members": len(row.owners),
    }


def _whose(row: PartitionLag) -> str | None:
    if len(row.owners) > 1:
        return plural(len(row.owners), "member")
    return _short(row.owners[0]) if row.owners else None


def _short(member: Member) -> str:
    """Whom to look for: what it calls itself, and where it runs."""
    return f"{member.instance_id or member.client_id} {member.host}"


def member_rows(lag: GroupLag) -> list[tuple[Cell, ...]]:
    return [
        (
            member.instance_id or member.client_id,
            member.host,
            len(member.assigned),
            theirs.records,
            duration(theirs.seconds),
            member.member_id,
        )
        for member, theirs in _by_member(lag)
    ]


def member_documents(lag: GroupLag) -> list[dict[str, Any]]:
    return [
        {
            "member": member.member_id,
            "instance": member.instance_id,
            "client": member.client_id,
            "host": member.host,
            "subscribed": list(member.subscribed),
            "partitions": [place_name(each) for each in member.assigned],
            "lag": theirs.records,
            "lag_seconds": theirs.seconds,
        }
        for member, theirs in _by_member(lag)
    ]


def _by_member(lag: GroupLag) -> list[tuple[Member, GroupLag]]:
    return [
        (
            member,
            GroupLag(
                lag.group,
                tuple(each for each in lag.partitions if member in each.owners),
                lag.now_ms,
            ),
        )
        for member in sorted(lag.group.members, key=lambda each: (each.client_id, each.member_id))
    ]


def rank_row(row: RankedLag) -> tuple[Cell, ...]:
    worst = row.worst
    return (
        row.lag.group.name,
        row.topic,
        duration(row.seconds),
        duration(row.limit_s),
        duration(row.over_s) if row.over_s else None,
        _behind(row.lag),
        None if worst is None or not row.lag.records else worst.place[1],
        row.lag.group.state,
        len(row.lag.group.members),
    )


def _behind(lag: GroupLag) -> Cell:
    if lag.known_records is None or not lag.unanswered:
        return lag.known_records
    return f"{lag.records}+"


def rank_document(row: RankedLag) -> dict[str, Any]:
    worst = row.worst
    return {
        "group": row.lag.group.name,
        "topic": row.topic,
        "lag": row.lag.known_records,
        "lag_seconds": row.seconds,
        "unanswered_partitions": row.lag.unanswered,
        "limit_seconds": row.limit_s,
        "over_seconds": row.over_s,
        "worst_partition": None if worst is None else worst.place[1],
        "state": row.lag.group.state,
        "members": len(row.lag.group.members),
    }


def plan_rows(steps: Plan, now_ms: int) -> list[tuple[Cell, ...]]:
    return [
        (*each.place, each.former, each.target, effect(each), duration(each.moved_s(now_ms)))
        for each in steps
    ]


def plan_documents(steps: Plan, now_ms: int) -> list[dict[str, Any]]:
    return [
        {
            "topic": each.place[0],
            "partition": each.place[1],
            "from": each.former,
            "to": each.target,
            "skipped": each.skipped,
            "read_again": each.read_again,
            "seconds": each.moved_s(now_ms),
        }
        for each in steps
    ]


def effect(step: Step) -> str:
    if step.former == step.target:
        return "stays"
    if step.target is None:
        return "has no offset again"
    if step.former is None:
        return "had no offset"
    if step.skipped:
        return f"skips {plural(step.skipped, 'record')}"
    if not step.read_again:
        return "no record between"
    return f"reads {plural(step.read_again, 'record')} again"


def plan_summary(steps: Plan) -> str:
    skipped = sum(each.skipped for each in steps)
    again = sum(each.read_again for each in steps)
    parts = [plural(skipped, "record") + " skipped"] if skipped else []
    parts += [plural(again, "record") + " read again"] if again else []
    if begun := [each for each in steps if each.is_beginning]:
        parts.append(
            f"{plural(len(begun), 'partition')} without an offset: "
            f"{plural(sum(each.before for each in begun), 'record')} left out, "
            f"{sum(each.ahead for each in begun):,} to read"
        )
    return ", ".join(parts) or "no record is skipped or read again"
