"""A member as an assignor sees it."""

from __future__ import annotations

from typing import NamedTuple

from penstock.group.consumer.member import Partitions
from penstock.model.id import TopicId


class Subject(NamedTuple):
    topic_ids: frozenset[TopicId]
    target: Partitions
    """What it was to have until now."""
    instance_id: str | None = None
