"""How a leader's in-sync set grows and shrinks, and what each answer of the controller means."""

from __future__ import annotations

import pytest

from penstock.model.error import ErrorCode
from penstock.replication.isr_change import (
    RECOVERED,
    RECOVERING,
    InSyncReplica,
    IsrAnswer,
    IsrChange,
    Outcome,
)
from penstock.replication.progress import UNKNOWN
from tests.unit.replication.replica_kit import LAG_MAX_MS, OWN_EPOCH, State, World


def expand(world: World, replica_id: int = 3) -> IsrChange | None:
    return world.leader.expand(replica_id, world.high_watermark, OWN_EPOCH)


def behind(isr: tuple[int, ...] = (1, 2)) -> World:
    """Replica 3 is out of the in-sync set, and everybody is at the end."""
    world = World(State(isr=isr), end_offset=10)
    world.fetch(2, 10)
    world.fetch(3, 10)
    world.advance()
    return world


def asked() -> tuple[World, IsrChange]:
    world = behind()
    change = expand(world)
    assert change is not None
    return world, change


# Growing


def test_a_replica_that_has_everything_is_taken_in_with_the_broker_epochs_of_all() -> None:
    change = expand(behind())
    members = (InSyncReplica(1, OWN_EPOCH), InSyncReplica(2, 200), InSyncReplica(3, 300))
    assert change == IsrChange(5, 10, members, RECOVERED)


def test_epochs_of_replicas_that_have_not_fetched_yet_are_left_unchecked() -> None:
    world = World(State(isr=(1, 2)), end_offset=10)
    world.fetch(3, 10)
    change = expand(world)
    assert change is not None and change.isr[1] == InSyncReplica(2, -1)


def test_one_below_the_watermark_stays_out() -> None:
    world = behind()
    world.high_watermark = 10
    world.fetch(3, 9)
    assert expand(world) is None


def test_one_that_asks_for_what_is_behind_the_end_stays_out() -> None:
    """It followed another log, which began behind this one's end, and has nothing of this one."""
    world = World(State(isr=(1, 3)), start_offset=50)
    world.fetch(3, 50)
    world.fetch(2, 100)
    assert world.leader.expand(2, world.advance(), OWN_EPOCH) is None
    progress = world.leader.progress(2)
    assert progress is not None and progress.end_offset == UNKNOWN


def test_one_at_an_old_watermark_stays_out_until_the_start_of_the_epoch() -> None:
    """KAFKA-7128: this leader's watermark may lag behind what the one before has committed."""
    world = World(State(isr=(1, 2)), start_offset=8, end_offset=10)
    world.high_watermark = 5
    world.fetch(3, 5)
    assert expand(world) is None
    world.fetch(3, 8)
    assert expand(world) is not None


@pytest.mark.parametrize("attribute", ["fenced", "in_controlled_shutdown"])
def test_a_broker_that_is_not_active_stays_out(attribute: str) -> None:
    """KIP-841: it goes on fetching all the same."""
    world = behind()
    setattr(world.brokers[3], attribute, True)
    assert expand(world) is None


def test_a_broker_that_was_started_anew_stays_out_until_it_fetches() -> None:
    """KIP-903: it may have come back without its log."""
    world = behind()
    world.brokers[3].epoch = 350
    assert expand(world) is None
    world.fetch(3, 10)
    change = expand(world)
    assert change is not None and change.isr[-1] == InSyncReplica(3, 350)


def test_one_that_is_unregistered_or_never_fetched_stays_out() -> None:
    world = World(State(isr=(1, 2)), end_offset=10)
    assert expand(world) is None
    world.fetch(3, 10)
    del world.brokers[3]
    assert expand(world) is None


def test_one_change_at_a_time() -> None:
    world = World(State(replicas=(1, 2, 3, 4), isr=(1, 2)), end_offset=10)
    for replica in (2, 3, 4):
        world.fetch(replica, 10)
    assert expand(world, 3) is not None
    assert expand(world, 4) is None
    world.now_ms += 2 * LAG_MAX_MS
    world.end_offset = 20
    assert world.leader.shrink(world.end_offset, OWN_EPOCH, world.now_ms) is None


def test_an_unclean_leader_reports_itself_recovered_when_it_widens_the_set() -> None:
    """KIP-704: RECOVERING with two members would be INVALID_REQUEST."""
    world = World(State(isr=(1,), leader_recovery_state=RECOVERING), end_offset=10)
    world.fetch(2, 10)
    change = expand(world, 2)
    assert change is not None and change.leader_recovery_state == RECOVERED


# Shrinking


def test_who_is_behind_for_too_long_leaves() -> None:
    world = behind(isr=(1, 2, 3))
    world.end_offset = 12
    world.now_ms += LAG_MAX_MS
    assert world.leader.shrink(12, OWN_EPOCH, world.now_ms) is None
    world.now_ms += 1
    world.fetch(2, 12)
    change = world.leader.shrink(12, OWN_EPOCH, world.now_ms)
    assert change is not None and change.replica_ids == (1, 2)
    assert change.leader_epoch == 5, "a smaller set is no new epoch for producers (KAFKA-15021)"


def test_who_is_at_the_end_stays_however_long_nothing_happens() -> None:
    world = behind(isr=(1, 2, 3))
    world.now_ms += 100 * LAG_MAX_MS
    assert world.leader.shrink(10, OWN_EPOCH, world.now_ms) is None


def test_a_replica_that_never_fetched_has_its_time_from_the_start_of_the_epoch() -> None:
    world = World(end_offset=10)
    world.now_ms += LAG_MAX_MS
    assert world.leader.shrink(10, OWN_EPOCH, world.now_ms) is None
    world.now_ms += 1
    change = world.leader.shrink(10, OWN_EPOCH, world.now_ms)
    assert change is not None and change.replica_ids == (1,)


# While a change is asked for


def test_a_replica_that_is_being_taken_in_counts_before_the_answer() -> None:
    world, _ = asked()
    world.end_offset = 12
    world.fetch(2, 12)
    world.now_ms += 2 * LAG_MAX_MS
    assert world.advance() == 10


def test_replicas_that_are_being_left_out_count_until_the_answer() -> None:
    world = behind(isr=(1, 2, 3))
    world.end_offset = 12
    world.fetch(2, 12)
    world.now_ms += LAG_MAX_MS + 1
    world.fetch(2, 12)
    change = world.leader.shrink(12, OWN_EPOCH, world.now_ms)
    assert change is not None
    assert world.advance() == 10
    assert world.leader.on_answer(change, 0, IsrAnswer(5, 11, (1, 2))) is Outcome.ADOPTED
    assert world.advance() == 12


def test_enough_replicas_are_counted_in_the_larger_set_but_appends_by_the_committed_one() -> None:
    world = World(State(isr=(1,)), end_offset=10)
    world.fetch(2, 10)
    assert expand(world, 2) is not None
    assert world.leader.is_enough(2)
    assert not world.leader.may_append(2)
    assert world.advance(min_isr=2) == 0


# Answers


def test_an_answer_is_adopted() -> None:
    world, change = asked()
    assert world.leader.on_answer(change, 0, IsrAnswer(5, 11, (1, 2, 3))) is Outcome.ADOPTED
    assert (world.leader.isr, world.leader.partition_epoch) == ((1, 2, 3), 11)
    assert world.leader.pending is None


def test_an_answer_without_a_new_epoch_is_adopted_too() -> None:
    """KAFKA-14144: the set was that already, as after a change whose answer was lost."""
    world, change = asked()
    assert world.leader.on_answer(change, 0, IsrAnswer(5, 10, (1, 2, 3))) is Outcome.ADOPTED


@pytest.mark.parametrize("answer", [IsrAnswer(6, 12, (3,)), IsrAnswer(5, 9, (1,))])
def test_an_answer_of_another_time_is_not_adopted(answer: IsrAnswer) -> None:
    world, change = asked()
    assert world.leader.on_answer(change, 0, answer) is Outcome.WAIT
    assert world.leader.isr == (1, 2)
    assert world.leader.pending is change


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.STALE_BROKER_EPOCH,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    ],
)
def test_errors_that_say_nothing_of_the_change_are_tried_again(code: ErrorCode) -> None:
    """KAFKA-14154, 15353: with the very same change, which counts until it is answered."""
    world, change = asked()
    assert world.leader.on_answer(change, code) is Outcome.RETRY
    assert world.leader.pending is change
    assert world.leader.on_answer(change, 0, IsrAnswer(5, 11, (1, 2, 3))) is Outcome.ADOPTED


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.NEW_LEADER_ELECTED,
    ],
)
def test_errors_that_know_more_than_this_node_leave_the_change_open(code: ErrorCode) -> None:
    """KAFKA-14144: INVALID_UPDATE_VERSION may mean that the first attempt was applied."""
    world, change = asked()
    assert world.leader.on_answer(change, code) is Outcome.WAIT
    world.end_offset = 12
    world.fetch(2, 12)
    world.now_ms += 2 * LAG_MAX_MS
    assert world.advance() == 10
    world.leader.update(State(partition_epoch=11, isr=(1, 2, 3)), world.now_ms)
    assert world.leader.pending is None
    assert world.leader.isr == (1, 2, 3)


@pytest.mark.parametrize("code", [ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED])
def test_a_refused_change_is_as_if_it_had_never_been(code: ErrorCode) -> None:
    world, change = asked()
    assert world.leader.on_answer(change, code) is Outcome.REVERTED
    assert world.leader.pending is None
    world.end_offset = 12
    world.fetch(2, 12)
    world.now_ms += 2 * LAG_MAX_MS
    assert world.advance() == 12


def test_an_answer_to_a_change_that_metadata_has_overtaken_is_nothing() -> None:
    world, change = asked()
    world.leader.update(State(partition_epoch=11, isr=(1, 2)), world.now_ms)
    answer = IsrAnswer(5, 12, (1, 2, 3))
    assert world.leader.on_answer(change, 0, answer) is Outcome.OUTDATED
    assert world.leader.isr == (1, 2)


# Metadata


def test_older_states_and_those_of_other_epochs_are_skipped() -> None:
    world = World()
    for state in (State(partition_epoch=9, isr=(1,)), State(leader_epoch=6, partition_epoch=11)):
        assert world.leader.update(state.but(replicas=(1, 2)), world.now_ms) is False
    assert world.leader.isr == world.leader.replicas == (1, 2, 3)


def test_the_epoch_of_an_answer_comes_again_and_ends_no_later_change() -> None:
    """The record of what was answered arrives while the next change is in flight: that may be
    applied already, and has to count."""
    world, change = asked()
    world.leader.on_answer(change, 0, IsrAnswer(5, 11, (1, 2, 3)))
    world.end_offset = 12
    world.now_ms += LAG_MAX_MS + 1
    world.fetch(2, 12)
    second = world.leader.shrink(12, OWN_EPOCH, world.now_ms)
    assert second is not None
    state = State(partition_epoch=11, isr=(1, 2, 3), replicas=(1, 2, 3, 4))
    assert world.leader.update(state, world.now_ms) is False
    assert world.leader.pending is second
    assert world.leader.replicas == (1, 2, 3, 4), "the assignment is not in an answer"


def test_progress_of_replicas_that_stay_is_kept() -> None:
    world = behind(isr=(1, 2, 3))
    world.leader.update(State(partition_epoch=11, replicas=(1, 3, 4), isr=(1, 3)), world.now_ms)
    assert world.leader.progress(2) is None
    kept, new = world.leader.progress(3), world.leader.progress(4)
    assert kept is not None and kept.end_offset == 10
    assert new is not None and new.end_offset == -1
    world.end_offset = 12
    world.fetch(3, 12)
    assert world.advance() == 12
