"""Why one topic of one group is behind: rules in their order, the first that fits. Pure.

Slow consumers and a surge of producers look alike without the past: where it is not kept, the
reason says so. What goes by the past is in `past_rule`, by the movement of partitions in
`progress_rule`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from penstock.cli.doctor.case import Case, Reason, more_members, rates_text
from penstock.cli.doctor.finding import (
    ADD_PARTITIONS,
    MORE_MEMBERS,
    RESTART_ALL,
    TO_END,
    Advice,
    Cause,
)
from penstock.cli.doctor.past_rule import (
    grew_over_days,
    producer_surge,
    slow_consumer,
    throttled,
)
from penstock.cli.doctor.progress_rule import catching_up, skew, stuck_reason
from penstock.cli.doctor.share_rule import share_is_slow, share_is_stuck
from penstock.cli.output import plural, quoted


def find_reason(case: Case) -> Reason:
    rules = SHARE_RULES if case.row.lag.group.is_share else RULES
    return next(found for rule in rules if (found := rule(case)) is not None)


def _no_members(case: Case) -> Reason | None:
    if case.row.lag.group.members:
        return None
    churn = [each for each in case.glances if each.members]
    if churn:
        return None
    return Reason(
        Cause.no_members,
        "nobody reads: the group has no member",
        (f"no member in the {case.trend.passed_s:.0f} s that were looked at",),
        (
            Advice(
                "start its consumers, or look at why they ended",
                "they go on from the committed offsets; nothing is lost while retention keeps it",
            ),
            Advice(
                f"penstock groups delete {quoted(case.group)}",
                "only if nobody will ever read by it again",
            ),
        ),
        (TO_END,),
    )


def _rebalance_loop(case: Case) -> Reason | None:
    unsettled = sum(not each.is_settled for each in case.glances)
    changes = sum(
        one.members != other.members
        for one, other in zip(case.glances, case.glances[1:], strict=False)
    )
    looped = changes >= 2 or case.rebalances >= 2
    lasting = len(case.glances) >= 4 and unsettled * 2 >= len(case.glances)
    if not looped and not lasting:
        return None
    seen = f"{len(case.glances)} glances in {case.trend.passed_s:.0f} s"
    evidence = [f"{seen}: {unsettled} in a rebalance, members changed {plural(changes, 'time')}"]
    if case.rebalances:
        evidence.append(f"the broker counted {plural(case.rebalances, 'rebalance')} meanwhile")
    return Reason(
        Cause.rebalance_loop,
        "the group rebalances again and again, and nobody reads meanwhile: members most likely "
        "take longer for a batch than max.poll.interval.ms, are thrown out and join again, or "
        "crash and restart",
        tuple(evidence),
        (
            Advice(
                f"penstock groups members {quoted(case.group)}",
                "shows who comes and goes, and where",
            ),
            Advice(
                "set max.poll.records lower, or max.poll.interval.ms higher",
                "one member at a time, starting with the one that goes most often",
            ),
        ),
        (RESTART_ALL, Advice("start more members", "each of them is one more rebalance")),
    )


def _unassigned(case: Case) -> Reason | None:
    if not case.behind or any(each.now.owners for each in case.behind):
        return None
    return Reason(
        Cause.unassigned,
        "the group has members, and none of them has these partitions: most likely it does not "
        "read this topic any more and its old offsets are left",
        (f"{plural(len(case.behind), 'partition')} without a member",),
        (
            Advice(
                f"penstock groups members {quoted(case.group)}", "shows what they are subscribed to"
            ),
            Advice(
                "look at the subscription of the consumers",
                "if they should read it, they do not; if not, the offsets expire by themselves",
            ),
        ),
        (RESTART_ALL,),
    )


def _partition_cap(case: Case) -> Reason | None:
    if case.readers < case.partition_count or len(case.behind) * 2 < case.partition_count:
        return None
    return Reason(
        Cause.partition_cap,
        "every partition has a member of its own and they do not keep up: more members cannot help",
        (
            f"{plural(case.readers, 'member')} for {plural(case.partition_count, 'partition')}",
            rates_text(case),
        ),
        (
            Advice(
                "make each member faster",
                "larger batches, several records at once within a member, a faster downstream",
            ),
            Advice(
                "penstock quotas",
                "slow down a producer whose records can wait (a backfill)",
            ),
        ),
        (MORE_MEMBERS, ADD_PARTITIONS, RESTART_ALL),
    )


def _too_slow(case: Case) -> Reason | None:
    if not case.trend.is_known:
        return None
    grows = case.trend.consumed_s < case.trend.produced_s
    why = (
        "it reads less than is written: the consumers are slower than usual, or more is written "
        "than usual. Which of them cannot be told without a past of the time before it fell behind"
        if grows
        else "it reads as much as is written and stays behind"
    )
    watch = Advice(f"penstock groups watch {quoted(case.group)}", "which partitions, and how fast")
    return Reason(
        Cause.too_slow,
        why,
        (rates_text(case),),
        (watch, *more_members(case)),
        (MORE_MEMBERS, ADD_PARTITIONS, RESTART_ALL),
    )


def _unknown(case: Case) -> Reason:
    return Reason(
        Cause.unknown,
        "not known: its offsets could not be compared between the two looks",
        first=(Advice(f"penstock groups describe {quoted(case.group)}", "shows what is known"),),
    )


RULES: Final[tuple[Callable[[Case], Reason | None], ...]] = (
    _no_members,
    _rebalance_loop,
    _unassigned,
    throttled,
    stuck_reason,
    catching_up,
    producer_surge,
    skew,
    slow_consumer,
    grew_over_days,
    _partition_cap,
    _too_slow,
    _unknown,
)

SHARE_RULES: Final[tuple[Callable[[Case], Reason | None], ...]] = (
    _no_members,
    _unassigned,
    share_is_stuck,
    catching_up,
    share_is_slow,
    _unknown,
)
"""Of groups whose members take records one by one: no partition belongs to one of them."""
