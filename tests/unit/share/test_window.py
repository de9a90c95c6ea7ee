"""Records handed out, acknowledged, released: step by step."""

from __future__ import annotations

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.share_fetch import AcknowledgementBatch
from penstock.share import (
    Acknowledgement,
    AcknowledgeType,
    Acquired,
    DeliveryThrottle,
    LogBatch,
    StateBatch,
    Window,
    acknowledgements,
)

ACCEPT, RELEASE, REJECT = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT
GAP, RENEW = AcknowledgeType.GAP, AcknowledgeType.RENEW
LIMIT, LOCKS = 3, 100
THROTTLE = DeliveryThrottle(100)


def take(
    window: Window, *batches: LogBatch, who: str = "a", most: int = 100, exact: bool = False
) -> list[Acquired]:
    return window.acquire(who, batches, most, LOCKS, 1_000, THROTTLE, exact=exact)


def tell(window: Window, kind: AcknowledgeType, first: int, last: int, who: str = "a") -> None:
    told = window.acknowledge(who, [Acknowledgement(first, last, kind)], LIMIT, 5_000)
    window.commit(told)


def by_offset(window: Window) -> dict[int, tuple[str, int]]:
    return {
        offset: (state, deliveries)
        for first, last, state, deliveries in window.states()
        for offset in range(first, last + 1)
    }


def test_whole_batches_are_handed_out() -> None:
    window = Window(0)
    assert take(window, LogBatch(0, 4), LogBatch(5, 9), LogBatch(10, 14), most=6) == [
        Acquired(0, 4, 1),
        Acquired(5, 9, 1),
    ]
    assert (window.start, window.next_offset) == (0, 10)


def test_exactly_as_many_where_that_is_asked_for() -> None:
    window = Window(0)
    assert take(window, LogBatch(0, 4), LogBatch(5, 9), most=6, exact=True) == [
        Acquired(0, 4, 1),
        Acquired(5, 5, 1),
    ]
    assert take(window, LogBatch(5, 9), who="b") == [Acquired(6, 9, 1)]


def test_the_start_moves_over_what_is_done_with() -> None:
    window = Window(0)
    take(window, LogBatch(0, 9))
    tell(window, ACCEPT, 5, 9)
    assert (window.start, window.done_count) == (0, 5)
    tell(window, REJECT, 0, 3)
    assert window.start == 4
    tell(window, ACCEPT, 4, 4)
    assert (window.start, window.end, window.done_count) == (10, 10, 0)


def test_what_is_released_is_handed_out_again_but_not_for_ever() -> None:
    window = Window(0)
    for delivery in range(1, LIMIT + 1):
        assert take(window, LogBatch(0, 1)) == [Acquired(0, 1, delivery)]
        tell(window, RELEASE, 0, 1)
    assert (window.start, take(window, LogBatch(2, 2))) == (2, [Acquired(2, 2, 1)])


def test_locks_run_out() -> None:
    window = Window(0)
    take(window, LogBatch(0, 1))
    assert window.expire(999, LIMIT) == []
    assert window.expire(1_000, LIMIT) == [StateBatch(0, 1, 0, 1)]
    assert take(window, LogBatch(0, 1), who="b") == [Acquired(0, 1, 2)]
    with pytest.raises(ApiError) as refused:
        tell(window, ACCEPT, 0, 1)
    assert refused.value.code is ErrorCode.INVALID_RECORD_STATE


def test_a_lock_is_renewed() -> None:
    window = Window(0)
    take(window, LogBatch(0, 1))
    assert window.acknowledge("a", [Acknowledgement(0, 1, RENEW)], LIMIT, 5_000) == []
    assert (window.expire(1_000, LIMIT), window.next_deadline_ms) == ([], 5_000)


def test_a_delivery_to_a_member_that_has_gone_does_not_count() -> None:
    window = Window(0)
    take(window, LogBatch(0, 1), who="a")
    take(window, LogBatch(2, 3), who="b")
    assert window.release("a") == [StateBatch(0, 1, 0, 0)]
    assert take(window, LogBatch(0, 1), LogBatch(2, 3), who="c") == [Acquired(0, 1, 1)]


def test_nothing_is_taken_of_what_is_partly_wrong() -> None:
    window = Window(0)
    take(window, LogBatch(0, 4), who="a")
    take(window, LogBatch(5, 9), who="b")
    before = by_offset(window)
    for wrong in ((0, 5), (0, 10), (7, 8)):
        with pytest.raises(ApiError):
            tell(window, ACCEPT, *wrong)
    assert by_offset(window) == before
    tell(window, ACCEPT, 0, 4)
    tell(window, ACCEPT, 5, 9, who="b")
    assert window.start == 10


def test_what_is_being_kept_is_nobodys() -> None:
    window = Window(0)
    take(window, LogBatch(0, 4))
    told = window.acknowledge("a", [Acknowledgement(0, 4, RELEASE)], LIMIT, 5_000)
    assert take(window, LogBatch(0, 4), who="b") == []
    with pytest.raises(ApiError):
        tell(window, ACCEPT, 0, 4)
    assert window.expire(9_999, LIMIT) == []
    window.roll_back(told)
    tell(window, ACCEPT, 0, 4)
    assert window.start == 5


def test_acknowledgements_of_what_is_long_done_with_are_passed_over() -> None:
    window = Window(10)
    take(window, LogBatch(8, 14))
    tell(window, ACCEPT, 5, 12)
    assert window.start == 13


def test_no_more_locks_than_there_are() -> None:
    window = Window(0)
    got = window.acquire("a", [LogBatch(n, n) for n in range(10)], 100, 3, 1_000, THROTTLE)
    assert got == [Acquired(n, n, 1) for n in range(3)]
    assert not window.has_room(3)
    # The batches behind are still to come: nobody takes them for missing.
    tell(window, ACCEPT, 0, 0)
    assert window.has_room(3)
    got = window.acquire("a", [LogBatch(n, n) for n in range(3, 10)], 100, 3, 1_000, THROTTLE)
    assert got == [Acquired(3, 3, 1)]


def test_offsets_without_records_are_passed_over() -> None:
    window = Window(0)
    assert take(window, LogBatch(3, 4), LogBatch(7, 7)) == [Acquired(3, 4, 1), Acquired(7, 7, 1)]
    assert window.start == 3
    tell(window, ACCEPT, 3, 4)
    assert window.start == 7


def test_markers_and_what_was_aborted_are_shown_to_nobody() -> None:
    window = Window(0)
    dead = LogBatch(2, 5, is_dead=True)
    assert take(window, LogBatch(0, 1), dead, LogBatch(6, 6)) == [
        Acquired(0, 1, 1),
        Acquired(6, 6, 1),
    ]
    tell(window, ACCEPT, 0, 1)
    assert window.start == 6


def test_the_log_may_begin_later() -> None:
    window = Window(0)
    take(window, LogBatch(0, 9))
    assert window.move_start(4)
    assert window.states() == [(4, 9, "ACQUIRED", 1)]
    tell(window, ACCEPT, 0, 9)
    assert window.move_start(50)
    assert (window.start, window.end) == (50, 50)


def test_a_load_gives_what_was_not_kept_to_others() -> None:
    kept = [StateBatch(2, 3, 2, 1), StateBatch(6, 6, 0, 2), StateBatch(8, 9, 4, 3)]
    window = Window(0, kept)
    assert window.states() == [
        (0, 1, "AVAILABLE", 0),
        (2, 3, "ACKNOWLEDGED", 1),
        (4, 5, "AVAILABLE", 0),
        (6, 6, "AVAILABLE", 2),
        (7, 7, "AVAILABLE", 0),
        (8, 9, "ARCHIVED", 3),
    ]
    assert take(window, LogBatch(0, 9)) == [
        Acquired(0, 1, 1),
        Acquired(4, 5, 1),
        Acquired(6, 6, 3),
        Acquired(7, 7, 1),
    ]


@pytest.mark.parametrize(
    ("batches", "may_renew"),
    [
        ([(5, 4, [1])], False),
        ([(0, 4, [])], False),
        ([(0, 4, [1, 1])], False),
        ([(0, 4, [9])], False),
        ([(0, 4, [-1])], False),
        ([(0, 4, [4])], False),
        ([(0, 4, [1]), (4, 5, [1])], False),
        ([(5, 6, [1]), (0, 1, [1])], True),
    ],
)
def test_acknowledgements_without_sense(
    batches: list[tuple[int, int, list[int]]], may_renew: bool
) -> None:
    asked = [
        AcknowledgementBatch(first_offset=a, last_offset=b, acknowledge_types=c)
        for a, b, c in batches
    ]
    with pytest.raises(ApiError) as refused:
        acknowledgements(asked, may_renew=may_renew)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_acknowledgements_by_offset() -> None:
    asked = AcknowledgementBatch(first_offset=3, last_offset=7, acknowledge_types=[1, 1, 0, 2, 2])
    assert acknowledgements([asked], may_renew=False) == [
        Acknowledgement(3, 4, ACCEPT),
        Acknowledgement(5, 5, GAP),
        Acknowledgement(6, 7, RELEASE),
    ]
