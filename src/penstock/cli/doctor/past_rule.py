"""Rules that compare a group with its own past: who changed, producers or consumers. Pure."""

from __future__ import annotations

from itertools import pairwise
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
from penstock.cli.doctor.past import Calm, Moment, Writer
from penstock.cli.doctor.tail import Tail
from penstock.cli.group.words import duration
from penstock.cli.operator.state import name_some
from penstock.cli.output import human_bytes, plural, quoted, show_time

SURGE_FACTOR: Final = 1.5
SLOW_SHARE: Final = 0.7
ONE_CLIENT: Final = 0.8
DAYS_MIN: Final = 2
DAY_S: Final = 86_400
QUOTA_MIN: Final = 256
"""Bytes a second: less would hold back a single batch for minutes."""
THROTTLED_MS: Final = 20.0
_QUOTAS: Final = {"fetch": "consumer_byte_rate", "request": "request_percentage"}


def is_surge(case: Case) -> bool:
    """More is written than before it fell behind, and that is more than what is read less."""
    calm = case.calm
    if calm is None or not case.trend.is_known or not _has_grown(case, calm):
        return False
    return case.trend.produced_s - calm.produced_s > calm.consumed_s - case.trend.consumed_s


def _has_grown(case: Case, calm: Calm) -> bool:
    return case.trend.produced_s > SURGE_FACTOR * calm.produced_s


def _is_slower(case: Case, calm: Calm) -> bool:
    return case.trend.consumed_s < SLOW_SHARE * calm.consumed_s


def producer_surge(case: Case) -> Reason | None:
    calm = case.calm
    if calm is None or not is_surge(case):
        return None
    who, evidence, client = _writers(case.writers)
    what, seen = _kind(case.tail)
    first = [
        Advice(
            f"penstock quotas set --client {quoted(client)} producer_byte_rate={_allowed(case)}",
            f"slows it down to where consumers keep up, until `penstock quotas unset --client "
            f"{quoted(client)}`. It waits meanwhile, {_cost(case.writers[0])}",
        )
        if client
        else Advice(
            "find out what made all producers write more",
            "a campaign, a retry storm, a new release; quotas hold back those whose records can "
            "wait",
        )
    ]
    if not client:
        first += more_members(case)
    return Reason(
        Cause.producer_surge,
        f"more is written than before it fell behind, and it is read {_pace(case, calm)}: "
        f"{who}{what}",
        (_compared(case, calm), *evidence, *seen),
        tuple(first),
        (MORE_MEMBERS, ADD_PARTITIONS, RESTART_ALL, TO_END),
    )


def _pace(case: Case, calm: Calm) -> str:
    if _is_slower(case, calm):
        return "slower than then, which is the smaller part of it"
    return "as fast as then"


def _writers(writers: tuple[Writer, ...]) -> tuple[str, tuple[str, ...], str]:
    """Who it is, what was seen of it, and the client id if it is one alone."""
    grown = sum(each.grown_s for each in writers)
    if not grown:
        return "which producers it is was not written down yet; look again in a minute", (), ""
    top = writers[0]
    seen = tuple(
        f"client {each.client_id or '(without an id)'} wrote {_rate(each.now_s)} since then, "
        f"{_rate(each.before_s)} before"
        for each in writers[:3]
        if each.grown_s
    )
    if top.grown_s >= ONE_CLIENT * grown:
        return f"one client alone, {top.client_id or 'without an id'}", seen, top.client_id
    names = [each.client_id for each in writers if each.grown_s > 0.1 * grown]
    return f"{plural(len(names), 'client')} ({name_some(names)})", seen, ""


def _allowed(case: Case) -> int:
    """What it wrote before; of one that is new, a tenth of what it writes. Of each broker."""
    writer = case.writers[0]
    return max(int(max(writer.before_s, writer.now_s / 10) / case.leaders), QUOTA_MIN)


def _cost(writer: Writer) -> str:
    """Of a quota, to whom it is set."""
    own = "with all that it writes, also its usual records, " if writer.before_s else ""
    return f"{own}and gives up what waits longer than its delivery timeout (2 minutes by default)"


def _kind(tail: Tail | None) -> tuple[str, tuple[str, ...]]:
    if tail is None:
        return "", ()
    key = "no key" if tail.key is None else f"the key {tail.key[:40].decode(errors='replace')}"
    seen = (
        f"of the last {plural(tail.records, 'record')}, {tail.key_share:.0%} have {key}, "
        f"{tail.same_share:.0%} are the same; half of them are older than "
        f"{duration(max(tail.age_s, 0.0))}"
    )
    if tail.is_loop:
        return ". The same record again and again: most likely a loop", (seen,)
    if tail.is_backfill:
        return ". Records of the past by their own time stamps: a backfill", (seen,)
    return "", (f"neither a loop nor a backfill: {seen}",)


def slow_consumer(case: Case) -> Reason | None:
    calm = case.calm
    if calm is None or not case.trend.is_known:
        return None
    if not _is_slower(case, calm):
        return None
    look = Advice(
        "look at what became slower there: their log, what they call, their machine",
        "they are the same consumers as before"
        + ("; more is written too, which is the smaller part" if _has_grown(case, calm) else ""),
    )
    members = Advice(
        f"penstock groups members {quoted(case.group)}", "shows who they are, and where"
    )
    return Reason(
        Cause.slow_consumer,
        "its consumers have become slower: they read less than before it fell behind, and not "
        "because less is written",
        (_compared(case, calm),),
        (look, members, *more_members(case)),
        (RESTART_ALL, MORE_MEMBERS, ADD_PARTITIONS),
    )


def throttled(case: Case) -> Reason | None:
    clients = {each.client_id for each in case.row.lag.group.members}
    waits = [
        each
        for each in case.throttled
        if each.client_id in clients and each.kind != "produce" and each.wait_ms >= THROTTLED_MS
    ]
    if not waits:
        return None
    worst = max(waits, key=lambda each: each.wait_ms)
    seen = (
        f"client {worst.client_id} waits {worst.wait_ms:.0f} ms on average, by its quota of "
        f"{_QUOTAS[worst.kind]}"
    )
    return Reason(
        Cause.throttled,
        "a quota holds its consumers back: brokers make them wait",
        (seen, rates_text(case)),
        (
            Advice("penstock quotas list", "shows the quotas that are set"),
            Advice(
                f"penstock quotas set --client {quoted(worst.client_id)} {_QUOTAS[worst.kind]}=N",
                "more, if the brokers have it to spare; others of the same quota share it",
            ),
        ),
        (RESTART_ALL, MORE_MEMBERS),
    )


def grew_over_days(case: Case) -> Reason | None:
    """It has been behind for days, and a little more every day."""
    days = _by_day(case.hours)
    if len(days) < DAYS_MIN + 1:
        return None
    lags = [each.figures.lag for each in days]
    if any(now <= before for before, now in pairwise(lags)):
        return None
    if case.trend.lag < lags[-1] * SLOW_SHARE:
        return None
    passed_s = (days[-1].until_ms - days[0].until_ms) / 1000
    grown_s = (lags[-1] - lags[0]) / passed_s
    return Reason(
        Cause.grew_over_days,
        f"its lag has grown for {plural(len(days) - 1, 'day')}, by {grown_s * DAY_S:,.0f} records "
        "a day: it reads a little less than is written, all the time",
        (
            "records that waited, at the end of each day: "
            + ", ".join(f"{each:,}" for each in lags),
            rates_text(case),
        ),
        (
            Advice(
                "give it more members, or make each faster",
                "this is capacity, not an incident: there is time to do it in daylight",
            ),
            Advice("penstock capacity", "says how many partitions and consumers the load needs"),
        ),
        (ADD_PARTITIONS, RESTART_ALL, TO_END),
    )


def _by_day(hours: tuple[Moment, ...]) -> list[Moment]:
    """The last of each 24 hours, counted back from the last of all."""
    found: dict[int, Moment] = {}
    for each in hours:
        found[(hours[-1].until_ms - each.until_ms) // (DAY_S * 1000)] = each
    return [found[number] for number in sorted(found, reverse=True)]


def _compared(case: Case, calm: Calm) -> str:
    trend = case.trend
    return (
        f"written: {trend.produced_s:,.1f} records/s, {calm.produced_s:,.1f} before; read: "
        f"{trend.consumed_s:,.1f}, {calm.consumed_s:,.1f} before (the median of "
        f"{plural(calm.intervals, 'interval')} until {show_time(calm.until_ms)})"
    )


def _rate(value: float) -> str:
    return f"{human_bytes(int(value))}/s"
