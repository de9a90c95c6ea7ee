"""The groups of a shard, of whichever kind: what offsets and admins ask of them.

Share groups are told of only to who asks for them too: they have no offsets of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.group.classic.group import ClassicGroup
from penstock.group.classic.group_set import ClassicGroups
from penstock.group.consumer.group import ConsumerGroup, ConsumerGroups
from penstock.group.consumer.record import group_tombstones
from penstock.group.record import GroupRecord, group_tombstone
from penstock.group.share.group import ShareGroup, ShareGroups
from penstock.group.share.record import group_tombstones as share_tombstones
from penstock.group.streams.group import StreamsGroup, StreamsGroups

AnyGroup = ClassicGroup | ConsumerGroup | StreamsGroup


class Groups:
    __slots__ = ("_classic", "_consumer", "_streams", "share")

    def __init__(
        self,
        classic: ClassicGroups,
        consumer: ConsumerGroups,
        streams: StreamsGroups,
        share: ShareGroups,
    ) -> None:
        self._classic = classic
        self._consumer = consumer
        self._streams = streams
        self.share = share

    def find(self, group_id: str) -> AnyGroup | None:
        return (
            self._consumer.find(group_id)
            or self._streams.find(group_id)
            or self._classic.find(group_id)
        )

    def ids(self) -> list[str]:
        return list(
            dict.fromkeys([*self._classic.ids(), *self._consumer.ids(), *self._streams.ids()])
        )

    def __iter__(self) -> Iterator[AnyGroup]:
        for group_id in self.ids():
            group = self.find(group_id)
            if group is not None:
                yield group


def tombstones_of(group: AnyGroup | ShareGroup) -> list[GroupRecord]:
    """Of a group without members."""
    if isinstance(group, ShareGroup):
        return share_tombstones(group.group_id)
    if isinstance(group, ConsumerGroup):
        return group_tombstones(group.group_id)
    if isinstance(group, StreamsGroup):
        from penstock.group.streams.record import group_tombstones as streams_tombstones

        return streams_tombstones(group.group_id)
    return [group_tombstone(group.group_id)]
