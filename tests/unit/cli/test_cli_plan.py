"""Which replica goes where: over racks, evenly, no more than needed, or refused."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.failure import Failure
from penstock.cli.operator.plan import Move, plan_drain, plan_exact, plan_spread
from penstock.cli.operator.state import ClusterState, TopicPartition
from tests.unit.cli.cluster_kit import brokers, cluster, partition

FLAT: dict[int, str | None] = dict.fromkeys(range(1, 5))


def after(moves: list[Move]) -> dict[str, tuple[int, ...]]:
    return {str(move.place): move.after for move in moves}


def apply(state: ClusterState, moves: list[Move]) -> dict[TopicPartition, tuple[int, ...]]:
    now = {place: each.target for place, each in state.partitions.items()}
    return now | {move.place: move.after for move in moves}


def test_a_drain_replaces_one_replica_and_leaves_the_others_alone() -> None:
    state = cluster(brokers(FLAT), partition("t:0", (1, 2, 3)), partition("t:1", (1, 2, 4)))
    assert after(plan_drain(state, 3)) == {"t:0": (1, 2, 4)}
    assert plan_drain(state, 3)[0].adding == [4]
    assert plan_drain(state, 3)[0].removing == [3]


def test_a_drain_keeps_replicas_over_racks() -> None:
    racks: dict[int, str | None] = {1: "a", 2: "a", 3: "b", 4: "b"}
    # Broker 2 is empty and 4 has much, but with 2 both replicas would be in rack a.
    full = [partition(f"other:{each}", (4,)) for each in range(5)]
    state = cluster(brokers(racks), partition("t:0", (1, 3)), *full)
    assert after(plan_drain(state, 3)) == {"t:0": (1, 4)}


def test_a_drain_goes_to_the_same_rack_if_no_other_is_left() -> None:
    racks: dict[int, str | None] = {1: "a", 2: "a", 3: "b"}
    state = cluster(brokers(racks), partition("t:0", (1, 3)))
    assert after(plan_drain(state, 3)) == {"t:0": (1, 2)}


def test_a_drain_spreads_over_the_others() -> None:
    state = cluster(brokers(FLAT), *[partition(f"t:{each}", (4,)) for each in range(9)])
    places = Counter(replicas[0] for replicas in after(plan_drain(state, 4)).values())
    assert places == {1: 3, 2: 3, 3: 3}


def test_a_drain_keeps_a_topic_spread_before_all_topics_together() -> None:
    nodes = brokers({1: None, 2: None, 3: None})
    others = [partition(f"other:{each}", (2,)) for each in range(3)]
    state = cluster(nodes, partition("t:0", (3,)), partition("t:1", (1,)), *others)
    assert after(plan_drain(state, 3)) == {"t:0": (2,)}


def test_a_replica_that_comes_does_not_lead_where_it_leads_much_already() -> None:
    nodes = brokers({1: None, 2: None, 4: None})
    state = cluster(nodes, partition("t:0", (4, 2)), *[partition(f"u:{n}", (1,)) for n in range(3)])
    assert after(plan_drain(state, 4)) == {"t:0": (2, 1)}


def test_a_drained_leader_is_followed_by_whoever_leads_least() -> None:
    nodes = brokers({1: None, 2: None, 3: None, 4: None})
    state = cluster(
        nodes, partition("t:0", (4, 2, 1)), partition("t:1", (2, 1)), partition("t:2", (1, 2))
    )
    (move,) = plan_drain(state, 4)
    assert set(move.after) == {1, 2, 3}
    assert move.after[0] == 3


def test_what_is_on_its_way_off_is_left_alone() -> None:
    moving = partition("t:0", (3, 1, 2), adding=(2,), removing=(3,))
    state = cluster(brokers(FLAT), moving, partition("t:1", (3, 1)))
    assert set(after(plan_drain(state, 3))) == {"t:1"}


def test_a_move_that_comes_to_the_drained_broker_is_turned() -> None:
    moving = partition("t:0", (1, 2, 3), isr=(1, 2), adding=(3,), removing=(2,))
    state = cluster(brokers(FLAT), moving)
    (move,) = plan_drain(state, 3)
    assert 3 not in move.after
    assert 1 in move.after


def test_brokers_that_are_down_or_drained_get_nothing() -> None:
    nodes = brokers(dict.fromkeys(range(1, 6)), fenced=[2], cordoned=[3])
    state = cluster(nodes, *[partition(f"t:{each}", (1,)) for each in range(4)])
    assert {one for replicas in after(plan_drain(state, 1)).values() for one in replicas} == {4, 5}


def test_a_broker_that_died_can_be_drained() -> None:
    nodes = brokers({1: None, 2: None, 3: None}, fenced=[3])
    state = cluster(nodes, partition("t:0", (3, 1), isr=(1,), leader=1))
    (move,) = plan_drain(state, 3)
    assert set(move.after) == {1, 2}


def test_a_drain_that_leaves_too_few_replicas_is_refused() -> None:
    nodes = brokers({1: None, 2: None, 3: None})
    state = cluster(nodes, partition("orders:0", (1, 2, 3)), partition("t:0", (3,)))
    with pytest.raises(Failure, match=r"no other live broker is left for orders:0 with 3 replicas"):
        plan_drain(state, 3)


def test_a_drain_of_a_partition_without_a_leader_is_refused() -> None:
    state = cluster(brokers(FLAT), partition("t:0", (3, 1), isr=(3,), leader=None))
    with pytest.raises(Failure, match="t:0 has no leader to copy from"):
        plan_drain(state, 3)


def test_one_partition_gets_just_what_is_named() -> None:
    state = cluster(brokers(FLAT), partition("t:0", (1, 2)))
    place = TopicPartition("t", 0)
    assert after(plan_exact(state, place, [3, 1])) == {"t:0": (3, 1)}
    assert after(plan_exact(state, place, [2, 1])) == {"t:0": (2, 1)}
    assert plan_exact(state, place, [1, 2]) == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ([1, 9], "there is no broker 9; there are 1, 2, 3, 4"),
        ([1, 2], "broker 2 is down"),
        ([1, 3], "broker 3 was drained"),
        ([1, 1], "names broker 1 twice"),
    ],
)
def test_brokers_that_cannot_be_moved_to(wanted: list[int], said: str) -> None:
    nodes = brokers(FLAT, fenced=[2], cordoned=[3])
    state = cluster(nodes, partition("t:0", (1, 4)))
    with pytest.raises(Failure, match=said):
        plan_exact(state, TopicPartition("t", 0), wanted)
    with pytest.raises(Failure, match=said):
        plan_spread(state, "t", wanted)


def test_a_topic_that_is_spread_already_stays() -> None:
    state = cluster(brokers(FLAT), partition("t:0", (1, 2)), partition("t:1", (2, 1)))
    assert plan_spread(state, "t", [1, 2]) == []


def test_a_topic_on_one_broker_is_spread() -> None:
    state = cluster(brokers(FLAT), *[partition(f"t:{each}", (1,)) for each in range(6)])
    moves = plan_spread(state, "t", [1, 2, 3])
    assert len(moves) == 4
    assert Counter(apply(state, moves).values()) == {(1,): 2, (2,): 2, (3,): 2}


def test_a_topic_gets_more_replicas_over_racks() -> None:
    racks: dict[int, str | None] = {1: "a", 2: "a", 3: "b", 4: "c"}
    state = cluster(brokers(racks), partition("t:0", (1,)))
    (move,) = plan_spread(state, "t", [1, 2, 3, 4], 3)
    assert move.after[0] == 1
    assert set(move.after) == {1, 3, 4}


def test_a_topic_gets_fewer_replicas_and_keeps_those_in_sync() -> None:
    state = cluster(brokers(FLAT), partition("t:0", (1, 2, 3), isr=(2, 3), leader=2))
    (move,) = plan_spread(state, "t", [1, 2, 3], 2)
    assert set(move.after) == {2, 3}


def test_too_few_brokers_for_a_topic_are_refused() -> None:
    state = cluster(brokers(FLAT), partition("t:0", (1, 2, 3)))
    with pytest.raises(Failure, match="t wants 3 replicas, and 2 brokers have no room"):
        plan_spread(state, "t", [1, 2])


@st.composite
def clusters(draw: st.DrawFn) -> ClusterState:
    count = draw(st.integers(4, 8))
    racks = {each: draw(st.sampled_from(["a", "b", "c"])) for each in range(count)}
    partitions = []
    for topic in draw(st.lists(st.sampled_from("tuvw"), unique=True, min_size=1)):
        size = draw(st.integers(1, 3))
        for number in range(draw(st.integers(1, 8))):
            replicas = draw(st.permutations(range(count)))[:size]
            partitions.append(partition(f"{topic}:{number}", replicas))
    return cluster(brokers(racks), *partitions)


@given(clusters())
def test_every_drain(state: ClusterState) -> None:
    moves = plan_drain(state, 0)
    assert {move.place for move in moves} == {
        place for place, each in state.partitions.items() if 0 in each.replicas
    }
    for move in moves:
        assert 0 not in move.after
        assert len(set(move.after)) == len(move.before)
        assert len(move.adding) == 1
        # As many racks as any choice would have given.
        kept = {state.rack(each) for each in move.before if each != 0}
        free = [each for each in state.open_brokers if each != 0 and each not in move.before]
        best = max(len(kept | {state.rack(each)}) for each in free)
        assert len({state.rack(each) for each in move.after}) == best


@given(clusters(), st.integers(1, 3))
def test_every_spread(state: ClusterState, replicas: int) -> None:
    topic = next(iter(state.partitions)).topic
    allowed = [0, 1, 2, 3]
    moves = plan_spread(state, topic, allowed, replicas)
    now = {place: each for place, each in apply(state, moves).items() if place.topic == topic}
    for each in now.values():
        assert len(set(each)) == len(each) == replicas
        assert set(each) <= set(allowed)
    counts = Counter(broker for each in now.values() for broker in each)
    assert max(counts.values()) <= -(-len(now) * replicas // len(allowed)) + 1
    leads = Counter(each[0] for each in now.values())
    assert max(leads.values()) <= -(-len(now) // len(allowed)) + 1
