"""Rules of the doctor that go by the past, on plain facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.cli.doctor.diagnosis import diagnose, surging
from penstock.cli.doctor.facts import Facts
from penstock.cli.doctor.finding import Cause, Finding
from penstock.cli.doctor.past import Past
from penstock.cli.doctor.tail import Tail, tail_of
from penstock.model.figures import ClientFigures, Figures, GroupFigures, ThrottleFigures
from penstock.records.record import Record
from tests.unit.cli.test_cli_doctor_rules import NOW_MS, TOPIC, Row, facts, group, only

MINUTE = 60_000
HOUR = 60 * MINUTE
SLOW: list[Row] = [(0, 1000, 100, 1200)] * 2
"""10 read and 20 written a second, on each of two partitions; 2,200 wait."""


def figures(
    ago: int, *, lag: int = 10, read: int = 1200, wrote: int = 1200, **more: int
) -> Figures:
    """A minute that ended so many minutes ago; 20 a second, unless told otherwise."""
    until = NOW_MS - ago * MINUTE
    row = GroupFigures("a", TOPIC, lag, 1.0, read, wrote, 1, 0)
    clients = tuple(ClientFigures(TOPIC, "u", name, size) for name, size in more.items())
    return Figures(1, until - MINUTE, until, groups=(row,), clients=clients)


def looked(rows: list[Row], *minutes: Figures, members: int = 1) -> Facts:
    known = facts(group("a", rows, members=members), partitions=4)
    return replace(known, past=Past(tuple(minutes)))


def calm(**clients: int) -> list[Figures]:
    return [figures(ago, **clients) for ago in range(10, 4, -1)]


def test_consumers_that_became_slower() -> None:
    found = only(
        diagnose(looked(SLOW, *[figures(ago, read=2400, wrote=2400) for ago in (9, 8, 7)]))
    )
    assert found.cause == Cause.slow_consumer
    assert "read: 20.0, 40.0 before (the median of 3 intervals" in found.evidence[0]


def test_a_surge_of_one_client() -> None:
    minutes = [*calm(shop=6000), figures(2, lag=2000, shop=6000, loop=9_000_000)]
    known = looked(SLOW, *minutes)
    assert surging(known) == {TOPIC: {(TOPIC, 0): 200.0, (TOPIC, 1): 200.0}}
    found = only(diagnose(known))
    assert found.cause == Cause.producer_surge
    assert "one client alone, loop" in found.why
    assert "penstock quotas set --client loop producer_byte_rate=" in found.first[0].do
    # Each broker counts for itself: on two of them it gets half of that from each.
    places = sorted(known.after.state.partitions)
    parts = dict(known.after.state.partitions)
    parts[places[0]] = replace(parts[places[0]], leader=2)
    state = replace(known.after.state, partitions=parts)
    spread = only(diagnose(replace(known, after=replace(known.after, state=state))))
    whole, half = (int(each.first[0].do.rpartition("=")[2]) for each in (found, spread))
    assert whole // 2 in (half, half + 1)


def test_a_surge_of_all_clients() -> None:
    minutes = [*calm(shop=600, site=600), figures(2, lag=2000, shop=60_000, site=60_000)]
    found = only(diagnose(looked(SLOW, *minutes)))
    assert found.cause == Cause.producer_surge
    assert "2 clients (shop, site)" in found.why


def test_more_is_written_and_less_is_read_and_the_larger_part_is_named() -> None:
    """A machine that a surge keeps busy reads more slowly as well."""
    minutes = [figures(ago, read=600, wrote=600, shop=6000) for ago in range(9, 4, -1)]
    surge = [(100, 900, 150, 1300)]
    found = only(diagnose(looked(surge, *minutes, figures(2, lag=2000, shop=90_000))))
    assert found.cause == Cause.producer_surge
    assert "slower than then, which is the smaller part" in found.why
    minutes = [figures(ago) for ago in range(9, 4, -1)]
    found = only(diagnose(looked([(100, 900, 120, 1220)], *minutes)))
    assert found.cause == Cause.slow_consumer
    assert found.first[0].why.endswith("more is written too, which is the smaller part")


@pytest.mark.parametrize(
    ("tail", "word"),
    [
        (Tail(100, 1.0, b"k", 1.0, 0.9), "a loop"),
        (Tail(100, 86_400.0, b"k", 0.1, 0.1), "a backfill"),
    ],
)
def test_backfill_and_loop(tail: Tail, word: str) -> None:
    known = looked(SLOW, *calm(shop=600), figures(2, lag=2000, shop=60_000))
    assert word in only(diagnose(replace(known, tails={TOPIC: tail}))).why


def test_tail_of_records() -> None:
    same = [Record(n, NOW_MS - 1000, b"k", b"v") for n in range(9)]
    found = tail_of([*same, Record(9, NOW_MS, None, None)], NOW_MS)
    assert found is not None
    assert (found.is_loop, found.is_backfill, found.key, found.key_share) == (
        True,
        False,
        b"k",
        0.9,
    )
    old = tail_of([Record(n, NOW_MS - HOUR, b"%d" % n, b"v") for n in range(9)], NOW_MS)
    assert old is not None and old.is_backfill and not old.is_loop
    assert tail_of([], NOW_MS) is None


def test_intervals_in_which_it_was_behind_are_no_past() -> None:
    behind = [figures(ago, lag=1000, read=2400, wrote=2400) for ago in range(9, 1, -1)]
    assert only(diagnose(looked(SLOW, *behind))).cause == Cause.too_slow
    growing = [figures(ago, lag=lag) for ago, lag in ((9, 5), (8, 5), (7, 5), (6, 200), (5, 210))]
    found = only(diagnose(looked(SLOW, *growing)))
    assert "the median of 3 intervals" in found.evidence[0]
    few = [figures(9, read=2400), figures(8, read=2400)]
    assert only(diagnose(looked(SLOW, *few))).cause == Cause.too_slow


def days(*lags: int) -> Past:
    hours = []
    for ago, lag in enumerate(reversed(lags)):
        for part in range(24):
            until = NOW_MS - ago * 24 * HOUR - part * HOUR
            row = GroupFigures("a", TOPIC, lag - part, 1.0, 3600, 3600, 1, 0)
            hours.append(Figures(1, until - HOUR, until, groups=(row,)))
    return Past(hours=tuple(hours))


def test_lag_that_grew_over_days() -> None:
    known = facts(group("a", SLOW))
    found = only(diagnose(replace(known, past=days(500, 1000, 1500, 2000))))
    assert found.cause == Cause.grew_over_days
    assert "500, 1,000, 1,500, 2,000" in found.evidence[0]
    for lags in ((500, 2000), (500, 1500, 1000, 2000), (500, 1000, 4000)):
        assert only(diagnose(replace(known, past=days(*lags)))).cause == Cause.too_slow


def test_a_quota_that_holds_consumers_back() -> None:
    def waits(client: str, kind: str) -> Finding:
        row = ThrottleFigures("", client, kind, 400.0)
        last = replace(figures(1, lag=2000), throttled=(row,))
        return only(diagnose(looked(SLOW, *calm(), last)))

    found = waits("client-0", "fetch")
    assert found.cause == Cause.throttled
    assert "400 ms" in found.evidence[0]
    assert waits("client-0", "produce").cause != Cause.throttled
    assert waits("other", "fetch").cause != Cause.throttled


def test_groups_that_became_slower_at_once_share_something() -> None:
    known = facts(group("a", SLOW), group("b", SLOW))
    rows = [
        replace(
            each,
            groups=(each.groups[0], each.groups[0]._replace(group="b")),
        )
        for each in (figures(ago, read=2400, wrote=2400) for ago in (9, 8, 7))
    ]
    found = diagnose(replace(known, past=Past(tuple(rows))))
    assert [each.cause for each in found] == [
        Cause.shared_downstream,
        Cause.slow_consumer,
        Cause.slow_consumer,
    ]
    assert "a: 20.0 records/s read, 40.0 before" in found[0].evidence


# Brokers


def minutes(*changes: dict[str, float], broker: int = 1) -> list[Figures]:
    usual = Figures(broker, 0, 0, flushes=100, flush_s=0.2, produces=100, produce_s=0.3)
    found = []
    for number, change in enumerate(changes):
        until = NOW_MS - (len(changes) - number) * MINUTE
        timed = replace(usual, from_ms=until - MINUTE, until_ms=until)
        found.append(replace(timed, **change))  # type: ignore[arg-type]
    return found


def judged(*figures: Figures) -> list[Cause]:
    return [each.cause for each in diagnose(replace(facts(), past=Past(figures)))]


def test_a_loop_without_a_rest() -> None:
    assert judged(*minutes({}, {}, {}, *[{"idle": 0.1}] * 3)) == [Cause.loop_busy]
    assert judged(*minutes({}, {}, {}, {"idle": 0.1}, {}, {"idle": 0.1})) == []


def test_a_disk_that_became_slow() -> None:
    assert judged(*minutes({}, {}, {}, *[{"flush_s": 4.0}] * 3)) == [Cause.flush_slow]
    assert judged(*minutes(*[{"flush_s": 4.0}] * 6)) == []
    assert judged(*minutes(*[{"flush_s": 12.0}] * 3)) == [Cause.flush_slow]


def test_a_broker_that_is_slower_than_before_or_than_others() -> None:
    became = minutes({}, {}, {}, *[{"produce_s": 9.0}] * 3)
    assert judged(*became) == []
    idle = minutes(*[{"produces": 0, "produce_s": 0.0}] * 3, broker=2)
    assert judged(*became, *idle) == [Cause.broker_slow]
    slow = minutes(*[{"produce_s": 9.0}] * 3)
    assert judged(*slow) == []
    assert judged(*slow, *minutes({}, {}, {}, broker=2)) == [Cause.broker_slow]


def test_a_broker_that_no_longer_writes_is_not_judged_by_what_it_was() -> None:
    gone = [
        replace(each, from_ms=each.from_ms - HOUR, until_ms=each.until_ms - HOUR)
        for each in minutes(*[{"idle": 0.1}] * 3)
    ]
    assert judged(*gone, *minutes({}, {}, {}, broker=2)) == []
