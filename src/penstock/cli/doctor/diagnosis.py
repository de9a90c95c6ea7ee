"""All findings in the order in which to read them: brokers, limits, the rest. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from penstock.cli.doctor.broker_rule import broker_findings
from penstock.cli.doctor.case import Case, is_case
from penstock.cli.doctor.facts import Facts
from penstock.cli.doctor.finding import Cause, Finding, Level
from penstock.cli.doctor.group_finding import group_finding, shared_finding
from penstock.cli.doctor.load_rule import load_findings
from penstock.cli.doctor.past import Past
from penstock.cli.doctor.past_rule import is_surge
from penstock.cli.doctor.tail import Written
from penstock.cli.doctor.trend import trend_of
from penstock.cli.group.order import ranked
from penstock.cli.group.state import Place
from penstock.cli.operator.state import name_some
from penstock.cli.output import plural

FOLD_ABOVE: Final = 3
"""Groups without members nor limit: abandoned ones are many, and stand together, after the rest."""
DISK_SHARE: Final = 0.85


def diagnose(facts: Facts, disk_share: float = DISK_SHARE) -> list[Finding]:
    found = [(group_finding(case), case) for case in _cases(facts)]
    shared = shared_finding(
        {case.group: case for one, case in found if one.cause == Cause.stuck},
        {case.group: case for one, case in found if one.cause == Cause.slow_consumer},
    )
    findings = [*([] if shared is None else [shared]), *(one for one, _ in found)]
    # Sorting is stable: within a level the order of `ranked` stays.
    ordered = sorted(findings, key=lambda each: each.level)
    brokers = [*broker_findings(facts, disk_share), *load_findings(facts.past)]
    return [*brokers, *_folded(ordered)]


def surging(facts: Facts) -> Written:
    """Topics to be looked into, and what was written to each of their partitions meanwhile."""
    return {
        case.row.topic: {
            each.place: (each.produced_s or 0.0) * case.trend.passed_s
            for each in case.trend.partitions
        }
        for case in _cases(facts)
        if is_surge(case)
    }


def standing(facts: Facts) -> dict[Place, int]:
    """Partitions that stand still, and at which offset. Share groups stand at no record."""
    return {
        each.place: each.now.committed
        for case in _cases(facts)
        if not case.row.lag.group.is_share
        for each in case.stuck
        if each.now.committed is not None
    }


def is_wrong(findings: list[Finding]) -> bool:
    return any(each.level != Level.note for each in findings)


def _cases(facts: Facts) -> list[Case]:
    before = {each.group.name: each for each in facts.before.lags}
    counts: dict[str, int] = {}
    leaders: dict[str, set[int | None]] = {}
    for place, partition in facts.after.state.partitions.items():
        counts[place.topic] = counts.get(place.topic, 0) + 1
        leaders.setdefault(place.topic, set()).add(partition.leader)
    cases = []
    for row in ranked(facts.after.lags, facts.slas):
        if not is_case(row):
            continue
        name = row.lag.group.name
        earlier = before.get(name)
        case = Case(
            row,
            trend_of(None if earlier is None else earlier.of_topic(row.topic), row.lag),
            counts.get(row.topic, 0),
            facts.glances.get(name, ()),
            facts.rebalances.get(name, 0),
            odd=facts.odd,
            leaders=max(len(leaders.get(row.topic, ())), 1),
        )
        cases.append(case if facts.past is None else _with_past(case, facts, facts.past))
    return cases


def _with_past(case: Case, facts: Facts, past: Past) -> Case:
    topic = case.row.topic
    calm = past.calm(case.group, topic, case.row.lag.records)
    return replace(
        case,
        calm=calm,
        hours=past.hours_of(case.group, topic),
        writers=() if calm is None else tuple(past.writers(topic, calm)),
        throttled=past.throttled,
        tail=facts.tails.get(topic),
    )


def _folded(findings: list[Finding]) -> list[Finding]:
    empty = [each for each in findings if _is_abandoned(each)]
    names = list(dict.fromkeys(each.group for each in empty))
    if len(names) <= FOLD_ABOVE:
        return findings
    together = replace(
        empty[0],
        what=f"{plural(len(names), 'group')} without a member and without a limit are behind: "
        f"{name_some(names)}",
        why="nobody reads: they have no member; some may have been abandoned",
        evidence=(f"the worst: {empty[0].what}",),
        group=None,
        topic=None,
    )
    kept = [each for each in findings if not _is_abandoned(each)]
    urgent = [each for each in kept if each.level <= Level.behind]
    return [*urgent, together, *kept[len(urgent) :]]


def _is_abandoned(found: Finding) -> bool:
    return found.cause == Cause.no_members and found.level == Level.behind
