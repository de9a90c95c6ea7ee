"""What a consumer group needs to know of the cluster's topics.

Owns the view's shape and the fingerprint of the topics a group reads. The topics themselves are
metadata, which a shard only looks at.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple, Protocol

from penstock.model.id import TopicId


class Topic(NamedTuple):
    topic_id: TopicId
    partition_count: int


class TopicView(Protocol):
    """Read-only; it shows the newest metadata this node has."""

    @property
    def version(self) -> int:
        """Grows with every change of the metadata."""
        ...

    def get(self, name: str) -> Topic | None: ...

    def name_of(self, topic_id: TopicId) -> str | None: ...

    def names(self) -> Iterable[str]: ...


class FixedTopics:
    """A view that somebody fills in: for shards without metadata, and for tests."""

    def __init__(self, topics: dict[str, Topic] | None = None) -> None:
        self.topics = {} if topics is None else topics
        self.version = 0

    def get(self, name: str) -> Topic | None:
        return self.topics.get(name)

    def name_of(self, topic_id: TopicId) -> str | None:
        return next((name for name, one in self.topics.items() if one.topic_id == topic_id), None)

    def names(self) -> Iterable[str]:
        return list(self.topics)


def metadata_hash(view: TopicView, names: Iterable[str]) -> int:
    """Changes when one of the topics is created, deleted or gets partitions. Names that are no
    topics do not count; without any topic it is zero."""
    digest = blake2b(digest_size=8)
    found = False
    for name in sorted(names):
        topic = view.get(name)
        if topic is not None:
            found = True
            digest.update(b"%d:%s" % (len(name), name.encode()))
            digest.update(topic.topic_id + topic.partition_count.to_bytes(4, "big"))
    return int.from_bytes(digest.digest(), "big", signed=True) if found else 0
