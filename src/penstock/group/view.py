"""How a group of any kind stands, in a few words: for metrics and lists."""

from __future__ import annotations

from typing import NamedTuple

from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.view import CLASSIC_TYPE
from penstock.group.consumer.group import ConsumerGroup
from penstock.group.consumer.view import CONSUMER_TYPE
from penstock.group.kind import AnyGroup
from penstock.group.share.group import ShareGroup
from penstock.group.share.view import SHARE_TYPE
from penstock.group.streams.group import StreamsGroup
from penstock.protocol.messages.list_groups import ListedGroup

STREAMS_TYPE = "streams"


class GroupView(NamedTuple):
    protocol: str
    state: str
    members: int
    rebalances: int
    """Since the group began: generations of a classic group, epochs of another."""


def view_of(group: AnyGroup | ShareGroup) -> GroupView:
    if not isinstance(group, ClassicGroup):
        return GroupView(type_of(group), group.state.value, len(group.members), group.epoch)
    return GroupView(CLASSIC_TYPE, group.state.value, len(group.members), group.generation)


def type_of(group: ConsumerGroup | StreamsGroup | ShareGroup) -> str:
    if isinstance(group, ShareGroup):
        return SHARE_TYPE
    return CONSUMER_TYPE if isinstance(group, ConsumerGroup) else STREAMS_TYPE


def listed_modern(group: ConsumerGroup | StreamsGroup) -> ListedGroup:
    """Of a group whose protocol is its type."""
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=type_of(group),
        group_state=group.state.value,
        group_type=type_of(group),
    )
