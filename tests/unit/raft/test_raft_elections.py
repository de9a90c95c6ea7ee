"""From silence to a leader, and the way back."""

from __future__ import annotations

from penstock.model.error import ErrorCode
from penstock.raft import ElectionState
from penstock.raft.message import EndQuorumEpoch, Fetch, FetchAnswer, Vote, VoteAnswer
from tests.simulation.raft_disk import Record
from tests.unit.raft.raft_kit import Bench, acknowledged, endpoints, key, leader, log_of


def without_fetches(lines: list[str]) -> list[str]:
    return [line for line in lines if "fetch" not in line]


def test_the_way_to_leadership() -> None:
    bench = Bench(log_of(1, 1))
    assert without_fetches(bench.wait(1500)) == [
        "to 2: pre-vote 1 log 1/2",
        "to 3: pre-vote 1 log 1/2",
        "prospective 1",
    ]
    assert bench.grant(3) == [
        "persist 2 leader None voted 1",
        "to 2: vote 2 log 1/2",
        "to 3: vote 2 log 1/2",
        "candidate 2",
    ]
    assert bench.grant(2) == [
        "persist 2 leader 1 voted 1",
        "append leader change [1, 2, 3]",
        "to 2: begin 2",
        "to 3: begin 2",
        "leader 2",
    ]


def test_a_single_voter_leads_at_once_and_after_every_restart() -> None:
    bench = Bench(voters=[1])
    assert bench.role == "leader 1"
    assert bench.machine.high_watermark == 1
    again = Bench(bench.log, bench.election, voters=[1])
    assert again.role == "leader 2"
    assert without_fetches(again.wait(60_000)) == []


def test_pre_votes_refused_leave_the_epoch_alone() -> None:
    bench = Bench(log_of(1, 1))
    bench.follow(2, 4)
    bench.wait(2000)
    assert bench.role == "prospective 4"
    bench.grant(2, False)
    lines = bench.grant(3, False)
    assert "follower 4" in lines
    assert bench.election == ElectionState(4, 2)


def test_pre_votes_refused_without_a_leader() -> None:
    bench = Bench(log_of(1, 1))
    bench.wait(1500)
    bench.grant(2, False)
    assert "unattached 1" in bench.grant(3, False)
    bench.wait(1499)
    assert bench.role == "unattached 1"
    bench.wait(1)
    assert bench.role == "prospective 1"


def test_an_isolated_voter_raises_no_epoch() -> None:
    """KIP-996: a node that comes back must not disturb a good leader."""
    bench = Bench(log_of(1, 1))
    bench.follow(2, 4)
    bench.fetched()
    bench.wait(30_000)
    assert bench.machine.view.epoch == 4
    bench.follow(2, 4)
    assert bench.role == "follower 4"


def test_a_voter_that_does_not_know_pre_votes() -> None:
    bench = Bench(log_of(1, 1))
    bench.wait(1500)
    assert "candidate 2" in bench.fail(2, Vote, unsupported=True)


def test_a_candidate_that_lost_waits_its_timeout_out() -> None:
    bench = Bench(log_of(1, 1), ElectionState(4, None, key(1)))
    bench.grant(2, False)
    bench.grant(3, False)
    assert bench.role == "candidate 4"
    bench.wait(1500)
    assert bench.role == "prospective 4"
    assert bench.election.voted == key(1)


def test_votes_are_asked_for_only_with_a_synced_log() -> None:
    """Who gave a vote gives it again unseen; what it was given for must not be lost meanwhile."""
    log = log_of(1, 1)
    bench = Bench(log, ElectionState(4, None, key(1)), syncs=False)
    bench.follow(2, 5)
    bench.fetched(-1, Record(5, "x"))
    assert not [line for line in bench.wait(2000) if "vote" in line]
    assert bench.role == "prospective 5"
    assert "to 2: pre-vote 5 log 5/3" in bench.sync()


def test_a_voter_with_another_disk_is_not_asked_over_and_over() -> None:
    bench = Bench(log_of(1, 1), ElectionState(4, None, key(1)))
    answer = VoteAnswer(ErrorCode.INVALID_VOTER_KEY, leader(None, 4))
    assert bench.reply(2, Vote, answer) == []
    assert bench.wait(1000) == []
    bench.grant(3)
    assert bench.role == "leader 4"


def test_a_higher_epoch_ends_a_candidacy() -> None:
    bench = Bench(log_of(1, 1), ElectionState(4, None, key(1)))
    answer = VoteAnswer(ErrorCode.FENCED_LEADER_EPOCH, leader(3, 9))
    assert "follower 9" in bench.reply(2, Vote, answer)


def test_a_late_vote_of_an_older_election_does_not_count() -> None:
    bench = Bench(log_of(1, 1), ElectionState(4, None, key(1)))
    late = bench.pending(2, Vote).request_id
    bench.wait(1500)
    granted = VoteAnswer(ErrorCode.NONE, leader(None, 4), True)
    bench.step(lambda machine: machine.receive_answer(late, granted, bench.now_ms))
    assert bench.role == "prospective 4"


def test_two_leaders_of_one_epoch_are_not_believed() -> None:
    bench = Bench(log_of(1, 1))
    bench.follow(2, 4)
    answer = bench.ask(EndQuorumEpoch(4, 3, endpoints(3)))
    assert answer is not None and answer.error is ErrorCode.INVALID_REQUEST
    wrong = FetchAnswer(ErrorCode.NOT_LEADER_OR_FOLLOWER, leader(3, 4))
    bench.reply(2, Fetch, wrong)
    assert bench.machine.view.leader_id == 2


# Restarts


def test_who_led_starts_resigned() -> None:
    bench = Bench(log_of(4), ElectionState(4, 1, key(1)))
    assert bench.role == "resigned 4"
    assert "unattached 5" in bench.wait(1500) or bench.role == "prospective 5"
    assert bench.machine.view.epoch == 5


def test_who_stood_starts_as_candidate_unless_another_won() -> None:
    assert Bench(log_of(1), ElectionState(4, None, key(1))).role == "candidate 4"
    assert Bench(log_of(1), ElectionState(4, 3, key(1))).role == "follower 4"


def test_a_log_ahead_of_the_stored_epoch() -> None:
    bench = Bench(log_of(1, 6), ElectionState(4, 1, key(1)))
    assert bench.role == "unattached 6"
    assert bench.election == ElectionState(6)


def test_a_node_that_others_know_as_leader_and_that_lost_its_disk() -> None:
    bench = Bench()
    answer = FetchAnswer(ErrorCode.FENCED_LEADER_EPOCH, leader(1, 4))
    asked = next(one for one in bench.sent if isinstance(one.request, Fetch))
    bench.reply(asked.node.id, Fetch, answer)
    assert bench.role == "resigned 4"
    assert bench.vote(Vote(4, key(2), 3, 9)) == (ErrorCode.NONE, False)


# Resigning


def test_a_leader_without_a_majority_resigns() -> None:
    """KAFKA-15489: cut off for one and a half fetch timeouts."""
    bench = Bench(log_of(1, 1)).lead()
    bench.wait(2999)
    assert bench.role == "leader 2"
    assert "to 2: end 2 next [2, 3]" in bench.wait(1)
    assert bench.role == "resigned 2"


def test_one_follower_of_two_is_majority_enough() -> None:
    bench = Bench(log_of(1, 1)).lead()
    for _ in range(5):
        bench.wait(2500)
        bench.hold(3, 2)
    assert bench.role == "leader 2"


def test_observers_keep_no_leader_in_office() -> None:
    bench = Bench(log_of(1, 1)).lead()
    bench.wait(2500)
    bench.hold(8, 2)
    bench.wait(500)
    assert bench.role == "resigned 2"


def test_a_resigned_leader_goes_on_to_the_next_epoch() -> None:
    bench = Bench(log_of(1, 1)).lead()
    bench.step(lambda machine: machine.resign(2, bench.now_ms))
    assert bench.role == "resigned 2"
    bench.wait(1499)
    assert bench.role == "resigned 2"
    bench.wait(1)
    assert bench.machine.view.epoch == 3


def test_the_longest_log_is_to_stand_first() -> None:
    bench = Bench(log_of(1, 1)).lead()
    bench.append("a", "b")
    bench.hold(2, 3)
    bench.hold(3, 5)
    lines = bench.step(lambda machine: machine.shut_down(bench.now_ms))
    assert "to 2: end 2 next [3, 2]" in lines
    assert not bench.machine.is_done
    bench.reply(2, EndQuorumEpoch, acknowledged(2, 1))
    bench.reply(3, EndQuorumEpoch, acknowledged(2, 1))
    assert bench.machine.is_done
    bench.wait(20_000)
    assert "prospective" not in bench.role


def test_after_a_resignation_the_first_stands_at_once_and_the_others_help() -> None:
    first, second, unnamed = Bench(log_of(1)), Bench(log_of(1)), Bench(log_of(1))
    for bench in (first, second, unnamed):
        bench.follow(2, 4)
        bench.fetched()
    first.ask(EndQuorumEpoch(4, 2, endpoints(2), (key(1), key(3))))
    assert first.role == "prospective 4"
    second.ask(EndQuorumEpoch(4, 2, endpoints(2), (key(3), key(1))))
    assert second.vote(Vote(4, key(3), 1, 1, True)) == (ErrorCode.NONE, True)
    second.wait(499)
    assert second.role == "follower 4"
    second.wait(1)
    assert second.role == "prospective 4"
    unnamed.ask(EndQuorumEpoch(4, 2, endpoints(2), (key(3),)))
    unnamed.wait(999)
    assert unnamed.role == "follower 4"


# The leader's heartbeat


def test_voters_that_do_not_fetch_are_told_again_each_second() -> None:
    bench = Bench(log_of(1, 1)).lead()
    bench.reply(2, type(bench.pending(2, object).request), acknowledged(2, 1))
    bench.reply(3, type(bench.pending(3, object).request), acknowledged(2, 1))
    bench.wait(500)
    bench.hold(3, 2)
    assert bench.wait(500) == ["to 2: begin 2"]
    assert bench.wait(499) == []
    assert bench.wait(1) == ["to 3: begin 2"]


def test_the_heartbeat_keeps_a_follower_from_standing() -> None:
    bench = Bench(log_of(1))
    for _ in range(5):
        bench.follow(2, 4)
        bench.wait(1900)
    assert bench.role == "follower 4"
    bench.wait(100)
    assert bench.role == "prospective 4"
