"""The quota of replication: bytes over time that is given."""

from __future__ import annotations

import pytest

from penstock.replication.throttle import (
    UNLIMITED,
    PartitionThrottle,
    ReplicationQuota,
    ReplicationThrottles,
)

RATE = 1_000_000


def quota(rate: int = RATE) -> ReplicationQuota:
    made = ReplicationQuota(window_s=1.0)
    made.set_rate(rate, 0.0)
    return made


def test_one_window_may_go_at_once_and_what_is_beyond_is_waited_for() -> None:
    one = quota()
    one.note(RATE, 10.0)
    assert not one.is_exceeded(10.0)
    one.note(RATE // 2, 10.0)
    assert one.wait_s(10.0) == pytest.approx(0.5)
    assert one.is_exceeded(10.4)
    assert not one.is_exceeded(10.5)


@pytest.mark.parametrize("answer_bytes", [1000, 1 << 20, 50 << 20])
def test_however_large_the_answers_are_the_rate_is_kept(answer_bytes: int) -> None:
    one = quota()
    now_s, sent = 0.0, 0
    for _ in range(200):
        now_s += one.wait_s(now_s)
        one.note(answer_bytes, now_s)
        sent += answer_bytes
    assert sent <= RATE * (now_s + 1.0) + answer_bytes + 1


def test_time_without_copying_is_not_saved_up() -> None:
    one = quota()
    one.note(1, 0.0)
    one.note(3 * RATE, 1000.0)
    assert one.wait_s(1000.0) == pytest.approx(2.0)


def test_a_new_rate_holds_for_what_is_owed() -> None:
    one = quota()
    one.note(5 * RATE, 0.0)
    one.set_rate(4 * RATE, 0.0)
    assert one.wait_s(0.0) == pytest.approx(0.25)
    one.set_rate(UNLIMITED, 0.0)
    one.note(1 << 40, 0.0)
    one.set_rate(RATE, 1.0)
    assert not one.is_exceeded(1.0)


def test_nothing_goes_at_a_rate_of_nothing() -> None:
    one = quota(0)
    assert not one.is_exceeded(0.0)
    one.note(1, 0.0)
    assert one.wait_s(1e9) == float("inf")


def test_who_is_in_sync_is_not_held_back_and_counts() -> None:
    one = quota()
    throttle = PartitionThrottle(one, None)
    throttle.note_sent(2 * RATE, 0.0)
    assert throttle.holds_back(False, 0.0)
    assert not throttle.holds_back(True, 0.0)
    throttle.note_sent(RATE, 0.0)
    assert one.wait_s(0.0) == pytest.approx(2.0)
    assert throttle.wait_s(0.0) == 0.0


def test_a_follower_waits_until_it_is_level_with_its_leader() -> None:
    throttle = PartitionThrottle(None, quota())
    throttle.note_fetched(3 * RATE, False, 0.0)
    assert throttle.wait_s(0.0) == pytest.approx(2.0)
    throttle.note_fetched(0, True, 0.0)
    assert throttle.wait_s(0.0) == 0.0
    throttle.note_fetched(0, False, 0.0)
    assert throttle.wait_s(0.0) == pytest.approx(2.0)
    assert not throttle.holds_back(False, 0.0)


def test_which_partitions_settings_name() -> None:
    throttles = ReplicationThrottles(7)
    throttles.leading.set_rate(1, 0.0)
    assert throttles.of(0, (), ()) is None
    assert throttles.of(0, ("1:7", "0:8"), ("10:7",)) is None
    named = throttles.of(1, ("0:8", "1:7"), ())
    assert named is not None
    named.note_sent(100, 0.0)
    assert named.holds_back(False, 0.0)
    every = throttles.of(5, (), ("*",))
    assert every is not None
    assert not every.holds_back(False, 0.0)
