"""What a leader counts as held by all, and whose fetches it counts."""

from __future__ import annotations

import pytest

from penstock.model.error import ApiError, ErrorCode
from tests.unit.replication.replica_kit import LAG_MAX_MS, State, World


def test_the_watermark_is_what_the_slowest_in_sync_replica_has() -> None:
    world = World(end_offset=10)
    assert world.advance() == 0
    world.fetch(2, 10)
    assert world.advance() == 0, "nothing is known of replica 3 yet"
    world.fetch(3, 7)
    assert world.advance() == 7
    world.fetch(3, 10)
    assert world.advance() == 10


def test_the_leaders_own_records_count_when_they_are_safe() -> None:
    world = World(end_offset=10)
    world.fetch(2, 10)
    world.fetch(3, 10)
    assert world.advance(own_offset=4) == 4
    assert world.advance(own_offset=10) == 10


def test_the_watermark_never_goes_back() -> None:
    world = World(end_offset=10)
    world.fetch(2, 10)
    world.fetch(3, 10)
    world.advance()
    world.fetch(3, 5)
    assert world.advance() == 10


def test_a_fetch_outside_the_assignment_is_told_that_metadata_may_be_on_its_way() -> None:
    world = World()
    with pytest.raises(ApiError) as refused:
        world.fetch(4, 0)
    assert refused.value.code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_a_fetch_of_an_earlier_life_of_its_broker_counts_for_nothing() -> None:
    world = World(end_offset=10)
    world.fetch(2, 5)
    world.fetch(3, 10)
    world.brokers[2].epoch = 250
    with pytest.raises(ApiError) as refused:
        world.fetch(2, 10, broker_epoch=200)
    assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert world.advance() == 5
    world.fetch(2, 10, broker_epoch=250)
    assert world.advance() == 10


def test_a_fetch_without_a_broker_epoch_and_one_of_a_fenced_broker_pass() -> None:
    world = World(end_offset=10)
    world.fetch(2, 10, broker_epoch=-1)
    world.brokers[3] = type(world.brokers[3])(350, fenced=True)
    world.fetch(3, 10, broker_epoch=300)
    assert world.advance() == 10


@pytest.mark.parametrize(
    ("isr", "min_isr", "moves"),
    [
        ((1, 2), 2, True),
        ((1, 2), 3, False),
        ((1,), 1, True),
        ((1,), 2, False),
        ((1, 2, 3), 9, True),
    ],
)
def test_nothing_is_committed_below_min_insync_replicas(
    isr: tuple[int, ...], min_isr: int, moves: bool
) -> None:
    """KIP-966: eligible leader replicas hold what is committed only because of this. More than
    all replicas cannot be asked for."""
    world = World(State(isr=isr), end_offset=10)
    world.fetch(2, 10)
    world.fetch(3, 10)
    assert world.advance(min_isr=min_isr) == (10 if moves else 0)
    assert world.leader.may_append(min_isr) is moves
    assert world.leader.is_enough(min_isr) is moves


def test_the_in_sync_set_may_become_too_small_behind_an_append() -> None:
    world = World(end_offset=10)
    for replica in (2, 3):
        world.fetch(replica, 10)
    assert world.advance(min_isr=2) == 10
    assert world.leader.is_enough(2)
    world.leader.update(State(partition_epoch=11, isr=(1,)), world.now_ms)
    assert not world.leader.is_enough(2)
    assert not world.leader.may_append(2)


def test_a_caught_up_replica_outside_of_the_in_sync_set_is_waited_for() -> None:
    world = World(State(isr=(1, 2)), end_offset=10)
    world.fetch(2, 10)
    world.fetch(3, 10)
    world.end_offset = 12
    world.fetch(2, 12)
    assert world.advance() == 10, "3 was at the end a moment ago"
    world.now_ms += LAG_MAX_MS + 1
    assert world.advance() == 12


def test_one_that_is_fenced_or_shutting_down_is_not_waited_for() -> None:
    for attribute in ("fenced", "in_controlled_shutdown"):
        world = World(State(isr=(1, 2)), end_offset=10)
        world.fetch(3, 10)
        world.end_offset = 12
        world.fetch(2, 12)
        setattr(world.brokers[3], attribute, True)
        assert world.advance() == 12


def test_caught_up_means_having_reached_the_end_as_of_the_fetch_before() -> None:
    """Under constant load nobody is ever at the end of the log."""
    world = World(end_offset=10)
    for _ in range(10):
        world.fetch(2, world.end_offset - 10)
        world.fetch(3, 0)
        world.end_offset += 10
        world.now_ms += LAG_MAX_MS // 4
    change = world.leader.shrink(world.end_offset, 100, world.now_ms)
    assert change is not None and change.replica_ids == (1, 2)


def test_latest_is_unknown_until_the_watermark_reaches_the_start_of_the_epoch() -> None:
    world = World(start_offset=10)
    assert not world.leader.knows_latest(9)
    assert world.leader.knows_latest(10)


def test_one_that_was_taken_out_is_not_waited_for_until_it_has_caught_up_again() -> None:
    """Its disk has failed, say: the controller knows before its lag would tell."""
    world = World(end_offset=10)
    world.fetch(2, 10)
    world.fetch(3, 10)
    assert world.advance() == 10
    world.end_offset = 20
    world.fetch(2, 20)
    assert world.advance() == 10
    state = world.state.but(partition_epoch=world.state.partition_epoch + 1, isr=(1, 2))
    world.leader.update(state, world.now_ms)
    assert world.advance() == 20
    world.fetch(3, 20)
    world.end_offset = 30
    world.fetch(2, 30)
    assert world.advance() == 20, "it is about to join again"
