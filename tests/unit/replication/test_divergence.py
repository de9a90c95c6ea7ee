"""Where two logs part, by epochs alone."""

from __future__ import annotations

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.replication.divergence import EpochEnd, find_divergence, truncation_point
from tests.unit.replication.replica_kit import log_view

LEADER = log_view((1, 0), (3, 5), (6, 8), end=10)


@pytest.mark.parametrize(
    ("offset", "epoch", "found"),
    [
        (10, 6, None),
        (9, 6, None),
        (11, 6, EpochEnd(6, 10)),
        (8, 3, None),
        (9, 3, EpochEnd(3, 8)),
        (7, 5, EpochEnd(3, 8)),
        (5, 2, EpochEnd(1, 5)),
        (4, 1, None),
        (4, 0, EpochEnd(0, 0)),
        (7, -1, None),
    ],
)
def test_what_a_leader_sees(offset: int, epoch: int, found: EpochEnd | None) -> None:
    assert find_divergence(LEADER, offset, epoch) == found


@pytest.mark.parametrize(("offset", "epoch"), [(10, 7), (1, 3)])
def test_what_a_leader_cannot_tell(offset: int, epoch: int) -> None:
    """An epoch above all, and an offset before the start of the log."""
    log = log_view((3, 5), (6, 8), end=10, start=5)
    with pytest.raises(ApiError) as refused:
        find_divergence(log, offset, epoch)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    ("leader", "point"),
    [
        (EpochEnd(3, 7), 7),
        (EpochEnd(3, 20), 8),
        (EpochEnd(6, 9), 9),
        (EpochEnd(6, 20), 10),
        (EpochEnd(4, 9), 8),
        (EpochEnd(2, 4), 5),
        (EpochEnd(0, 0), 0),
        (EpochEnd(-1, -1), None),
    ],
)
def test_where_a_follower_cuts(leader: EpochEnd, point: int | None) -> None:
    log = log_view((1, 0), (3, 5), (6, 8), end=10, mark=2)
    assert truncation_point(log, leader) == point


def test_a_follower_without_epochs_goes_by_the_leaders_end() -> None:
    assert truncation_point(log_view(end=10), EpochEnd(3, 7)) == 7
    assert truncation_point(log_view(end=10), EpochEnd(3, 70)) == 10
