"""The pure machines of an application: progress, lanes, retries, suspicion, durations."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client import DeclarationError, DecodeError, PoisonError, Retry, TransientError
from penstock.client.app.held import Held
from penstock.client.app.lanes import Lanes
from penstock.client.app.progress import Progress, read_note
from penstock.client.app.retry import Again, Dead, Later
from penstock.client.app.suspicion import InHand, Suspicion
from penstock.client.duration import milliseconds
from penstock.client.offset_ranges import encode_fitting


@given(st.lists(st.integers(0, 40), min_size=1, unique=True), st.randoms())
def test_what_is_committed_and_noted_is_what_is_done(
    offsets: list[int], chance: random.Random
) -> None:
    """Whatever the order, and with offsets that compaction took out."""
    read = sorted(offsets)
    progress = Progress(0)
    assert all(progress.begin(each) for each in read)
    done: set[int] = set()
    for each in chance.sample(read, len(read)):
        progress.finish(each)
        done.add(each)
        commit = progress.commit()
        open_ones = [one for one in read if one not in done]
        assert commit.offset == (open_ones[0] if open_ones else read[-1] + 1)
        note = read_note(commit.metadata, commit.offset)
        assert note.finished == {one for one in done if one > commit.offset}
        heir = Progress(commit.offset, note.finished)
        rest = [one for one in read if one >= commit.offset]
        assert [one for one in rest if heir.begin(one)] == open_ones


def test_a_successor_passes_over_what_was_done_and_commits_it() -> None:
    heir = Progress(5, frozenset({6, 7}))
    assert [heir.begin(each) for each in (5, 6, 7)] == [True, False, False]
    heir.finish(5)
    assert heir.commit().offset == 8


def test_metadata_has_a_limit_and_the_lowest_go_first() -> None:
    scattered = {each * each for each in range(1, 9000)}
    text, covered = encode_fitting(scattered, 0)
    assert len(text) <= 4000
    assert covered == set(sorted(scattered)[: len(covered)])
    assert len(covered) > 500


@pytest.mark.parametrize("text", ["", None, "someone else's", "a1;open;;r1:!!", "a1;open;x*y;"])
def test_metadata_that_is_not_ours_says_nothing(text: str | None) -> None:
    note = read_note(text, 0)
    assert (note.in_hand, note.finished) == (None, frozenset())


class Item(NamedTuple):
    lane: str | None
    number: int


def test_lanes_keep_order_and_do_not_wait_for_each_other() -> None:
    lanes: Lanes[Item] = Lanes()
    for number, lane in enumerate(["a", "a", "b", None, "a", None]):
        lanes.add(Item(lane, number))
    taken = [lanes.take() for _ in range(5)]
    assert taken == [Item("a", 0), Item("b", 2), Item(None, 3), Item(None, 5), None]
    lanes.release(Item("a", 0))
    assert lanes.take() == Item("a", 1)
    assert lanes.take() is None
    lanes.release(Item("a", 1))
    assert lanes.take() == Item("a", 4)


def test_lanes_serve_by_weight() -> None:
    lanes: Lanes[Item] = Lanes([5, 1])
    for number in range(60):
        lanes.add(Item(None, number), 0)
        lanes.add(Item(None, number + 100), 1)
    taken = [lanes.take() for _ in range(60)]
    assert sum(1 for each in taken if each is not None and each.number < 100) == 50


def test_what_is_discarded_frees_its_lane_and_no_other() -> None:
    lanes: Lanes[Item] = Lanes()
    for number, lane in enumerate(["a", "a", "b", "b", "c"]):
        lanes.add(Item(lane, number))
    under_way = lanes.take()
    assert under_way == Item("a", 0)
    gone = lanes.discard(lambda each: each.lane in ("a", "b"))
    assert sorted(each.number for each in gone) == [1, 2, 3]
    lanes.release(under_way)
    lanes.add(Item("b", 9))
    assert [lanes.take(), lanes.take(), lanes.take()] == [Item("c", 4), Item("b", 9), None]


def test_held_come_in_the_order_of_their_time() -> None:
    held: Held[str] = Held()
    for due, what in ((30, "c"), (10, "a"), (20, "b"), (10, "a2")):
        held.add(due, what)
    assert held.next_ms == 10
    assert held.due(20) == ["a", "a2", "b"]
    assert held.discard(lambda each: each == "c") == ["c"]
    assert held.next_ms is None


class Declined(Exception):
    pass


def test_errors_are_classified() -> None:
    retry = Retry(poison=(Declined,), transient=(KeyError,))
    undecoded = DecodeError("t", 0, 1, b"")
    poison = [PoisonError(), undecoded, ValueError(), TypeError(), Declined(), SystemExit(1)]
    transient = [TransientError(), OSError(), TimeoutError(), RuntimeError(), KeyError("x")]
    assert {retry.classify(each) for each in poison} == {"poison"}
    assert {retry.classify(each) for each in transient} == {"transient"}


def test_a_record_goes_through_all_stages() -> None:
    retry = Retry("1m", "5m", attempts=3)
    away = OSError("away")
    assert retry.next_step(away, 1, None, 0.0) == Again(100)
    assert retry.next_step(away, 2, None, 1.0) == Again(100)
    assert retry.next_step(away, 3, None, 0.5) == Later("1m", 60_000)
    assert retry.next_step(away, 1, "1m", 0.5) == Later("5m", 300_000)
    assert retry.next_step(away, 1, "5m", 0.5) == Dead("transient")
    assert retry.next_step(away, 1, "2h", 0.5) == Dead("transient")
    assert retry.next_step(ValueError(), 1, None, 0.5) == Dead("poison")


def test_backoff_grows_to_its_limit_and_is_spread() -> None:
    retry = Retry(attempts=99, backoff="100ms", backoff_max="1s")
    waits = [retry.next_step(OSError(), tries, None, 0.0) for tries in range(1, 7)]
    assert waits == [Again(each) for each in (100, 200, 400, 800, 1000, 1000)]
    assert retry.next_step(OSError(), 90, None, 1.0) == Again(500)


def test_with_order_kept_the_delays_pass_in_memory() -> None:
    retry = Retry("1m", attempts=1, keep_order=True)
    assert retry.next_step(OSError(), 1, None, 0.0) == Again(60_000)
    assert retry.next_step(OSError(), 2, None, 0.0) == Dead("transient")


def test_the_third_crash_on_one_record_is_its_last() -> None:
    """One raised the suspicion; the process ends with a group in hand, then with a record of it."""
    first = Suspicion(None, window=10, group=3)
    assert first.take([1, 2]) == InHand(1, 2, 1)
    assert first.has_room
    assert first.take([4, 5, 6]) == InHand(1, 4, 1)
    assert not first.has_room
    first.passed()
    assert first.take([5, 6, 7]) == InHand(5, 7, 1)
    second = Suspicion(InHand(5, 7, 1), window=10, group=3)
    assert second.wants_alone(5)
    assert second.take([5, 6, 7, 8]) == InHand(5, 5, 2)
    assert not second.has_room
    second.passed()
    assert second.take([6, 7, 8]) == InHand(6, 6, 2)
    third = Suspicion(InHand(6, 6, 2), window=10, group=3)
    assert third.take([6, 7, 8]) is None
    third.passed()
    assert third.take([7, 8]) == InHand(7, 8, 1)


def test_a_record_by_itself_has_as_many_lives_as_one_of_a_group() -> None:
    assert Suspicion(None, 10, group=1).take([5, 6]) == InHand(5, 5, 1)
    assert Suspicion(InHand(5, 5, 1), 10, group=1).take([5, 6]) == InHand(5, 5, 2)
    assert Suspicion(InHand(5, 5, 2), 10, group=1).take([5, 6]) is None


@pytest.mark.parametrize("hand", [InHand(5, 5, 2), InHand(5, 70, 1), None])
def test_what_is_in_hand_is_read_as_it_was_noted(hand: InHand | None) -> None:
    assert read_note(Progress(5).commit(in_hand=hand).metadata, 5).in_hand == hand


def test_a_group_ends_before_what_is_to_be_alone() -> None:
    suspicion = Suspicion(InHand(5, 7, 1), 10, group=8)
    assert suspicion.take([1, 5, 6, 7, 8]) == InHand(1, 1, 1)


def test_a_suspicion_ends_with_its_window() -> None:
    suspicion = Suspicion(None, window=2, group=1)
    suspicion.take([0, 1])
    suspicion.passed()
    assert not suspicion.is_over
    suspicion.take([1])
    assert suspicion.is_over


def test_durations() -> None:
    assert [milliseconds(each) for each in ("5ms", "2s", "3m", "1h", "1d")] == [
        5, 2_000, 180_000, 3_600_000, 86_400_000,
    ]  # fmt: skip
    with pytest.raises(DeclarationError, match='"soon"'):
        milliseconds("soon")
