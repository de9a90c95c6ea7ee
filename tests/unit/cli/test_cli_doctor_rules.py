"""Rules of the doctor on plain facts: each cause, and what stands before what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from penstock.cli.doctor.diagnosis import diagnose, is_wrong
from penstock.cli.doctor.facts import Controller, Facts, Glance, LogDirSpace, Look
from penstock.cli.doctor.finding import (
    ADD_PARTITIONS,
    MORE_MEMBERS,
    RESTART_ALL,
    RESTART_BROKERS,
    Cause,
    Finding,
    Level,
)
from penstock.cli.doctor.head import odd_of
from penstock.cli.doctor.page import page_document, page_lines
from penstock.cli.doctor.past import Past
from penstock.cli.doctor.reader import count_rebalances
from penstock.cli.group.state import Group, GroupLag, Member, PartitionLag
from penstock.cli.operator.state import (
    BrokerNode,
    ClusterState,
    PartitionReplicas,
    TopicPartition,
)
from penstock.model.sla import SlaKey
from penstock.records.record import Record

NOW_MS = 1_800_000_000_000
PASSED_MS = 10_000
TOPIC = "orders"
Row = tuple[int, int, int, int]
"""Committed and end at the first look, committed and end at the second."""


def share_group(name: str, rows: list[Row], members: int = 1) -> list[GroupLag]:
    """As `group`, with members that take records one by one; committed is what is done with."""
    return [
        replace(
            look,
            group=replace(look.group, protocol="share"),
            partitions=tuple(
                each._replace(committed=0, waiting=each.lag, owners=look.group.members)
                for each in look.partitions
            ),
        )
        for look in group(name, rows, members)
    ]


def group(name: str, rows: list[Row], members: int = 1, age_s: float = 600) -> list[GroupLag]:
    """At both looks. Partitions are dealt to members in turn."""
    looks = []
    for at in (0, 1):
        owners = [
            Member(
                f"m{m}", None, f"client-{m}", "10.0.0.1", (TOPIC,), _dealt(m, members, rows), True
            )
            for m in range(members)
        ]
        now_ms = NOW_MS - PASSED_MS * (1 - at)
        partitions = tuple(
            PartitionLag(
                (TOPIC, index),
                row[2 * at],
                0,
                row[2 * at + 1],
                round(NOW_MS - age_s * 1000),
                tuple(owners[index % members : index % members + 1]) if members else (),
            )
            for index, row in enumerate(rows)
        )
        state = "Stable" if members else "Empty"
        looks.append(
            GroupLag(Group(name, "classic", state, 1, members=tuple(owners)), partitions, now_ms)
        )
    return looks


def _dealt(member: int, members: int, rows: list[Row]) -> tuple[tuple[str, int], ...]:
    return tuple((TOPIC, each) for each in range(len(rows)) if each % members == member)


def facts(*groups: list[GroupLag], partitions: int = 4) -> Facts:
    state = ClusterState(
        {each: BrokerNode(each, f"host-{each}", 9092) for each in (1, 2, 3)},
        {
            place: PartitionReplicas(place, 1, (1, 2, 3), (1, 2, 3))
            for place in (TopicPartition(TOPIC, each) for each in range(partitions))
        },
    )
    looks = [
        Look(
            NOW_MS - PASSED_MS * (1 - at),
            state,
            Controller(True, 1),
            tuple(each[at] for each in groups),
        )
        for at in (0, 1)
    ]
    return Facts(looks[0], looks[1])


def altered(found: Facts, **changes: object) -> Facts:
    return replace(found, after=replace(found.after, **changes))  # type: ignore[arg-type]


def with_partition(found: Facts, leader: int | None, isr: tuple[int, ...]) -> Facts:
    place = TopicPartition(TOPIC, 0)
    changed = {place: PartitionReplicas(place, leader, (1, 2, 3), isr)}
    state = found.after.state
    return altered(found, state=replace(state, partitions={**state.partitions, **changed}))


def only(findings: list[Finding]) -> Finding:
    (found,) = findings
    return found


def causes(findings: Iterable[Finding]) -> list[Cause]:
    return [each.cause for each in findings]


# Groups

SLOW: list[Row] = [(0, 1000, 100, 1300), (0, 1000, 100, 1300)]
"""Each partition gets 30 records a second, and 10 are read."""


def test_group_within_a_minute_is_no_finding() -> None:
    assert diagnose(facts(group("a", SLOW, age_s=59))) == []


def test_group_within_its_limit_is_no_finding() -> None:
    found = facts(group("a", SLOW))
    assert diagnose(replace(found, slas={SlaKey("group", "a"): 601.0})) == []


def test_group_without_members() -> None:
    found = only(diagnose(facts(group("a", [(5, 9, 5, 9)], members=0))))
    assert (found.cause, found.level) == (Cause.no_members, Level.behind)
    assert found.since_ms == NOW_MS - 600_000


def test_abandoned_groups_stand_together() -> None:
    empty = [group(f"g{each}", [(5, 9, 5, 9)], members=0) for each in range(4)]
    slow = group("slow", SLOW, age_s=61)
    assert causes(diagnose(facts(*empty[:3], slow))) == [Cause.no_members] * 3 + [Cause.too_slow]
    found = diagnose(facts(*empty, slow))
    assert causes(found) == [Cause.too_slow, Cause.no_members]
    assert found[1].what.startswith("4 groups without a member")


def test_limit_of_an_abandoned_group_is_not_folded() -> None:
    empty = [group(f"g{each}", [(5, 9, 5, 9)], members=0) for each in range(5)]
    found = diagnose(replace(facts(*empty), slas={SlaKey("group", "g3"): 30.0}))
    assert [(each.level, each.group) for each in found] == [
        (Level.limit, "g3"),
        (Level.behind, None),
    ]
    assert found[0].since_ms == NOW_MS - 570_000


def glances(*members: str, state: str = "Stable") -> dict[str, tuple[Glance, ...]]:
    return {"a": tuple(Glance(state, frozenset(each)) for each in members)}


def test_rebalance_loop_by_members_that_come_and_go() -> None:
    calm = replace(facts(group("a", SLOW)), glances=glances("m", "m", "mn", "mn", "mn"))
    assert only(diagnose(calm)).cause == Cause.too_slow
    looping = replace(calm, glances=glances("m", "mn", "m", "mn"))
    found = only(diagnose(looping))
    assert found.cause == Cause.rebalance_loop
    assert RESTART_ALL in found.avoid


def test_rebalance_loop_while_nobody_is_a_member_at_the_end() -> None:
    found = replace(facts(group("a", [(5, 9, 5, 9)], members=0)), glances=glances("m", "", "n", ""))
    assert only(diagnose(found)).cause == Cause.rebalance_loop


def test_rebalance_that_does_not_end() -> None:
    found = facts(group("a", SLOW))
    lasting = glances("m", "m", "m", "m", state="PreparingRebalance")
    assert only(diagnose(replace(found, glances=lasting))).cause == Cause.rebalance_loop


def test_rebalance_loop_by_metrics() -> None:
    found = facts(group("a", SLOW))
    assert only(diagnose(replace(found, rebalances={"a": 1}))).cause == Cause.too_slow
    assert only(diagnose(replace(found, rebalances={"a": 2}))).cause == Cause.rebalance_loop


def test_rebalances_on_a_page_of_metrics() -> None:
    page = (
        "# TYPE penstock_group_rebalances_total counter\n"
        'penstock_group_rebalances_total{group="a"} 7\n'
        'penstock_group_members{group="a"} 2\n'
        'penstock_group_rebalances_total{group="b"} 1\n'
    )
    assert count_rebalances(page) == {"a": 7, "b": 1}


def test_topic_that_no_member_reads_any_more() -> None:
    before, after = group("a", SLOW)
    rows = tuple(each._replace(owners=()) for each in after.partitions)
    found = only(diagnose(facts([before, replace(after, partitions=rows)])))
    assert (found.cause, found.level) == (Cause.unassigned, Level.note)


def test_member_stuck_on_one_record() -> None:
    found = only(diagnose(facts(group("a", [(7, 50, 7, 60), (40, 50, 60, 60)]))))
    assert found.cause == Cause.stuck
    assert "one record" in found.why
    assert found.evidence[0].startswith("orders-0 stands at offset 7 for 10 s while 53 records")
    assert found.first[0].do.startswith("penstock consume orders -p 0 --from 7 -n 20")
    assert RESTART_ALL in found.avoid


def test_records_that_came_after_the_first_look_are_not_stuck() -> None:
    found = only(diagnose(facts(group("a", [(50, 50, 50, 60)]))))
    assert found.cause == Cause.unknown


def test_offsets_set_back_are_no_slow_consumer() -> None:
    assert only(diagnose(facts(group("a", [(50, 90, 20, 90)])))).cause == Cause.unknown


def record(offset: int, value: bytes | None) -> Record:
    return Record(offset, 0, b"k", value)


def test_the_record_that_is_unlike_the_others_is_named() -> None:
    rows = [(7, 60, 7, 60), (20, 40, 30, 40)]
    values = [b'{"n": 1}'] * 12 + [b"\xff no"] + [b'{"n": 2}'] * 20
    odd = odd_of(record(7 + at, value) for at, value in enumerate(values))
    assert odd == (19, "bytes, not JSON", 33)
    found = only(diagnose(replace(facts(group("a", rows)), odd={(TOPIC, 0): odd})))
    assert "unlike the others is 19" in found.evidence[1]
    assert [each.do for each in found.first] == [
        "penstock consume orders -p 0 --from 19 -n 1 -m -k -H",
        "penstock groups reset a -t orders:0 --to 20 --stop-members --dry-run",
    ]
    # Nothing is skipped on the word of a committed offset alone.
    unknown = only(diagnose(facts(group("a", rows))))
    assert "--to OFFSET" in unknown.first[1].do


def test_records_that_are_all_alike_or_all_different() -> None:
    assert odd_of(record(at, b"{}") for at in range(50)) is None
    assert odd_of(record(at, b"{}" if at % 2 else b"text") for at in range(50)) is None
    assert odd_of([record(0, b"\x00")]) is None
    values = [b"{}", b"{}", None, b"{}", b"{}", b"{}"]
    missing = odd_of(record(at, each) for at, each in enumerate(values))
    assert missing == (2, "without a value, not JSON", 6)
    sizes = [b"x" * 100] * 9 + [b"x" * 200_000]
    large = odd_of(record(at, each) for at, each in enumerate(sizes))
    assert large is not None and large.offset == 9 and "195.3 KiB" in large.how


def test_a_group_that_keeps_up_elsewhere_is_stuck_by_itself() -> None:
    """One partition of two stands still: what all members call is not to blame."""
    poisoned = group("a", [(7, 60, 7, 60), (20, 40, 50, 50)])
    other = group("b", [(9, 60, 9, 60)])
    assert causes(diagnose(facts(poisoned, other))) == [Cause.stuck, Cause.stuck]
    # A slow downstream lets some through: all that is read is late.
    slow = group("a", [(7, 60, 7, 60), (20, 40, 22, 50)])
    assert Cause.shared_downstream in causes(diagnose(facts(slow, other)))


def test_groups_stuck_at_once_share_something() -> None:
    one, other = (group(name, [(7 + at, 50, 7 + at, 60)]) for at, name in enumerate("ab"))
    found = diagnose(facts(one, other))
    assert causes(found) == [Cause.shared_downstream, Cause.stuck, Cause.stuck]
    limited = diagnose(replace(facts(one, other), slas={SlaKey("group", "b"): 30.0}))
    assert [(each.cause, each.group) for each in limited] == [
        (Cause.shared_downstream, None),
        (Cause.stuck, "b"),
        (Cause.stuck, "a"),
    ]


def test_groups_stuck_at_the_same_record_have_the_record_in_common() -> None:
    found = diagnose(facts(*(group(name, [(7, 50, 7, 60)]) for name in "ab")))
    assert causes(found) == [Cause.stuck, Cause.stuck]


def test_catching_up_says_how_long() -> None:
    found = diagnose(facts(group("a", [(0, 1000, 400, 1000), (0, 1000, 600, 1100)])))
    assert only(found).cause == Cause.catching_up
    assert "about 15s" in only(found).why
    assert not is_wrong(found)


def test_catching_up_over_a_limit_is_wrong() -> None:
    known = facts(group("a", [(0, 1000, 400, 1000)]))
    found = diagnose(replace(known, slas={SlaKey("topic", TOPIC): 30.0}))
    assert (only(found).cause, only(found).level) == (Cause.catching_up, Level.limit)
    assert is_wrong(found)


def test_skew_by_a_hot_key() -> None:
    rows = [(0, 1000, 100, 2000), *[(95, 100, 105, 110)] * 3]
    found = only(diagnose(facts(group("a", rows, members=4))))
    assert found.cause == Cause.skew
    assert "97% of what is written" in found.why
    assert ADD_PARTITIONS in found.avoid


def test_skew_by_a_slow_member() -> None:
    rows = [(0, 1000, 100, 1200), *[(990, 1000, 1190, 1200)] * 3]
    assert "the member that has it is slow" in only(diagnose(facts(group("a", rows, 4)))).why


def test_rates_that_nobody_has_seen_are_not_shown_as_none() -> None:
    """At the first look the group's coordinator did not answer."""
    rows = [(0, 1000, 100, 2000), *[(95, 100, 105, 110)] * 3]
    known = facts(group("a", rows, members=4))
    found = only(diagnose(replace(known, before=replace(known.before, lags=()))))
    assert found.cause == Cause.skew
    assert found.why.endswith("could not be seen")
    assert found.evidence[-1].startswith("how fast is not known")


def test_partition_cap() -> None:
    found = only(diagnose(facts(group("a", SLOW * 2, members=4))))
    assert found.cause == Cause.partition_cap
    assert MORE_MEMBERS in found.avoid


def test_slow_consumer_and_surge_are_not_told_apart() -> None:
    found = only(diagnose(facts(group("a", SLOW * 2, members=2))))
    assert found.cause == Cause.too_slow
    assert "cannot be told without a past" in found.why
    assert "start up to 2 more members" in [each.do for each in found.first]


def test_strictest_limit_first() -> None:
    known = facts(group("analytics", SLOW, age_s=9000), group("payments", SLOW, age_s=61))
    slas = {SlaKey("group", "analytics"): 3600.0, SlaKey("group", "payments"): 30.0}
    assert [each.group for each in diagnose(replace(known, slas=slas))] == ["payments", "analytics"]


# Brokers


def test_brokers_come_before_limits() -> None:
    known = replace(facts(group("a", SLOW)), slas={SlaKey("group", "a"): 1.0})
    found = diagnose(altered(known, controller=Controller(True, None, "timed out")))
    assert causes(found) == [Cause.no_controller, Cause.too_slow]


def test_controller_that_may_not_be_asked_for_is_not_missing() -> None:
    assert diagnose(altered(facts(), controller=Controller(False, None, "old"))) == []


def test_broker_down_since_the_quorum_last_heard_of_it() -> None:
    state = facts().after.state
    brokers = {**state.brokers, 3: BrokerNode(3, fenced=True)}
    controller = Controller(True, 1, "", {3: NOW_MS - 5000})
    known = altered(facts(), state=replace(state, brokers=brokers), controller=controller)
    found = only(diagnose(known))
    assert (found.cause, found.since_ms) == (Cause.broker_down, NOW_MS - 5000)
    assert RESTART_BROKERS in found.avoid


def test_broker_that_does_not_answer() -> None:
    assert causes(diagnose(altered(facts(), silent=(2,)))) == [Cause.broker_silent]


def test_groups_whose_coordinator_does_not_answer() -> None:
    found = only(diagnose(altered(facts(), unread=("a", "b"))))
    assert (found.cause, found.level) == (Cause.coordinator_silent, Level.broker)
    # Nothing is known of them, not even their names: that does not pass for nothing wrong.
    found = only(diagnose(altered(facts(), gaps=("broker 2 is still loading them",))))
    assert (found.cause, found.level) == (Cause.coordinator_silent, Level.broker)
    assert found.what == "groups may be missing here: broker 2 is still loading them"


@pytest.mark.parametrize(
    ("leader", "isr", "cause"),
    [
        (None, (), Cause.partition_offline),
        (1, (1,), Cause.under_min_isr),
        (1, (1, 2), Cause.under_replicated),
    ],
)
def test_partition_is_told_of_once(leader: int | None, isr: tuple[int, ...], cause: Cause) -> None:
    known = altered(with_partition(facts(), leader, isr), min_isr={TOPIC: 2})
    found = only(diagnose(known))
    assert found.cause == cause
    assert RESTART_BROKERS in found.avoid


def test_disk_near_full_and_failed() -> None:
    def space(usable: int | None, error: str | None = None) -> Facts:
        return altered(facts(), dirs=(LogDirSpace(1, "/data", error, 100, usable),))

    assert diagnose(space(16)) == []
    assert diagnose(space(None)) == []
    assert only(diagnose(space(15))).cause == Cause.disk_full
    assert only(diagnose(space(30), disk_share=0.7)).cause == Cause.disk_full
    assert only(diagnose(space(50, "KAFKA_STORAGE_ERROR"))).cause == Cause.dir_failed


# The page


def test_page() -> None:
    known = replace(facts(group("a", SLOW * 2, members=4)), slas={SlaKey("group", "a"): 30.0})
    found = diagnose(known)
    lines = page_lines(known, found)
    assert lines[:2] == [
        "1 finding, the most urgent first",
        "3 brokers, 4 partitions, 1 group looked at for 10 s, until 2027-01-15T08:00:00Z",
    ]
    assert lines[2].startswith("no past is kept: ")
    assert page_lines(replace(known, past=Past()), found)[2] == ""
    assert lines[4].startswith("1. OVER LIMIT  a is 10m00s behind on orders, 30s allowed: 4,800")
    assert {each[3:6].strip() for each in lines[4:]} >= {"sin", "why", "see", "do", "not"}
    assert max(map(len, lines)) <= 100
    document = page_document(known, found)
    assert document["wrong"] is True
    assert document["findings"][0]["cause"] == "partition-cap"


def test_what_not_to_do_is_explained_once() -> None:
    known = facts(group("a", SLOW * 2, members=4), group("b", SLOW * 2, members=2))
    lines = page_lines(known, diagnose(known))
    assert sum("restart all consumers: each start" in each for each in lines) == 1
    assert lines.count("   not   restart all consumers: as above") == 1


def test_page_of_a_cluster_that_is_well() -> None:
    assert page_lines(facts(), [])[0].startswith("nothing is wrong: 3 brokers")


def test_nothing_that_makes_it_worse_is_proposed() -> None:
    """A word of what must not be done stands in no advice of what to do."""
    known = altered(
        facts(group("a", SLOW * 2, 4), group("b", [(7, 50, 7, 60)]), group("c", SLOW, 0)),
        controller=Controller(True, None),
        silent=(2,),
    )
    first = [each.do for one in diagnose(known) for each in one.first]
    assert first
    assert not [each for each in first if "restart" in each or "alter" in each]


def test_share_groups_are_not_held_up_by_partitions() -> None:
    found = only(diagnose(facts(share_group("queue", [(100, 900, 150, 1000)], members=3))))
    assert found.cause == Cause.too_slow
    assert found.first[0].do == "start more members"
    assert "50.0" not in found.evidence[0] and "5.0 read" in found.evidence[0]
    found = only(diagnose(facts(share_group("queue", [(100, 900, 100, 1000)], members=3))))
    assert found.cause == Cause.stuck
    assert not [each for each in found.first if "--shift" in each.do]
    assert found.evidence[1] == "orders-0 has 900 records that wait"
    assert "--for 60s" in found.evidence[2]
    found = only(diagnose(facts(share_group("queue", [(100, 900, 850, 1000)], members=3))))
    assert found.cause == Cause.catching_up
    assert only(diagnose(facts(share_group("queue", [(1, 9, 1, 9)], 0)))).cause == Cause.no_members
