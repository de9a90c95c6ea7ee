"""How a group of either kind stands, in a few figures: for metrics."""

from __future__ import annotations

from typing import NamedTuple

from penstock.group.classic.view import CLASSIC_TYPE
from penstock.group.consumer.group import ConsumerGroup
from penstock.group.consumer.view import CONSUMER_TYPE
from penstock.group.kind import AnyGroup


class GroupView(NamedTuple):
    protocol: str
    state: str
    members: int
    rebalances: int
    """Since the group began: generations of a classic group, epochs of a consumer group."""


def view_of(group: AnyGroup) -> GroupView:
    if isinstance(group, ConsumerGroup):
        return GroupView(CONSUMER_TYPE, group.state.value, len(group.members), group.epoch)
    return GroupView(CLASSIC_TYPE, group.state.value, len(group.members), group.generation)
