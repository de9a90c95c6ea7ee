"""Rules on how partitions of a group move: not at all, to the end, one far behind. Pure."""

from __future__ import annotations

from statistics import median
from typing import Final

from penstock.cli.doctor.case import Case, Reason, more_members, rates_text
from penstock.cli.doctor.finding import ADD_PARTITIONS, RESTART_ALL, TO_END, Advice, Cause
from penstock.cli.doctor.trend import PartitionTrend
from penstock.cli.group.state import Member
from penstock.cli.group.words import duration, place_name
from penstock.cli.output import plural, quoted

SKEW_SHARE: Final = 0.8
SKEW_FACTOR: Final = 10
COMMIT_S: Final = 5.0
"""Consumers commit this often unless told otherwise."""


def stuck_reason(case: Case) -> Reason | None:
    stuck = case.stuck
    if not stuck:
        return None
    moving = [each for each in case.trend.partitions if (each.consumed_s or 0) > 0]
    short = case.trend.passed_s < 2 * COMMIT_S
    evidence = [_stands(each, case.trend.passed_s) for each in stuck[:3]]
    if len(stuck) > 3:
        evidence.append(f"so do {len(stuck) - 3} more")
    if (odd := case.odd.get(stuck[0].place)) is not None:
        evidence.append(
            f"of the next {plural(odd.records, 'record')} there, the first that is unlike the "
            f"others is {odd.offset}: {odd.how}"
        )
    if moving:
        evidence.append(f"{plural(len(moving), 'other partition')} of the group moved on")
    if short:
        evidence.append(
            f"only {case.trend.passed_s:.0f} s were looked at, and consumers commit every "
            f"{COMMIT_S:.0f} s by default: `--for 15s` is surer"
        )
    one_record = len(stuck) == 1
    why = (
        "a member is alive and does not get past one record: most likely it fails on that record "
        "again and again (a poison record), or hangs while it deals with it"
        if one_record
        else "members are alive and none of these partitions moves: most likely they wait for "
        "something they all call (a database, an API), less likely a record each"
    )
    return Reason(
        Cause.stuck, why, tuple(evidence), _unstick(case, stuck[0]), (RESTART_ALL, TO_END)
    )


def _stands(each: PartitionTrend, passed_s: float) -> str:
    owners = each.now.owners
    whose = f" ({_whose(owners[0])})" if owners else ""
    return (
        f"{place_name(each.place)} stands at offset {each.now.committed} for {passed_s:.0f} s "
        f"while {plural(each.lag, 'record')} wait{'s' if each.lag == 1 else ''}{whose}"
    )


def _whose(owner: Member) -> str:
    """Kafka writes hosts with a slash before an address."""
    return f"{owner.instance_id or owner.client_id} at {owner.host.removeprefix('/')}"


def _unstick(case: Case, stuck: PartitionTrend) -> tuple[Advice, ...]:
    topic, partition = stuck.place
    show = f"penstock consume {topic} -p {partition} --from"
    skip = f"penstock groups reset {quoted(case.group)} -t {topic}:{partition} --to"
    odd = case.odd.get(stuck.place)
    if odd is None:
        return (
            Advice(
                f"{show} {stuck.now.committed} -n 20 -m -k -H",
                "shows what comes next: members commit after several records, so the bad one may "
                "be some further on; their log says which it is",
            ),
            Advice(
                f"{skip} OFFSET --stop-members --dry-run",
                "OFFSET is the one after the bad record: keep that one somewhere, then skip it "
                "without --dry-run",
            ),
        )
    return (
        Advice(
            f"{show} {odd.offset} -n 1 -m -k -H",
            "shows that record; the member's log says whether it is the one",
        ),
        Advice(
            f"{skip} {odd.offset + 1} --stop-members --dry-run",
            "if it is: keep it somewhere, then go on after it without --dry-run; what stands "
            "before it was dealt with, and only not committed",
        ),
    )


def catching_up(case: Case) -> Reason | None:
    left = [each.left_s for each in case.behind]
    known = [each for each in left if each is not None]
    if not known or len(known) < len(left):
        return None
    watch = Advice(f"penstock groups watch {quoted(case.group)}", "see that it goes on")
    more = more_members(case) if case.row.over_s else ()
    return Reason(
        Cause.catching_up,
        f"it is catching up: done in about {duration(max(known))} at this pace",
        (rates_text(case),),
        (watch, *more),
        (RESTART_ALL, ADD_PARTITIONS),
    )


def _why_skewed(case: Case, worst: PartitionTrend) -> str:
    if worst.produced_s is None:
        return "whether more is written to it than to them could not be seen"
    produced = case.trend.produced_s
    share = worst.produced_s / produced if produced else 0.0
    if share > SKEW_FACTOR / 2 / len(case.trend.partitions) or share > SKEW_SHARE:
        return (
            f"{share:.0%} of what is written goes to this partition: most likely one key, or few, "
            "with most of the records"
        )
    return (
        "it gets no more than the others: most likely the member that has it is slow, or its "
        "records take longer"
    )


def skew(case: Case) -> Reason | None:
    if len(case.trend.partitions) < 2:
        return None
    worst, *others = sorted(case.trend.partitions, key=lambda each: -each.lag)
    usual = median(each.lag for each in others)
    if worst.lag < SKEW_SHARE * case.trend.lag or worst.lag < SKEW_FACTOR * max(usual, 1):
        return None
    topic, partition = worst.place
    first = Advice(
        f"penstock consume {topic} -p {partition} --from {worst.now.committed} -n 100 -k",
        "shows the keys that wait",
    )
    return Reason(
        Cause.skew,
        f"one partition is far behind the others; {_why_skewed(case, worst)}",
        (
            f"{place_name(worst.place)}: {plural(worst.lag, 'record')}; others: {usual:,.0f}",
            rates_text(case),
        ),
        (
            first,
            Advice(f"penstock groups members {quoted(case.group)}", "shows who has it, and where"),
        ),
        (ADD_PARTITIONS, Advice("start more members", "a partition has one reader"), RESTART_ALL),
    )
