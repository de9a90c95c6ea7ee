"""Why a share group is behind: nothing is acknowledged, or not enough. Pure.

Any number of members work on a partition, and a record that nobody can deal with is archived after
some deliveries: neither one record nor the number of partitions holds such a group up.
"""

from __future__ import annotations

from typing import Final

from penstock.cli.doctor.case import Case, Reason, more_members, rates_text
from penstock.cli.doctor.finding import TO_END, Advice, Cause
from penstock.cli.group.words import place_name
from penstock.cli.output import plural, quoted

LOCK_S: Final = 30.0
"""A member has so long for what it took, unless told otherwise."""
RESTART: Final = Advice(
    "restart all consumers",
    "what they were at is delivered and done again, and the cause is still there",
)


def share_is_stuck(case: Case) -> Reason | None:
    stuck = case.stuck
    if not stuck or len(stuck) < len(case.behind):
        return None
    worst = max(stuck, key=lambda each: each.lag)
    passed_s = case.trend.passed_s
    wait = "waits" if worst.lag == 1 else "wait"
    evidence = [
        f"{plural(len(stuck), 'partition')} without an acknowledgement in {passed_s:.0f} s",
        f"{place_name(worst.place)} has {plural(worst.lag, 'record')} that {wait}",
    ]
    if passed_s < LOCK_S:
        evidence.append(
            f"only {passed_s:.0f} s were looked at: members that acknowledge many records at once "
            f"look the same; `--for {2 * LOCK_S:.0f}s` is surer"
        )
    return Reason(
        Cause.stuck,
        "members are alive and no record is done with: most likely they wait for something they "
        "call, or release what they take again and again",
        tuple(evidence),
        (
            Advice(
                f"penstock groups members {quoted(case.group)}", "shows who they are, and where"
            ),
            Advice(
                "look at their log, and at what they call",
                "a record that fails is archived after share.delivery.count.limit deliveries: "
                "all of them failing is not the record's fault",
            ),
        ),
        (RESTART, TO_END),
    )


def share_is_slow(case: Case) -> Reason | None:
    if not case.trend.is_known:
        return None
    return Reason(
        Cause.too_slow,
        "its members do less than is written"
        if case.trend.consumed_s < case.trend.produced_s
        else "its members do as much as is written, and it stays behind",
        (rates_text(case), f"{plural(len(case.row.lag.group.members), 'member')}"),
        (
            *more_members(case),
            Advice(f"penstock groups watch {quoted(case.group)}", "which partitions, and how fast"),
        ),
        (RESTART, TO_END),
    )
