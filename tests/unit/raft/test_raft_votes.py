"""Who gives a vote to whom, and when it is on disk."""

from __future__ import annotations

import pytest

from penstock.model.error import ErrorCode
from penstock.raft import ElectionState, ReplicaKey
from penstock.raft.message import FetchAnswer, Vote
from tests.unit.raft.raft_kit import Bench, directory, key, leader, log_of

GRANTED = (ErrorCode.NONE, True)
REFUSED = (ErrorCode.NONE, False)


def ask(candidate: int, epoch: int, last_epoch: int = 1, offset: int = 2) -> Vote:
    return Vote(epoch, key(candidate), last_epoch, offset, voter=key(1))


def pre(candidate: int, epoch: int, last_epoch: int = 1, offset: int = 2) -> Vote:
    return ask(candidate, epoch, last_epoch, offset)._replace(pre_vote=True)


def test_a_vote_is_on_disk_before_it_is_given() -> None:
    bench = Bench(log_of(1, 1))
    bench.vote(ask(2, 5))
    given = bench.lines.index("answer ask: NONE")
    assert bench.lines.index("persist 5 leader None voted 2") < given


def test_one_vote_for_each_epoch() -> None:
    bench = Bench(log_of(1, 1))
    assert bench.vote(ask(2, 5)) == GRANTED
    assert bench.vote(ask(2, 5)) == GRANTED
    assert bench.vote(ask(3, 5)) == REFUSED
    assert bench.vote(ask(3, 6)) == GRANTED


def test_a_vote_outlives_a_restart() -> None:
    bench = Bench(log_of(1, 1), ElectionState(5, None, key(2)))
    assert bench.vote(ask(3, 5)) == REFUSED
    assert bench.vote(ask(2, 5)) == GRANTED


@pytest.mark.parametrize(
    ("last_epoch", "offset", "expected"),
    [(2, 3, GRANTED), (2, 9, GRANTED), (3, 1, GRANTED), (2, 2, REFUSED), (1, 9, REFUSED)],
)
def test_the_log_must_be_as_long_by_epoch_first(
    last_epoch: int, offset: int, expected: tuple[ErrorCode, bool]
) -> None:
    assert Bench(log_of(1, 2, 2)).vote(ask(2, 5, last_epoch, offset)) == expected
    assert Bench(log_of(1, 2, 2)).vote(pre(2, 5, last_epoch, offset)) == expected


def test_a_lower_epoch_is_fenced_and_told_the_leader() -> None:
    bench = Bench(log_of(1, 1))
    bench.follow(2, 4)
    answer = bench.ask(ask(3, 3))
    assert answer is not None and answer.error is ErrorCode.FENCED_LEADER_EPOCH
    assert not isinstance(answer, FetchAnswer) and answer.leader == leader(2, 4)  # type: ignore[union-attr]


def test_a_higher_epoch_is_taken_over_even_where_no_vote_is_given() -> None:
    bench = Bench(log_of(1, 1))
    bench.follow(2, 4)
    assert bench.vote(ask(3, 7, 1, 0)) == REFUSED
    assert bench.role == "unattached 7"
    assert bench.election == ElectionState(7)
    assert bench.vote(pre(3, 8, 1, 0)) == REFUSED
    assert bench.election == ElectionState(8)


@pytest.mark.parametrize(
    "request_", [ask(2, 5, 5), pre(2, 5, 6), ask(-1, 5), ask(2, 5, -1), ask(2, 5, 1, -1)]
)
def test_what_no_candidate_says(request_: Vote) -> None:
    bench = Bench(log_of(1, 1))
    assert bench.vote(request_) == (ErrorCode.INVALID_REQUEST, False)
    assert bench.role == "unattached 0" if bench.log.last_epoch == 0 else "unattached 1"


def test_a_pre_vote_may_be_in_the_epoch_of_the_log() -> None:
    assert Bench(log_of(1, 1)).vote(pre(2, 1)) == GRANTED


def test_a_request_for_another_node_or_another_disk() -> None:
    bench = Bench(log_of(1, 1))
    other_disk = ReplicaKey(1, directory(9))
    assert bench.vote(ask(2, 5)._replace(voter=key(3)))[0] is ErrorCode.INVALID_VOTER_KEY
    assert bench.vote(ask(2, 5)._replace(voter=other_disk))[0] is ErrorCode.INVALID_VOTER_KEY
    assert bench.election.voted is None
    assert bench.vote(ask(2, 5)._replace(voter=None)) == GRANTED


def test_the_candidate_need_not_be_a_known_voter() -> None:
    """The voter's log may be behind the record that made it one."""
    assert Bench(log_of(1, 1)).vote(ask(7, 5)) == GRANTED


def test_a_follower_helps_nobody_while_its_leader_answers() -> None:
    bench = Bench(log_of(1, 1))
    bench.follow(2, 4)
    assert bench.vote(pre(3, 4)) == GRANTED
    bench.fetched()
    assert bench.vote(pre(3, 4)) == REFUSED
    assert bench.vote(ask(3, 4)) == REFUSED
    assert bench.role == "follower 4"


def test_no_vote_where_the_leader_of_the_epoch_is_known() -> None:
    bench = Bench(log_of(1, 1), ElectionState(4, 2))
    assert bench.vote(ask(3, 4)) == REFUSED


def test_a_leader_gives_none() -> None:
    bench = Bench(log_of(1, 1)).lead()
    assert bench.vote(pre(3, 2, 2, 99)) == REFUSED
    assert bench.vote(ask(3, 2, 1, 99)) == REFUSED
    assert bench.role == "leader 2"


def test_a_candidate_and_a_resigned_leader_give_pre_votes_only() -> None:
    candidate = Bench(log_of(1, 1), ElectionState(4, None, key(1)))
    resigned = Bench(log_of(1, 1), ElectionState(4, 1, key(1)))
    assert (candidate.role, resigned.role) == ("candidate 4", "resigned 4")
    for bench in (candidate, resigned):
        assert bench.vote(pre(3, 4)) == GRANTED
        assert bench.vote(ask(3, 4)) == REFUSED


def test_a_prospective_node_may_still_vote() -> None:
    bench = Bench(log_of(1, 1))
    bench.wait(1500)
    assert bench.role == "prospective 1"
    assert bench.vote(pre(3, 1)) == GRANTED
    assert bench.role == "prospective 1"
    assert bench.vote(ask(3, 2)) == GRANTED
    assert bench.role == "unattached 2"
