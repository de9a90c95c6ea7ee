"""One partition as one group reads it."""

from __future__ import annotations

from typing import NamedTuple

from penstock.model.id import TopicId, id_from_str, id_to_str


class ShareKey(NamedTuple):
    group_id: str
    topic_id: TopicId
    partition: int

    @property
    def name(self) -> str:
        """By which its coordinator is found."""
        return f"{self.group_id}:{id_to_str(self.topic_id)}:{self.partition}"


def key_of_name(name: str) -> ShareKey | None:
    """None for what is no such name. A group's own may hold colons."""
    group_id, _, rest = name.rpartition(":")
    group_id, _, topic_id = group_id.rpartition(":")
    if not group_id or not rest.isascii() or not rest.isdecimal():
        return None
    try:
        return ShareKey(group_id, id_from_str(topic_id), int(rest))
    except ValueError:
        return None
