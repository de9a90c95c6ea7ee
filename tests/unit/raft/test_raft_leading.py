"""What a leader answers to fetches, whom it lets wait, and what it counts as committed."""

from __future__ import annotations

import pytest

from penstock.model.error import ErrorCode
from penstock.raft import ElectionState, EpochEnd, QuorumView, ReplicaKey, SnapshotId
from penstock.raft.message import Fetch, FetchAnswer, FetchSnapshot, FetchSnapshotAnswer
from tests.simulation.raft_disk import Snapshot
from tests.unit.raft.raft_kit import Bench, directory, key, leader, log_of


def leading(*epochs: int, **options: object) -> Bench:
    """Leads epoch `epochs[-1] + 1`; the leader change stands behind the records."""
    return Bench(log_of(*epochs), **options).lead()  # type: ignore[arg-type]


def trimmed() -> Bench:
    """Records 0 to 4, of which a snapshot holds the first three."""
    log = log_of(1, 1, 2, 2, 2)
    log.snapshots[SnapshotId(3, 2)] = Snapshot(100, ())
    log.trim(SnapshotId(3, 2))
    return Bench(log).lead()


# Errors, each with the leader and the epoch


def test_epochs_of_a_fetch() -> None:
    bench = leading(1, 1)
    assert bench.hold(2, 2, epoch=1).error is ErrorCode.FENCED_LEADER_EPOCH
    assert bench.hold(2, 2, epoch=3).error is ErrorCode.UNKNOWN_LEADER_EPOCH
    assert bench.hold(2, 2, epoch=0, last_epoch=0).leader == leader(1, 2)
    assert bench.role == "leader 2"


def test_who_does_not_lead_says_who_does() -> None:
    bench = Bench(log_of(1, 1))
    bench.follow(2, 4)
    answer = bench.fetch(Fetch(4, key(3), 2, 1))
    assert (answer.error, answer.leader) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, leader(2, 4))


@pytest.mark.parametrize(("offset", "last_epoch"), [(-1, 1), (2, -1), (2, 3)])
def test_a_fetch_that_makes_no_sense(offset: int, last_epoch: int) -> None:
    answer = leading(1, 1).fetch(Fetch(2, key(2), offset, last_epoch))
    assert answer.error is ErrorCode.INVALID_REQUEST


def test_after_resigning_fetches_are_sent_away() -> None:
    bench = leading(1, 1)
    bench.step(lambda machine: machine.resign(2, bench.now_ms))
    assert bench.hold(2, 2).error is ErrorCode.NOT_LEADER_OR_FOLLOWER


# Divergence


@pytest.mark.parametrize(
    ("last_epoch", "offset", "end"),
    [
        (1, 3, EpochEnd(1, 2)),
        (2, 2, EpochEnd(1, 2)),
        (4, 9, EpochEnd(3, 3)),
        (5, 8, EpochEnd(5, 5)),
    ],
)
def test_where_the_logs_part(last_epoch: int, offset: int, end: EpochEnd) -> None:
    """KIP-279: also where the replica's epoch is none of the leader's."""
    bench = leading(1, 1, 3, 5, 5)
    answer = bench.fetch(Fetch(6, key(2), offset, last_epoch))
    assert (answer.error, answer.diverging, answer.has_records) == (ErrorCode.NONE, end, False)


def test_a_replica_that_diverged_holds_nothing() -> None:
    bench = leading(1, 1)
    bench.fetch(Fetch(2, key(2), 9, 1))
    assert bench.machine.high_watermark is None


def test_divergence_and_snapshot_are_told_at_once() -> None:
    """KAFKA-15100: such a fetch was parked, and the replica stood still."""
    assert leading(1, 1).ask(Fetch(2, key(2), 9, 1, max_wait_ms=500)) is not None
    assert trimmed().ask(Fetch(3, key(2), 1, 1, max_wait_ms=500)) is not None


# Snapshots


@pytest.mark.parametrize(
    ("offset", "last_epoch", "needed"),
    [(0, 0, True), (2, 1, True), (3, 1, True), (4, 1, True), (3, 2, False), (4, 2, False)],
)
def test_who_needs_a_snapshot(offset: int, last_epoch: int, needed: bool) -> None:
    answer = trimmed().fetch(Fetch(3, key(2), offset, last_epoch))
    assert answer.snapshot == (SnapshotId(3, 2) if needed else None)
    assert answer.log_start_offset == 3


def test_an_empty_log_is_filled_from_a_snapshot() -> None:
    log = log_of(1, 1)
    log.snapshots[SnapshotId(2, 1)] = Snapshot(100, ())
    assert Bench(log).lead().fetch(Fetch(2, key(2), 0, 0)).snapshot == SnapshotId(2, 1)


def test_the_first_snapshot_is_nobodys() -> None:
    bench = leading(1, 1)
    assert bench.fetch(Fetch(2, key(2), 0, 0)).has_records
    answer = bench.ask(FetchSnapshot(2, key(2), SnapshotId(0, 0), 0))
    assert answer is not None and answer.error is ErrorCode.SNAPSHOT_NOT_FOUND


def test_parts_of_a_snapshot() -> None:
    bench = trimmed()
    wanted = FetchSnapshot(3, key(2), SnapshotId(3, 2), 60)
    answer = bench.ask(wanted)
    assert isinstance(answer, FetchSnapshotAnswer)
    assert (answer.error, answer.position, answer.size) == (ErrorCode.NONE, 60, 100)
    errors = {
        wanted._replace(position=100): ErrorCode.POSITION_OUT_OF_RANGE,
        wanted._replace(position=-1): ErrorCode.POSITION_OUT_OF_RANGE,
        wanted._replace(snapshot=SnapshotId(2, 1)): ErrorCode.SNAPSHOT_NOT_FOUND,
        wanted._replace(epoch=2): ErrorCode.FENCED_LEADER_EPOCH,
        wanted._replace(epoch=4): ErrorCode.UNKNOWN_LEADER_EPOCH,
    }
    for request, error in errors.items():
        refused = bench.ask(request)
        assert refused is not None and refused.error is error


def test_loading_a_snapshot_counts_as_a_sign_of_life() -> None:
    bench = trimmed()
    for _ in range(4):
        bench.wait(2500)
        bench.ask(FetchSnapshot(3, key(2), SnapshotId(3, 2), 0))
    assert bench.role == "leader 3"


# Waiting


def park(bench: Bench, node_id: int = 2, high_watermark: int = 99) -> Fetch:
    epoch, end = bench.machine.view.epoch, bench.log.end_offset
    request = Fetch(epoch, key(node_id), end, epoch, high_watermark, 500)
    assert bench.ask(request, f"parked {node_id}") is None
    return request


def test_a_fetch_at_the_end_waits_for_records() -> None:
    """Facts: a raft fetch asks for 0 bytes and still means to wait."""
    bench = leading(1, 1)
    park(bench)
    bench.append("x")
    answer = bench.answers["parked 2"]
    assert isinstance(answer, FetchAnswer)
    assert (answer.offset, answer.end_offset) == (3, 4)


def test_a_fetch_waits_for_the_high_watermark_it_does_not_know() -> None:
    bench = leading(1, 1)
    park(bench, 8, high_watermark=-1)
    park(bench, 9, high_watermark=3)
    bench.hold(2, 3)
    answer = bench.answers["parked 8"]
    assert isinstance(answer, FetchAnswer) and answer.high_watermark == 3
    assert "parked 9" not in bench.answers


def test_a_fetch_that_does_not_ask_for_the_high_watermark_is_not_woken_by_it() -> None:
    bench = leading(1, 1)
    park(bench, 2)
    bench.hold(3, 3)
    assert bench.machine.high_watermark == 3
    assert "parked 2" not in bench.answers


def test_a_fetch_is_answered_empty_when_its_time_is_up() -> None:
    bench = leading(1, 1)
    park(bench)
    bench.wait(499)
    assert "parked 2" not in bench.answers
    bench.wait(1)
    answer = bench.answers["parked 2"]
    assert isinstance(answer, FetchAnswer)
    assert (answer.error, answer.has_records, answer.high_watermark) == (ErrorCode.NONE, False, 3)


def test_parked_fetches_hear_of_the_new_leader() -> None:
    bench = leading(1, 1)
    park(bench, 2)
    bench.follow(3, 5)
    answer = bench.answers["parked 2"]
    assert isinstance(answer, FetchAnswer)
    assert (answer.error, answer.leader) == (ErrorCode.FENCED_LEADER_EPOCH, leader(3, 5))


def test_no_waiting_where_none_was_asked_for() -> None:
    bench = leading(1, 1)
    answer = bench.ask(Fetch(2, key(2), 3, 2, max_wait_ms=0))
    assert isinstance(answer, FetchAnswer) and not answer.has_records


# The high watermark


def test_nothing_is_committed_before_a_record_of_this_epoch() -> None:
    """What an older epoch left behind on a majority may still be replaced."""
    bench = leading(1, 1)
    assert bench.hold(2, 2).high_watermark == -1
    assert not bench.machine.leads_committed
    assert bench.hold(2, 3).high_watermark == 3
    assert bench.machine.leads_committed
    assert bench.high_watermarks == [3]


def test_a_majority_is_more_than_half() -> None:
    bench = Bench(log_of(1), voters=[1, 2, 3, 4])
    bench.wait(1500)
    for node_id in (2, 3, 2, 3):
        bench.grant(node_id)
    assert bench.hold(2, 2).high_watermark == -1
    assert bench.hold(3, 2).high_watermark == 2


def test_the_leader_counts_itself_only_with_what_it_has_synced() -> None:
    bench = Bench(log_of(1, 1), syncs=False).lead()
    assert bench.hold(2, 3).high_watermark == -1
    bench.sync()
    assert bench.machine.high_watermark == 3


def test_the_others_are_majority_enough_without_the_leaders_disk() -> None:
    bench = Bench(log_of(1, 1), syncs=False).lead()
    bench.hold(2, 3)
    assert bench.hold(3, 3).high_watermark == 3


def test_observers_do_not_count() -> None:
    bench = leading(1, 1)
    assert bench.hold(8, 3).high_watermark == -1
    other_disk = ReplicaKey(2, directory(77))
    assert bench.fetch(Fetch(2, other_disk, 3, 2)).high_watermark == -1
    assert bench.hold(2, 3).high_watermark == 3


def test_static_voters_are_known_by_id_alone() -> None:
    bench = Bench(log_of(1, 1), kraft_version=0).lead()
    assert bench.fetch(Fetch(2, ReplicaKey(2), 3, 2)).high_watermark == 3


def test_the_high_watermark_does_not_go_back() -> None:
    bench = leading(1, 1)
    bench.hold(2, 3)
    assert bench.hold(2, 1).high_watermark == 3


# DescribeQuorum


def test_everybody_who_fetches_is_listed() -> None:
    """KAFKA-13986: observers were anonymous."""
    bench = leading(1, 1)
    bench.hold(2, 3)
    bench.hold(8, 1)
    bench.fetch(Fetch(2, ReplicaKey(-1), 3, 2))
    quorum = bench.machine.describe(bench.now_ms)
    assert isinstance(quorum, QuorumView)
    assert [(one.key.id, one.end_offset) for one in quorum.voters] == [(1, 3), (2, 3), (3, -1)]
    assert [(one.key.id, one.end_offset) for one in quorum.observers] == [(8, 1)]
    assert (quorum.leader_id, quorum.epoch, quorum.high_watermark) == (1, 2, 3)


def test_an_observer_that_left_is_listed_for_five_minutes() -> None:
    bench = Bench(voters=[1])
    bench.hold(8, 1)
    later = bench.machine.describe(bench.now_ms + 300_000)
    too_late = bench.machine.describe(bench.now_ms + 300_001)
    assert isinstance(later, QuorumView) and len(later.observers) == 1
    assert isinstance(too_late, QuorumView) and too_late.observers == ()


def test_only_the_leader_describes() -> None:
    bench = Bench(log_of(1), ElectionState(4, 2))
    assert bench.machine.describe(0) is ErrorCode.NOT_LEADER_OR_FOLLOWER
