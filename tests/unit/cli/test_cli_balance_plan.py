"""Plans of balances: even, over racks, no more copied than needed, and nothing twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.cli.balance.band import byte_band
from penstock.cli.balance.history import Run, begun, decode, encode
from penstock.cli.balance.planner import BalancePlan, plan_balance
from penstock.cli.balance.undoing import plan_undo
from penstock.cli.operator.plan import Move
from penstock.cli.operator.state import ClusterState, TopicPartition
from tests.unit.cli.cluster_kit import brokers, cluster, partition

FLAT: dict[int, str | None] = dict.fromkeys(range(1, 5))


def sized(state: ClusterState, sizes: dict[str, int]) -> ClusterState:
    by_name = {str(place): place for place in state.partitions}
    return replace(state, sizes={by_name[name]: size for name, size in sizes.items()})


def after(plan: BalancePlan) -> dict[str, tuple[int, ...]]:
    return {str(move.place): move.after for move in plan.moves}


def carried_out(state: ClusterState, plan: BalancePlan) -> ClusterState:
    """As the cluster is then: everything moved, preferred leaders elected."""
    partitions = dict(state.partitions)
    for move in plan.moves:
        partitions[move.place] = replace(
            partitions[move.place], replicas=move.after, isr=move.after, leader=move.after[0]
        )
    for place in plan.elections:
        partitions[place] = replace(partitions[place], leader=partitions[place].replicas[0])
    return replace(state, partitions=partitions)


@st.composite
def states(draw: st.DrawFn) -> ClusterState:
    count = draw(st.integers(1, 6))
    named = st.sampled_from(["a", "b", "c"])
    racks = draw(
        st.one_of(st.just([None] * count), st.lists(named, min_size=count, max_size=count))
    )
    ids = list(range(1, count + 1))
    fenced = draw(st.lists(st.sampled_from(ids), max_size=1)) if count > 1 else []
    nodes = brokers(dict(zip(ids, racks, strict=True)), fenced=fenced)
    found = []
    sizes = {}
    for number in range(draw(st.integers(0, 14))):
        replicas = draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3, unique=True))
        leader = draw(st.sampled_from([each for each in replicas if each not in fenced] or [None]))
        isr = [each for each in replicas if each not in fenced]
        found.append(partition(f"t{number % 3}:{number}", replicas, leader=leader, isr=isr))
        sizes[found[-1].place] = draw(st.integers(0, 1000))
    return replace(cluster(nodes, *found), sizes=sizes)


def racks_used(state: ClusterState, replicas: tuple[int, ...]) -> int:
    return len({state.rack(each) for each in replicas})


@settings(max_examples=300, deadline=None)
@given(states())
def test_every_plan_keeps_what_must_be_kept(state: ClusterState) -> None:
    plan = plan_balance(state)
    open_racks = len({state.rack(each) for each in state.open_brokers})
    for move in plan.moves:
        assert len(set(move.after)) == len(move.before)
        assert set(move.after) <= set(state.open_brokers)
        assert racks_used(state, move.after) == min(len(move.after), open_racks)
        # A partition that is not whole is not touched.
        assert state.partitions[move.place].lagging == ()


@settings(max_examples=300, deadline=None)
@given(states())
def test_a_balanced_cluster_plans_nothing(state: ClusterState) -> None:
    again = plan_balance(carried_out(state, plan_balance(state)))
    assert (again.moves, again.elections) == ([], [])


@settings(max_examples=300, deadline=None)
@given(states())
def test_brokers_are_nearer_to_the_band_and_no_leader_could_be_placed_better(
    state: ClusterState,
) -> None:
    plan = plan_balance(state)
    then = carried_out(state, plan)
    if not state.open_brokers:
        return
    frozen_racks = any(_lost_racks(state, each.replicas) for each in state.partitions.values())
    if not frozen_racks:
        # Racks come first, and may cost what bytes had.
        assert _outside(then) <= _outside(state) * (1 + 1e-9)
    leaders = Counter(each.replicas[0] for each in then.partitions.values())
    for each in then.partitions.values():
        if not each.lagging and each.leader is not None:
            assert all(leaders[each.leader] - leaders[other] < 2 for other in each.replicas)


def _lost_racks(state: ClusterState, replicas: tuple[int, ...]) -> bool:
    racks = len({state.rack(each) for each in state.open_brokers})
    return racks_used(state, replicas) < min(len(replicas), racks)


def _outside(state: ClusterState) -> float:
    loads: Counter[int] = Counter()
    for each in state.partitions.values():
        loads.update(dict.fromkeys(each.replicas, state.sizes.get(each.place, 0)))
    band = byte_band(loads, state.open_brokers, 0.1)
    return sum(band.outside(loads[each]) for each in state.open_brokers)


@given(st.lists(st.integers(1, 100), min_size=1, max_size=30), st.integers(2, 5))
def test_no_more_is_copied_than_is_above_the_mean(sizes: list[int], count: int) -> None:
    """Of single replicas on one broker what it has too much, and the one that overshoots."""
    nodes = brokers(dict.fromkeys(range(1, count + 1)))
    state = cluster(nodes, *[partition(f"t:{each}", (1,)) for each in range(len(sizes))])
    state = sized(state, {f"t:{each}": size for each, size in enumerate(sizes)})
    # As bytes alone would have it: numbers of replicas may ask for more small ones.
    moved = sum(state.sizes[each.place] for each in plan_balance(state, 0.1).moves)
    too_much = sum(sizes) - sum(sizes) / count
    assert moved <= too_much + max(sizes)


def test_a_new_broker_gets_its_part_and_nobody_else_moves() -> None:
    full = [partition(f"t:{each}", ((1, 2, 3)[each % 3],)) for each in range(12)]
    state = cluster(brokers(FLAT), *full)
    plan = plan_balance(sized(state, {f"t:{each}": 100 for each in range(12)}))
    assert len(plan.moves) == 3
    assert all(move.after == (4,) for move in plan.moves)
    assert [each.bytes for each in plan.after] == [300, 300, 300, 300]
    assert [each.leaders for each in plan.after] == [3, 3, 3, 3]


def test_one_large_replica_is_not_moved_where_small_ones_do() -> None:
    held = [partition("large:0", (1,)), *[partition(f"s:{each}", (1,)) for each in range(4)]]
    state = cluster(brokers({1: None, 2: None}), *held)
    state = sized(state, {"large:0": 400} | {f"s:{each}": 100 for each in range(4)})
    plan = plan_balance(state)
    assert sum(state.sizes[move.place] for move in plan.moves) == 400
    assert [each.bytes for each in plan.after] == [400, 400]


def test_two_replicas_change_places_where_no_single_one_can_go() -> None:
    """500 and 500 against 300 and 300: whichever 500 goes, the other broker has too much."""
    held = [partition(f"t:{each}", (1 if each < 2 else 2,)) for each in range(4)]
    state = cluster(brokers({1: None, 2: None}), *held)
    state = sized(state, {"t:0": 500, "t:1": 500, "t:2": 300, "t:3": 300})
    plan = plan_balance(state)
    assert [each.bytes for each in plan.after] == [800, 800]
    assert [each.replicas for each in plan.after] == [2, 2]
    assert len(plan.moves) == 2


def test_a_swap_that_copies_much_for_little_is_left() -> None:
    held = [partition("t:0", (1,)), partition("t:1", (2,))]
    state = cluster(brokers({1: None, 2: None}), *held, partition("t:2", (1,)))
    state = sized(state, {"t:0": 1000, "t:1": 820, "t:2": 0})
    assert [each for each in plan_balance(state, 0.05).moves if state.sizes[each.place]] == []


def test_two_replicas_in_one_rack_are_parted_and_an_empty_rack_is_used() -> None:
    racks: dict[int, str | None] = {1: "a", 2: "a", 3: "b", 4: "b"}
    plan = plan_balance(cluster(brokers(racks), partition("t:0", (1, 2))))
    (move,) = plan.moves
    assert {racks[each] for each in move.after} == {"a", "b"}
    assert len(move.adding) == 1


def test_leaders_alone_are_spread_without_a_copy() -> None:
    """Also by way of a third broker: 1 has three leaders, 3 none, and they share no partition."""
    held = [partition(f"x:{each}", (1, 2)) for each in range(2)] + [partition("y:0", (2, 3))]
    held += [partition("z:0", (1, 2)), partition("w:0", (2, 3))]
    plan = plan_balance(cluster(brokers({1: None, 2: None, 3: None}), *held), within=1.0)
    assert all(not move.adding for move in plan.moves)
    assert sorted(each.leaders for each in plan.after) == [1, 2, 2]


def test_leaders_that_went_elsewhere_are_elected_again() -> None:
    nodes = brokers({1: None, 2: None})
    held = [partition("t:0", (1, 2)), partition("t:1", (2, 1), leader=1)]
    plan = plan_balance(cluster(nodes, *held))
    assert (plan.moves, plan.elections) == ([], [TopicPartition("t", 1)])
    assert [each.leaders for each in plan.before] == [2, 0]
    assert [each.leaders for each in plan.after] == [1, 1]


def test_what_is_being_moved_counts_where_it_will_be_and_stays() -> None:
    nodes = brokers({1: None, 2: None})
    moving = [
        partition(f"m:{each}", (1, 2), leader=1, isr=[1], adding=[2], removing=[1])
        for each in range(2)
    ]
    state = cluster(nodes, *moving, *[partition(f"t:{each}", (1,)) for each in range(2)])
    plan = plan_balance(state)
    assert (plan.moves, plan.frozen) == ([], 2)


def test_three_new_brokers_of_a_large_cluster_get_their_parts() -> None:
    nodes = brokers({each: f"r{each % 3}" for each in range(1, 13)})
    held = [
        partition(f"t{each % 50}:{each}", [each % 9 + 1, (each + 1) % 9 + 1, (each + 2) % 9 + 1])
        for each in range(1000)
    ]
    state = cluster(nodes, *held)
    state = replace(
        state, sizes={each.place: 1000 + each.place.partition * 37 % 500 for each in held}
    )
    plan = plan_balance(state)
    mean = sum(each.bytes for each in plan.after) / 12
    assert all(abs(each.bytes - mean) <= mean * 0.1 for each in plan.after)
    copied = sum(state.sizes[each.place] * len(each.adding) for each in plan.moves)
    assert copied <= 3 * mean
    assert all(set(each.adding) <= {10, 11, 12} for each in plan.moves)
    assert max(each.leaders for each in plan.after) - min(each.leaders for each in plan.after) <= 1


def test_a_disk_is_not_filled() -> None:
    state = cluster(
        brokers({1: None, 2: None, 3: None}), *[partition(f"t:{n}", (1,)) for n in range(6)]
    )
    state = sized(state, {f"t:{each}": 100 for each in range(6)})
    plan = plan_balance(state, room={2: 150, 3: 1000})
    assert [each.bytes for each in plan.after] == [300, 100, 200]


def test_an_undo_goes_back_and_leaves_alone_what_others_changed() -> None:
    nodes = brokers({1: None, 2: None, 3: None})
    held = [partition("t:0", (2,)), partition("t:1", (1,)), partition("t:2", (3,))]
    state = cluster(nodes, *held)
    done = [Move(TopicPartition("t", each), (1,), (2,)) for each in range(3)]
    gone = Move(TopicPartition("gone", 0), (1,), (2,))
    undoing = plan_undo(state, [*done, gone])
    assert undoing.moves == [Move(TopicPartition("t", 0), (2,), (1,))]
    assert undoing.left == [TopicPartition("t", 2)]


def test_a_run_that_was_not_seen_to_its_end_and_the_next_are_one() -> None:
    first = [Move(TopicPartition("t", 0), (1,), (2,)), Move(TopicPartition("t", 1), (1,), (2,))]
    runs = begun([], 5, first)
    runs = begun(runs, 6, [Move(TopicPartition("t", 1), (2,), (3,))])
    assert runs == [Run(5, False, [first[0], Move(TopicPartition("t", 1), (1,), (3,))])]
    ended = [runs[0]._replace(is_done=True)]
    assert [each.began_ms for each in begun(ended, 7, first)] == [5, 7]
    assert decode(encode(runs)) == runs
