"""Records that come back again and again: fewer of them together, and each alone at the end."""

from __future__ import annotations

import pytest

from penstock.share import Acknowledgement, AcknowledgeType, DeliveryThrottle, LogBatch, Window

LOCKS = 10_000


def rounds(
    log: list[LogBatch], deliveries_max: int, *, batch_size: int = 500, exact: bool = False
) -> list[tuple[int, int]]:
    """A member that takes records and releases them until there are none: how many each time, and
    how often the first of them was handed out."""
    window, found = Window(log[0].first), []
    while True:
        at = window.next_offset
        batches = [one for one in log if one.last >= at]
        throttle = DeliveryThrottle(deliveries_max)
        got = window.acquire(
            "a", batches, 500, LOCKS, 1_000, throttle, exact=exact, batch_size=batch_size
        )
        if not got:
            return found
        found.append((sum(one.last - one.first + 1 for one in got), got[0].deliveries))
        told = [Acknowledgement(one.first, one.last, AcknowledgeType.RELEASE) for one in got]
        window.commit(window.acknowledge("a", told, deliveries_max, 1_000))


@pytest.mark.parametrize("exact", [False, True])
def test_half_of_them_and_then_one_by_one(exact: bool) -> None:
    half = [(4, 4), *[(1, 5)] * 4]
    assert rounds([LogBatch(0, 7)], 5, exact=exact) == [(8, 1), (8, 2), (8, 3), *half, *half]


def test_half_each_time_where_more_deliveries_are_allowed() -> None:
    sizes = {deliveries: size for size, deliveries in rounds([LogBatch(0, 511)], 10)}
    assert list(sizes.values()) == [512] * 5 + [256, 128, 64, 32, 1]


@pytest.mark.parametrize("deliveries_max", [1, 2])
def test_two_deliveries_are_never_held_back(deliveries_max: int) -> None:
    found = rounds([LogBatch(0, 7)], deliveries_max)
    assert found == [(8, n + 1) for n in range(deliveries_max)]


def test_the_last_of_three_is_alone() -> None:
    assert rounds([LogBatch(0, 3)], 3) == [(4, 1), (4, 2), *[(1, 3)] * 4]


def test_batches_of_one_record_count_together() -> None:
    log = [LogBatch(n, n) for n in range(8)]
    assert rounds(log, 5)[:5] == [(8, 1), (8, 2), (8, 3), (4, 4), (1, 5)]
    assert rounds(log, 5, batch_size=4)[3] == (2, 4)


def test_who_is_held_back_comes_neither_behind_others_nor_before_them() -> None:
    throttle = DeliveryThrottle(5)
    window = Window(0)
    for _ in range(3):
        window.acquire("a", [LogBatch(4, 7)], 500, LOCKS, 1_000, throttle)
        window.commit(
            window.acknowledge("a", [Acknowledgement(4, 7, AcknowledgeType.RELEASE)], 5, 1_000)
        )
    assert window.states()[-1] == (4, 7, "AVAILABLE", 3)
    log = [LogBatch(4, 7), LogBatch(8, 9)]
    assert window.acquire("a", log, 500, LOCKS, 1_000, throttle) == [(4, 5, 4)]
    assert window.acquire("b", log, 500, LOCKS, 1_000, throttle) == [(6, 7, 4)]
    assert window.acquire("c", log, 500, LOCKS, 1_000, throttle) == [(8, 9, 1)]
    window.release("c")
    window.release("b")
    assert window.acquire("d", log, 500, LOCKS, 1_000, throttle) == [(6, 7, 4)]
