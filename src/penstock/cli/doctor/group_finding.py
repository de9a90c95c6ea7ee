"""What is said of a group that is behind, and of several that stand still at once. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.cli.doctor.case import Case
from penstock.cli.doctor.finding import RESTART_ALL, Advice, Cause, Finding, Level
from penstock.cli.doctor.group_rule import find_reason
from penstock.cli.group.order import RankedLag
from penstock.cli.group.words import duration, place_name
from penstock.cli.operator.state import name_some
from penstock.cli.output import plural

HARMLESS: Final = (Cause.catching_up, Cause.unassigned)
"""Worth a note only, unless a limit is overstepped."""


def group_finding(case: Case) -> Finding:
    reason = find_reason(case)
    row = case.row
    over = bool(row.over_s)
    level = Level.limit if over else Level.behind
    if reason.cause in HARMLESS and not over:
        level = Level.note
    return Finding(
        level,
        reason.cause,
        _what(row),
        reason.why,
        reason.evidence,
        reason.first,
        reason.avoid,
        _since_ms(row),
        case.group,
        row.topic,
    )


def _what(row: RankedLag) -> str:
    worst = row.worst
    where = "" if worst is None else f" (worst: {place_name(worst.place)})"
    age = f"{duration(row.seconds)} behind" if row.seconds is not None else "behind"
    limit = f", {duration(row.limit_s)} allowed" if row.limit_s is not None else ""
    return (
        f"{row.lag.group.name} is {age} on {row.topic}{limit}: "
        f"{plural(row.lag.records, 'record')} wait{'s' if row.lag.records == 1 else ''}{where}"
    )


def _since_ms(row: RankedLag) -> int | None:
    """When the oldest record that waits was written; over a limit, when it was overstepped."""
    if row.seconds is None:
        return None
    return round(row.lag.now_ms - (row.over_s or row.seconds) * 1000)


def shared_finding(stuck: Mapping[str, Case], slow: Mapping[str, Case]) -> Finding | None:
    """Several groups that stand still at once, not at the same record, or have become slower at
    once: what they call is down or slow."""
    whole = {name: case for name, case in stuck.items() if not case.keeps_up_elsewhere}
    spots = {(each.place, each.now.committed) for case in whole.values() for each in case.stuck}
    still = whole if len(whole) >= 2 and len(spots) >= 2 else {}
    cases = {**slow, **still} if still or len(slow) >= 2 else {}
    if not cases:
        return None
    names = sorted(cases)
    over = any(case.row.over_s for case in cases.values())
    done = "stand still" if not slow else "have become slower or stand still"
    return Finding(
        Level.limit if over else Level.behind,
        Cause.shared_downstream,
        f"{plural(len(names), 'group')} {done} at once: {name_some(names)}",
        "groups that have nothing to do with each other seldom fail at the same moment: most "
        "likely something they all call is down or slow",
        tuple(_progress(name, cases[name]) for name in names[:5]),
        (
            Advice(
                "look at what these consumers share",
                "a database, an API, a host, a deployment; they go on alone once it is back",
            ),
        ),
        (RESTART_ALL, Advice("skip records", "they are most likely good")),
    )


def _progress(name: str, case: Case) -> str:
    if case.stuck:
        return f"{name}: {plural(len(case.stuck), 'partition')} without progress"
    before = "" if case.calm is None else f", {case.calm.consumed_s:,.1f} before"
    return f"{name}: {case.trend.consumed_s:,.1f} records/s read{before}"
