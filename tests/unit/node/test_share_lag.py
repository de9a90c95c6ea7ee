"""Whom a look asks about share groups: who may have moved, and nobody else."""

from __future__ import annotations

from typing import cast

from penstock.group.share.group import ShareGroup
from penstock.group.share.member import ShareMember
from penstock.group.share.record import SharedTopic, StateTopics
from penstock.model.id import TopicPartition
from penstock.node.lag.ends import LocalEnds
from penstock.node.lag.share_row import SETTLING_MS, ShareRow
from penstock.share import ShareKey
from penstock.share.kept import KeptState

TOPIC_ID = bytes(range(16))
PLACE = TopicPartition("t", 0)
KEY = ShareKey("g", TOPIC_ID, 0)


class Replica:
    def __init__(self, high_watermark: int) -> None:
        self.high_watermark = high_watermark


class Ends:
    def __init__(self, end: int) -> None:
        self._replica = Replica(end)

    def find(self, _: TopicPartition) -> Replica:
        return self._replica


def ends(end: int) -> LocalEnds:
    return cast("LocalEnds", Ends(end))


def group(*members: str) -> ShareGroup:
    made = ShareGroup("g")
    made.members = {each: ShareMember(each) for each in members}
    made.state_topics = StateTopics(
        initialized={TOPIC_ID: SharedTopic("t", frozenset({0}))},
    )
    return made


def row(seen: ShareGroup, start: int, done: int, end: int) -> ShareRow:
    made = ShareRow("g")
    made.observe(seen, 0)
    assert made.may_move(ends(end), 0)
    made.take({KEY: KeptState(start_offset=start, done_count=done)})
    made.rows[PLACE].end = end
    return made


def test_records_done_with_out_of_order_are_not_waited_for() -> None:
    found = row(group("m"), 3, 2, 10).rows[PLACE]
    assert (found.committed, found.consumed, found.lag) == (3, 5, 5)


def test_a_group_that_is_behind_is_asked_about_while_it_has_members() -> None:
    assert row(group("m"), 3, 0, 10).may_move(ends(10), SETTLING_MS * 2)


def test_a_group_that_is_done_is_asked_about_when_something_is_written() -> None:
    done = row(group("m"), 10, 0, 10)
    assert not done.may_move(ends(10), 0)
    assert done.may_move(ends(11), 0)


def test_a_group_without_members_is_left_alone_until_something_happens_to_it() -> None:
    left = group("m")
    behind = row(left, 3, 0, 10)
    left.members = {}
    behind.observe(left, 1000)
    assert behind.may_move(ends(10), 1001)
    behind.take({KEY: KeptState(start_offset=4, done_count=0)})
    # A lock of the member that is gone may still run out.
    assert behind.may_move(ends(10), 1000 + SETTLING_MS - 1)
    assert not behind.may_move(ends(11), 1000 + SETTLING_MS)
    left.epoch += 1  # by whoever sets its place
    behind.observe(left, 10 * SETTLING_MS)
    assert behind.may_move(ends(11), 10 * SETTLING_MS)


def test_what_nobody_answered_for_is_asked_again_and_stays_as_it_was() -> None:
    left = group()
    behind = row(left, 3, 0, 10)
    left.epoch += 1
    behind.observe(left, 0)
    behind.take({})
    assert behind.rows[PLACE].committed == 3
    assert behind.may_move(ends(10), 10 * SETTLING_MS)


def test_partitions_without_a_beginning_and_without_state_are_not_told() -> None:
    read = group("m")
    found = row(read, 3, 0, 10)
    found.take({KEY: KeptState()})
    assert not found.rows
    found.take({KEY: KeptState(start_offset=0, done_count=0)})
    read.state_topics = StateTopics()
    found.observe(read, 0)
    found.take({})
    assert not found.rows
