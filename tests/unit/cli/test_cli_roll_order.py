"""The order of restarts, and what speaks against the next one."""

from __future__ import annotations

from penstock.cli.operator.health import Fault, find_faults
from penstock.cli.operator.roll import objections, roll_order, single_replicas, unwritable
from penstock.cli.operator.state import ClusterState
from tests.unit.cli.cluster_kit import brokers, cluster, partition, quorum

THREE = brokers({1: None, 2: None, 3: None})
LEVEL = quorum(1, {1: 50, 2: 50, 3: 49}, {1: 100_000, 2: 99_900, 3: 99_500})
HEALTHY = cluster(THREE, partition("t:0", (1, 2, 3)), partition("t:1", (2, 3)))


def said(state: ClusterState) -> list[str]:
    return objections(state, LEVEL, 0)


def test_the_active_controller_is_last() -> None:
    assert roll_order([1, 2, 3], LEVEL) == [2, 3, 1]


def test_controllers_that_are_no_brokers_come_after_the_brokers() -> None:
    voters = quorum(8, {7: 1, 8: 1, 9: 1}, {})
    assert roll_order([3, 1, 2], voters) == [1, 2, 3, 7, 9, 8]
    assert roll_order([3, 1, 2], voters, only=[8, 3]) == [3, 8]
    assert roll_order([3, 1, 2], None) == [1, 2, 3]


def test_nothing_speaks_against_a_healthy_cluster() -> None:
    assert said(HEALTHY) == []


def test_replicas_that_are_not_in_sync() -> None:
    state = cluster(
        THREE, partition("t:0", (1, 2, 3), isr=(1, 3)), partition("t:1", (2, 3), isr=(3,), leader=3)
    )
    assert said(state) == ["2 replicas not in sync (2 of broker 2): t:0, t:1"]


def test_replicas_that_a_move_adds_are_not_missed() -> None:
    moving = partition("t:0", (1, 2, 3), isr=(1, 2), adding=(3,), removing=(1,))
    assert said(cluster(THREE, moving)) == []


def test_a_broker_that_is_down_and_a_partition_without_leader() -> None:
    state = cluster(
        brokers({1: None, 2: None, 3: None}, fenced=[2]),
        partition("t:0", (2,), isr=(2,), leader=None),
    )
    assert said(state) == ["broker 2 is down", "no leader of t:0"]


def test_controllers_that_are_behind() -> None:
    behind = quorum(1, {1: 50, 2: 20, 3: 50}, {1: 100_000, 2: 80_000, 3: 99_999})
    assert objections(HEALTHY, behind, 0) == ["controller 2 is behind its leader"]
    silent = quorum(1, {1: 50, 2: -1, 3: 50}, {1: 100_000, 3: 99_999})
    assert objections(HEALTHY, silent, 0) == ["controller 2 is behind its leader"]
    assert objections(HEALTHY, None, 0) == ["no active controller"]


def test_lag_of_the_quorum() -> None:
    voter = LEVEL.voters[2]
    assert LEVEL.lag(voter) == 1
    # By the leader's clock, not by ours.
    assert LEVEL.behind_s(voter, now_ms=10**15) == 0.5
    assert LEVEL.behind_s(LEVEL.voters[0], now_ms=0) == 0.0


def test_what_a_restart_takes_away_for_a_while() -> None:
    state = cluster(
        THREE, partition("one:0", (1,)), partition("two:0", (1, 2)), partition("six:0", (1, 2, 3))
    )
    assert single_replicas(state) == ["one"]
    assert unwritable(state, {"one": 1, "two": 2, "six": 2}) == ["two"]


def test_faults() -> None:
    state = cluster(
        THREE,
        partition("ok:0", (1, 2, 3)),
        partition("edge:0", (1, 2, 3), isr=(1, 2)),
        partition("few:0", (1, 2, 3), isr=(1,)),
        partition("dead:0", (1, 2), isr=(), leader=None),
        partition("one:0", (1,)),
    )
    min_isr = {each.topic: 2 for each in state.partitions}

    def found(*faults: Fault) -> list[str]:
        return [
            each.place.topic for each in find_faults(state.partitions.values(), faults, min_isr)
        ]

    assert found(Fault.under_replicated) == ["dead", "edge", "few"]
    assert found(Fault.under_min_isr) == ["dead", "few"]
    # One replica is all that `one` has: a broker demands no more of it.
    assert found(Fault.at_min_isr) == ["edge", "one"]
    assert found(Fault.offline) == ["dead"]
    assert found(Fault.offline, Fault.at_min_isr) == ["dead", "edge", "one"]
