"""When a damaged replica may be cut, and how it comes to be one that may."""

from __future__ import annotations

import pytest

from penstock.metadata.partition import PartitionImage
from penstock.model.directory_id import LOST
from penstock.replication.repair import Step, next_step

HOME = b"d" * 16
MIN_ISR = 2


def image(leader: int, isr: str, elr: str = "", *, lost: bool = False) -> PartitionImage:
    """Of three replicas; the damaged one is 1."""
    return PartitionImage(
        leader=leader,
        leader_epoch=1,
        partition_epoch=1,
        replicas=[1, 2, 3],
        isr=[int(one) for one in isr],
        elr=[int(one) for one in elr],
        directories=[LOST if lost else HOME, HOME, HOME],
    )


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        # The way of a leader and of a follower that others can do without.
        (image(1, "123"), Step.LEAVE),
        (image(2, "123"), Step.LEAVE),
        (image(2, "23"), Step.LEAVE),
        (image(2, "23", lost=True), Step.CUT),
        (image(2, "2", "3", lost=True), Step.CUT),
        # A leader gives way to the only other; it is eligible then, and comes back as a follower.
        (image(1, "12"), Step.LEAVE),
        (image(2, "2", "1", lost=True), Step.RETURN),
        (image(2, "2", "1"), Step.WAIT),
        (image(2, "12"), Step.WAIT),
        # The last one is never cut, whether it leads or nobody does.
        (image(1, "1"), Step.WAIT),
        (image(1, "1", "23"), Step.WAIT),
        (image(-1, "1", lost=True), Step.RETURN),
        (image(-1, "", "1", lost=True), Step.RETURN),
        (image(-1, "", "1"), Step.WAIT),
        (image(-1, "", "2", lost=True), Step.RETURN),
        (image(-1, "", "2"), Step.WAIT),
    ],
)
def test_steps(state: PartitionImage, wanted: Step) -> None:
    assert next_step(1, state, MIN_ISR) == wanted


def test_one_that_is_no_replica_any_more() -> None:
    assert next_step(4, image(1, "123"), MIN_ISR) == Step.FORGET
    assert next_step(1, None, MIN_ISR) == Step.FORGET


def test_two_replicas_are_enough_for_a_repair_where_one_is_needed() -> None:
    state = image(2, "12")
    assert next_step(1, state, 1) == Step.LEAVE
