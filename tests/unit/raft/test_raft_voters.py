"""Voters come, go and move (KIP-853)."""

from __future__ import annotations

import pytest

from penstock.model.error import ErrorCode
from penstock.raft import ElectionState, RaftEndpoint, ReplicaKey, VersionRange, VoterHistory
from penstock.raft.message import (
    AddVoter,
    AskVersions,
    BeginQuorumEpoch,
    Fetch,
    RaftAnswer,
    RemoveVoter,
    UpdateVoter,
    VersionsAnswer,
    VoterChangeAnswer,
)
from penstock.raft.voter_history import ControlEntry
from tests.simulation.raft_disk import Record
from tests.unit.raft.raft_kit import (
    Bench,
    directory,
    endpoints,
    key,
    leader,
    log_of,
    voter,
    voter_set,
)

SUPPORTED = VersionsAnswer(ErrorCode.NONE, VersionRange(0, 1))


def leading(**options: object) -> Bench:
    """With a high watermark: nothing can be changed before."""
    bench = Bench(log_of(1, 1), **options).lead()  # type: ignore[arg-type]
    bench.hold(2, 3)
    return bench


def error_of(answer: RaftAnswer | None) -> ErrorCode | None:
    return None if answer is None else answer.error


def add(bench: Bench, node_id: int = 4, *, caught_up: bool = True) -> ErrorCode | None:
    if caught_up:
        bench.hold(node_id, bench.log.end_offset)
    return error_of(bench.ask(AddVoter(voter(node_id)), "add"))


# Adding


def test_adding_a_voter() -> None:
    bench = leading()
    assert add(bench) is None
    lines = bench.reply(4, AskVersions, SUPPORTED)
    assert lines[0] == "append None [1, 2, 3, 4]"
    assert "to 4: begin 2" in lines
    assert bench.machine.voters.ids == (1, 2, 3, 4)
    assert "add" not in bench.answers
    bench.hold(2, 4)
    assert "add" not in bench.answers, "three of four are needed now"
    bench.hold(4, 4)
    assert error_of(bench.answers["add"]) is ErrorCode.NONE


def test_adding_without_waiting_for_the_commit() -> None:
    bench = leading()
    bench.hold(4, 3)
    bench.ask(AddVoter(voter(4), ack_when_committed=False), "add")
    bench.reply(4, AskVersions, SUPPORTED)
    assert error_of(bench.answers["add"]) is ErrorCode.NONE


def test_who_may_not_be_added() -> None:
    bench = leading()
    assert error_of(bench.ask(AddVoter(voter(2)))) is ErrorCode.DUPLICATE_VOTER
    other_disk = voter(2)._replace(key=ReplicaKey(2, directory(9)))
    assert error_of(bench.ask(AddVoter(other_disk))) is ErrorCode.DUPLICATE_VOTER
    elsewhere = voter(4)._replace(endpoints=(RaftEndpoint("OTHER", "host4", 1),))
    assert error_of(bench.ask(AddVoter(elsewhere))) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("caught_up", "versions", "error"),
    [
        (False, SUPPORTED, ErrorCode.REQUEST_TIMED_OUT),
        (True, VersionsAnswer(ErrorCode.NONE), ErrorCode.INVALID_REQUEST),
        (True, VersionsAnswer(ErrorCode.NETWORK_EXCEPTION), ErrorCode.REQUEST_TIMED_OUT),
    ],
)
def test_a_newcomer_that_is_not_fit(
    caught_up: bool, versions: VersionsAnswer, error: ErrorCode
) -> None:
    bench = leading()
    add(bench, caught_up=caught_up)
    bench.reply(4, AskVersions, versions)
    assert error_of(bench.answers["add"]) is error
    assert bench.machine.voters.ids == (1, 2, 3)


def test_a_newcomer_that_stopped_fetching_an_hour_ago() -> None:
    bench = Bench(voters=[1])
    bench.hold(4, 1)
    bench.now_ms += 3_600_000
    bench.ask(AddVoter(voter(4)), "add")
    bench.reply(4, AskVersions, SUPPORTED)
    assert error_of(bench.answers["add"]) is ErrorCode.REQUEST_TIMED_OUT


def test_a_newcomer_that_cannot_be_reached() -> None:
    bench = leading()
    add(bench)
    bench.fail(4, AskVersions)
    assert error_of(bench.answers["add"]) is ErrorCode.REQUEST_TIMED_OUT
    assert add(bench) is None, "the next attempt is free"


def test_a_newcomer_is_asked_again_while_the_first_question_is_open() -> None:
    bench = leading()
    bench.hold(4, 3)
    bench.ask(AddVoter(voter(4), timeout_ms=100), "first")
    first = bench.pending(4, AskVersions).request_id
    bench.wait(100)
    assert error_of(bench.answers["first"]) is ErrorCode.REQUEST_TIMED_OUT
    assert add(bench) is None
    bench.step(lambda machine: machine.receive_answer(first, SUPPORTED, bench.now_ms))
    assert bench.machine.voters == voter_set(1, 2, 3)
    bench.reply(4, AskVersions, SUPPORTED)
    assert bench.machine.voters == voter_set(1, 2, 3, 4)


def test_a_second_voter_does_not_cost_the_first_its_office() -> None:
    """A lone leader waited for nobody, for hours; the newcomer has the usual time."""
    bench = Bench(voters=[1])
    bench.wait(3_600_000)
    add(bench, 2)
    bench.reply(2, AskVersions, SUPPORTED)
    assert bench.role == "leader 1"
    bench.wait(2999)
    assert bench.role == "leader 1"
    bench.wait(1)
    assert bench.role == "resigned 1"


# One at a time


def test_one_change_at_a_time() -> None:
    bench = leading()
    add(bench)
    busy = error_of(bench.ask(RemoveVoter(key(3))))
    bench.reply(4, AskVersions, SUPPORTED)
    still_busy = error_of(bench.ask(RemoveVoter(key(3))))
    bench.hold(2, 4)
    bench.hold(4, 4)
    assert (busy, still_busy) == (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REQUEST_TIMED_OUT)
    assert bench.ask(RemoveVoter(key(3)), "remove") is None


def test_no_change_before_this_epoch_has_committed() -> None:
    bench = Bench(log_of(1, 1)).lead()
    assert error_of(bench.ask(RemoveVoter(key(3)))) is ErrorCode.REQUEST_TIMED_OUT


def test_a_change_that_was_given_up_still_blocks_the_next_until_committed() -> None:
    bench = leading()
    bench.ask(RemoveVoter(key(3)), "remove")
    for _ in range(20):
        bench.wait(1500)
        bench.hold(2, 3)
    assert error_of(bench.answers["remove"]) is ErrorCode.REQUEST_TIMED_OUT
    assert add(bench) is ErrorCode.REQUEST_TIMED_OUT
    bench.hold(2, 4)
    assert add(bench) is None


def test_changes_end_with_the_office() -> None:
    bench = leading()
    add(bench)
    bench.follow(3, 9)
    assert error_of(bench.answers["add"]) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert error_of(bench.ask(RemoveVoter(key(3)))) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_static_voters_cannot_be_changed() -> None:
    bench = Bench(log_of(1, 1), kraft_version=0).lead()
    bench.hold(2, 3)
    assert error_of(bench.ask(AddVoter(voter(4)))) is ErrorCode.UNSUPPORTED_VERSION
    assert error_of(bench.ask(RemoveVoter(key(3)))) is ErrorCode.UNSUPPORTED_VERSION


# Removing


def test_removing_a_voter() -> None:
    bench = leading()
    assert bench.ask(RemoveVoter(key(3)), "remove") is None
    assert bench.machine.voters.ids == (1, 2)
    bench.hold(2, 4)
    assert error_of(bench.answers["remove"]) is ErrorCode.NONE


def test_who_cannot_be_removed() -> None:
    bench = leading()
    assert error_of(bench.ask(RemoveVoter(key(4)))) is ErrorCode.VOTER_NOT_FOUND
    other_disk = ReplicaKey(3, directory(9))
    assert error_of(bench.ask(RemoveVoter(other_disk))) is ErrorCode.VOTER_NOT_FOUND
    alone = Bench(voters=[1])
    assert error_of(alone.ask(RemoveVoter(key(1)))) is ErrorCode.INVALID_REQUEST


def test_a_leader_that_removes_itself() -> None:
    """KAFKA-16530: it does not count itself, stays until that is committed, and resigns."""
    bench = leading()
    bench.ask(RemoveVoter(key(1)), "remove")
    assert bench.machine.voters.ids == (2, 3)
    bench.hold(2, 4)
    assert bench.machine.high_watermark == 3, "one of two is no majority"
    assert bench.role == "leader 2"
    bench.hold(3, 4)
    assert bench.machine.high_watermark == 4
    assert error_of(bench.answers["remove"]) is ErrorCode.NONE
    assert bench.role == "resigned 2"
    assert "to 2: end 2 next [2, 3]" in bench.lines or "to 3: end 2 next [2, 3]" in bench.lines
    bench.wait(20_000)
    assert bench.role.startswith("unattached")


def test_a_removed_leader_needs_a_majority_of_the_others_to_stay() -> None:
    bench = leading()
    bench.ask(RemoveVoter(key(1)), "remove")
    bench.wait(2900)
    bench.hold(2, 3)
    bench.wait(100)
    assert bench.role == "resigned 2"


def test_a_voter_whose_removal_is_not_committed_still_stands() -> None:
    """It alone may have the record that removed it; the others cannot outvote its log."""
    log = log_of(1, 1)
    log.append(Record(2, "voters", voter_set(2, 3)))
    log.synced_offset = log.end_offset
    bench = Bench(log, ElectionState(2, 2))
    bench.machine.history.add([ControlEntry(2, voter_set(2, 3))])
    bench.wait(2000)
    assert bench.role == "prospective 2"
    bench.grant(2)
    assert bench.role == "prospective 2", "its own vote does not count"
    bench.grant(3)
    bench.grant(2)
    bench.grant(3)
    assert bench.role == "leader 3"
    bench.hold(2, 4)
    bench.hold(3, 4)
    assert bench.role == "resigned 3"


# Updating


def moved(node_id: int) -> UpdateVoter:
    return UpdateVoter(
        2, voter(node_id)._replace(endpoints=(RaftEndpoint("CONTROLLER", "new", 1),))
    )


def test_a_voter_that_moved() -> None:
    bench = leading()
    assert bench.ask(moved(3), "update") is None
    found = bench.machine.voters.get(3)
    assert found is not None and found.endpoints[0].host == "new"
    bench.hold(2, 4)
    assert error_of(bench.answers["update"]) is ErrorCode.NONE
    assert error_of(bench.ask(moved(3))) is ErrorCode.NONE, "nothing to write any more"


def test_updates_that_are_refused() -> None:
    bench = leading()
    stranger = voter(3)._replace(key=ReplicaKey(3, directory(9)))
    old = voter(3)._replace(kraft_versions=VersionRange(0, 0))
    assert error_of(bench.ask(UpdateVoter(2, stranger))) is ErrorCode.VOTER_NOT_FOUND
    assert error_of(bench.ask(UpdateVoter(2, old))) is ErrorCode.INVALID_REQUEST
    assert error_of(bench.ask(UpdateVoter(1, voter(3)))) is ErrorCode.FENCED_LEADER_EPOCH
    assert error_of(bench.ask(UpdateVoter(3, voter(3)))) is ErrorCode.UNKNOWN_LEADER_EPOCH


def test_a_static_voter_tells_each_new_leader_once() -> None:
    bench = Bench(log_of(1), kraft_version=0)
    bench.follow(2, 4)
    assert "to 2: UpdateVoter" in bench.fetched()
    answer = VoterChangeAnswer(ErrorCode.NONE, leader(2, 4))
    bench.reply(2, UpdateVoter, answer)
    assert "UpdateVoter" not in " ".join(bench.wait(1900))
    bench.follow(3, 5)
    assert "to 3: UpdateVoter" in bench.fetched()


def test_a_leader_that_does_not_know_updates_is_not_asked_again() -> None:
    bench = Bench(log_of(1), kraft_version=0)
    bench.follow(2, 4)
    bench.fetched()
    bench.fail(2, UpdateVoter, unsupported=True)
    for _ in range(5):
        bench.wait(1000)
        bench.follow(2, 4)
    assert len([one for one in bench.sent if isinstance(one.request, UpdateVoter)]) == 1


def updates(bench: Bench, rounds: int) -> int:
    """How many were sent in as many times half a second, while the leader answers everything."""
    before = len(bench.sent)
    for _ in range(rounds):
        bench.wait(500)
        bench.fetched()
    sent = [one for one in bench.sent[before:] if isinstance(one.request, UpdateVoter)]
    for one in sent:
        answer = VoterChangeAnswer(ErrorCode.NONE, leader(2, 4))
        bench.machine.receive_answer(one.request_id, answer, bench.now_ms)
    return len(sent)


def test_a_voter_that_moved_tells_the_leader_until_the_log_says_so() -> None:
    bench = Bench(log_of(1))
    bench.machine.history.add([ControlEntry(0, voter_set(1, 2, 3).with_voter(moved(1).voter))])
    bench.follow(2, 4)
    assert updates(bench, 1) == 1
    assert updates(bench, 3) == 0
    assert updates(bench, 1) == 1
    bench.fetched(-1, Record(4, "voters", voter_set(1, 2, 3)))
    assert updates(bench, 10) == 0


# Joining by itself


def joining(**options: object) -> Bench:
    bench = Bench(log_of(1), node_id=4, auto_join=True, **options)  # type: ignore[arg-type]
    bench.follow(2, 4)
    return bench


def test_an_observing_controller_joins() -> None:
    bench = joining()
    assert "to 2: AddVoter" in bench.fetched()
    assert bench.pending(2, AddVoter).request == AddVoter(voter(4), ack_when_committed=False)
    bench.reply(2, AddVoter, VoterChangeAnswer(ErrorCode.REQUEST_TIMED_OUT, leader(2, 4)))
    assert "to 2: AddVoter" not in bench.wait(1900)
    bench.follow(2, 4)
    assert "to 2: AddVoter" in bench.wait(100)


def test_a_controller_with_a_new_disk_leaves_first() -> None:
    bench = Bench(log_of(1), node_id=3, auto_join=True)
    old = voter(3)._replace(key=ReplicaKey(3, directory(9)))
    bench.machine.history.add([ControlEntry(0, voter_set(1, 2).with_voter(old))])
    bench.follow(2, 4)
    assert "to 2: RemoveVoter" in bench.fetched()
    assert bench.pending(2, RemoveVoter).request == RemoveVoter(old.key)


def test_nobody_joins_static_voters_or_without_being_told_to() -> None:
    for bench in (joining(kraft_version=0), joining(can_vote=False)):
        assert bench.fetched() == ["to 2: fetch 4 at 1/1"]
    plain = Bench(log_of(1), node_id=4)
    plain.follow(2, 4)
    assert plain.fetched() == ["to 2: fetch 4 at 1/1"]


# From kraft.version 0 to 1


def test_static_voters_move_into_the_log() -> None:
    bench = Bench(log_of(1, 1), kraft_version=0).lead()
    bench.hold(2, 3)
    bench.step(lambda machine: machine.upgrade_kraft_version(1, "early", bench.now_ms))
    assert error_of(bench.answers["early"]) is ErrorCode.INVALID_UPDATE_VERSION
    for node_id in (2, 3):
        assert error_of(bench.ask(UpdateVoter(2, voter(node_id)))) is ErrorCode.NONE
    bench.step(lambda machine: machine.upgrade_kraft_version(1, "now", bench.now_ms))
    assert bench.machine.kraft_version == 1
    assert bench.machine.voters == voter_set(1, 2, 3)
    bench.hold(2, 4)
    assert error_of(bench.answers["now"]) is ErrorCode.NONE
    bench.step(lambda machine: machine.upgrade_kraft_version(0, "back", bench.now_ms))
    assert error_of(bench.answers["back"]) is ErrorCode.INVALID_UPDATE_VERSION


# What the log says


def test_a_new_leader_writes_voters_that_only_the_first_snapshot_names() -> None:
    first = Bench(voters=[1])
    assert "append leader change [1]" in first.lines
    again = Bench(first.log, first.election, voters=[1])
    again.machine.history.add(first.log.entries()[1:])
    assert first.machine.history.voters_offset == 0


def test_a_new_leader_corrects_its_own_entry() -> None:
    bench = Bench(log_of(1, 1))
    entry = ControlEntry(1, voter_set(1, 2, 3).with_voter(moved(1).voter))
    bench.machine.history.add([entry])
    bench.lead()
    found = bench.machine.voters.get(1)
    assert found is not None and found.endpoints == endpoints(1)


def test_history_follows_the_log() -> None:
    history = VoterHistory(voter_set(1))
    assert (history.voters.ids, history.voters_offset, history.kraft_version) == ((1,), -1, 0)
    history.add([ControlEntry(5, voter_set(1, 2), 1), ControlEntry(9, voter_set(1, 2, 3))])
    assert (history.voters.ids, history.kraft_version) == ((1, 2, 3), 1)
    assert history.voters_before(9).ids == (1, 2)
    assert (history.voters_before(5).ids, history.kraft_version_before(5)) == ((1,), 0)
    history.truncate(9)
    assert history.voters.ids == (1, 2)
    history.trim(20)
    assert (history.voters.ids, history.kraft_version) == ((1, 2), 1)
    history.replace([])
    assert list(history.voters.ids) == [1]


def test_a_begin_for_another_disk_is_answered_and_still_tells_who_leads() -> None:
    bench = Bench(log_of(1))
    other_disk = ReplicaKey(1, directory(9))
    answer = bench.ask(BeginQuorumEpoch(4, 2, endpoints(2), other_disk))
    assert error_of(answer) is ErrorCode.INVALID_VOTER_KEY
    assert bench.role == "follower 4"
    assert bench.pending(2, Fetch)
