"""The fetch session with one leader, from the follower's side (KIP-227).

Knows what the leader was last told of each partition, so that a request names only what changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.protocol.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic
from penstock.replication.follower import FetchFrom

Key = tuple[bytes, int]
"""Topic id and partition."""

NO_SESSION = 0
INITIAL_EPOCH = 0
_EPOCH_MAX = 0x7FFFFFFF


class FetcherSession:
    __slots__ = ("_partition_max_bytes", "_told", "epoch", "id")

    def __init__(self, partition_max_bytes: int) -> None:
        self._partition_max_bytes = partition_max_bytes
        self._told: dict[Key, FetchFrom] = {}
        self.id = NO_SESSION
        self.epoch = INITIAL_EPOCH

    def reset(self) -> None:
        """After an error: the leader is told everything again."""
        self._told = {}
        self.id, self.epoch = NO_SESSION, INITIAL_EPOCH

    def tell(
        self, wanted: Mapping[Key, FetchFrom]
    ) -> tuple[list[FetchTopic], list[ForgottenTopic]]:
        """What a request has to name so that the leader knows of all that is wanted."""
        told = self._told
        if self.epoch == INITIAL_EPOCH:
            told.clear()
        changed = [key for key, asked in wanted.items() if told.get(key) != asked]
        forgotten = [key for key in told if key not in wanted] if len(told) > 0 else []
        for key in forgotten:
            del told[key]
        for key in changed:
            told[key] = wanted[key]
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
