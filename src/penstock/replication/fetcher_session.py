"""The fetch session with one leader, from the follower's side (KIP-227).

Knows what is wanted of each partition and what the leader was last told, so that a request names
only what changed, and costs only that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from penstock.protocol.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic
from penstock.replication.follower import FetchFrom

Key = tuple[bytes, int]
"""Topic id and partition."""

NO_SESSION = 0
INITIAL_EPOCH = 0
_EPOCH_MAX = 0x7FFFFFFF
NAMED_FIRST_MAX = 100
"""By the request that begins a session: its answer is about all of them at once."""
NAMED_MAX = 2_500
"""Partitions that one request names, so that neither side is busy for long; the next names more."""


class FetcherSession:
    __slots__ = ("_changed", "_partition_max_bytes", "_told", "_wanted", "epoch", "id")

    def __init__(self, partition_max_bytes: int) -> None:
        self._partition_max_bytes = partition_max_bytes
        self._wanted: dict[Key, FetchFrom] = {}
        self._told: dict[Key, FetchFrom] = {}
        # Wanted otherwise than told, perhaps.
        self._changed: dict[Key, None] = {}
        self.id = NO_SESSION
        self.epoch = INITIAL_EPOCH

    def reset(self) -> None:
        """After an error: the leader is told everything again."""
        # Whoever the leader has not been told of comes first: it may take no session at all.
        self._changed = dict.fromkeys(key for key in self._wanted if key not in self._told)
        self._changed.update(dict.fromkeys(self._wanted))
        self._told = {}
        self.id, self.epoch = NO_SESSION, INITIAL_EPOCH

    @property
    def has_more(self) -> bool:
        """Whether the last request could not name everything."""
        return bool(self._changed)

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to fetch."""
        return bool(self._wanted)

    def wanted(self, key: Key) -> FetchFrom | None:
        return self._wanted.get(key)

    def want(self, key: Key, asked: FetchFrom | None) -> None:
        """None: not any more, or not now."""
        if asked is None:
            self._wanted.pop(key, None)
        else:
            self._wanted[key] = asked
        self._changed[key] = None

    def tell(self) -> tuple[list[FetchTopic], list[ForgottenTopic]]:
        """What a request has to name so that the leader knows of all that is wanted."""
        told, wanted = self._told, self._wanted
        changed: list[Key] = []
        forgotten: list[Key] = []
        count = NAMED_FIRST_MAX if self.epoch == INITIAL_EPOCH else NAMED_MAX
        for key in list(islice(self._changed, count)):
            del self._changed[key]
            asked = wanted.get(key)
            if asked is not None:
                if told.get(key) != asked:
                    told[key] = asked
                    changed.append(key)
            elif told.pop(key, None) is not None:
                forgotten.append(key)
        return self._named(changed, wanted), _forgotten(forgotten)

    def on_answer(self, session_id: int) -> None:
        """Without a session of its own the leader is told everything each time."""
        if session_id == NO_SESSION:
            self.reset()
        elif self.epoch == INITIAL_EPOCH:
            self.id, self.epoch = session_id, 1
        else:
            self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    def _named(self, keys: Iterable[Key], wanted: Mapping[Key, FetchFrom]) -> list[FetchTopic]:
        topics: dict[bytes, FetchTopic] = {}
        for key in keys:
            topic_id, index = key
            topic = topics.get(topic_id)
            if topic is None:
                topic = topics[topic_id] = FetchTopic(topic_id=topic_id)
            offset, last_epoch, leader_epoch, log_start_offset = wanted[key]
            topic.partitions.append(
                FetchPartition(
                    partition=index,
                    current_leader_epoch=leader_epoch,
                    fetch_offset=offset,
                    last_fetched_epoch=last_epoch,
                    log_start_offset=log_start_offset,
                    partition_max_bytes=self._partition_max_bytes,
                )
            )
        return list(topics.values())


def _forgotten(keys: Iterable[Key]) -> list[ForgottenTopic]:
    topics: dict[bytes, ForgottenTopic] = {}
    for topic_id, index in keys:
        topic = topics.get(topic_id)
        if topic is None:
            topic = topics[topic_id] = ForgottenTopic(topic_id=topic_id)
        topic.partitions.append(index)
    return list(topics.values())
