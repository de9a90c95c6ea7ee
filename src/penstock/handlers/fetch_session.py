"""What one fetch session covers, and which of its partitions the next fetch has to look at.

A client names its partitions once, then only changes (KIP-227). A partition is looked at when a
request named it, or when it had news since; the others rest, and cost a fetch nothing, however
many they are. A fetch without a session has one of its own that ends with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock.protocol.messages.fetch import FetchRequest
from penstock.replication.partition import Partition

if TYPE_CHECKING:
    from penstock.security.access import Access

NO_SESSION = 0

TargetKey = tuple[str | bytes, int]


class Replica(NamedTuple):
    """A broker that fetches as a follower."""

    broker_id: int
    broker_epoch: int


class WaitingFetch(Protocol):
    def wake(self) -> None:
        """One of the session's partitions has news."""
        ...


class FetchTarget:
    """One partition of a fetch, and what the session's client was last told about it."""

    __slots__ = (
        "_session",
        "current_leader_epoch",
        "index",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "offset",
        "partition",
        "told_high_watermark",
        "told_log_start_offset",
        "topic",
        "topic_id",
        "watched",
    )

    def __init__(self, session: FetchSession, topic: str, topic_id: bytes, index: int) -> None:
        self._session = session
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.offset = 0
        self.max_bytes = 0
        self.current_leader_epoch = -1
        self.last_fetched_epoch = -1
        self.log_start_offset = -1
        self.told_high_watermark = -1
        self.told_log_start_offset = -1
        self.partition: Partition | None = None
        """As the last look found it."""
        self.watched: Partition | None = None

    def watch(self) -> None:
        """Hear of the next news; nothing if that is so already."""
        partition = self.partition
        if partition is None or self.watched is partition:
            return
        self.unwatch()
        self.watched = partition
        if self._session.replica is None:
            partition.watch(self)
        else:
            partition.watch_appends(self)

    def unwatch(self) -> None:
        if self.watched is not None:
            self.watched.unwatch(self)
            self.watched = None

    def on_news(self, partition: Partition) -> None:
        self.watched = None
        self._session.on_news(self)


class FetchSession:
    __slots__ = (
        "_access",
        "_waiting",
        "epoch",
        "fetched_ms",
        "id",
        "replica",
        "stirred",
        "targets",
        "used_at",
        "uses_topic_ids",
    )

    def __init__(self, session_id: int, uses_topic_ids: bool, used_at: float) -> None:
        self.id = session_id
        self.epoch = 1
        self.uses_topic_ids = uses_topic_ids
        self.used_at = used_at
        self.targets: dict[TargetKey, FetchTarget] = {}
        self.stirred: dict[FetchTarget, None] = {}
        """To be looked at, in turn: who gave data goes behind those who have not yet. Every other
        target is watched."""
        self.replica: Replica | None = None
        self.fetched_ms = 0
        """When a follower last fetched: that counts for the partitions that rest, too."""
        self._waiting: dict[WaitingFetch, None] = {}
        self._access: tuple[Access, int] | None = None
        """Whose fetch it was, and which entries were in force."""

    @property
    def is_kept(self) -> bool:
        """Whether it outlives the fetch."""
        return self.id != NO_SESSION

    # Its partitions

    def update(self, request: FetchRequest) -> None:
        for topic in request.topics:
            name: str | bytes = topic.topic or topic.topic_id
            for asked in topic.partitions:
                key = (name, asked.partition)
                target = self.targets.get(key)
                if target is None:
                    target = FetchTarget(self, topic.topic, topic.topic_id, asked.partition)
                    self.targets[key] = target
                elif (
                    asked.fetch_offset < target.offset
                    or asked.current_leader_epoch != target.current_leader_epoch
                    or asked.last_fetched_epoch < target.last_fetched_epoch
                ):
                    # A follower that has cut its log, or hears of another leader epoch, had no use
                    # for what it was told: the watermark of an answer counts only for the log it
                    # was for.
                    target.told_high_watermark = target.told_log_start_offset = -1
                target.offset = asked.fetch_offset
                target.max_bytes = asked.partition_max_bytes
                target.current_leader_epoch = asked.current_leader_epoch
                target.last_fetched_epoch = asked.last_fetched_epoch
                target.log_start_offset = asked.log_start_offset
                self._stir(target)
        for forgotten in request.forgotten_topics_data:
            self._forget(forgotten.topic or forgotten.topic_id, forgotten.partitions)

    def _forget(self, topic: str | bytes, partitions: Iterable[int]) -> None:
        for index in partitions:
            target = self.targets.pop((topic, index), None)
            if target is not None:
                self._stir(target)
                target.unwatch()
                del self.stirred[target]

    def fetch_as(self, replica: Replica | None, now_ms: int) -> None:
        """Who fetches. Another one than before has to be asked about everything."""
        if replica != self.replica:
            self.stir_all()
            for target in self.targets.values():
                target.unwatch()
            self.replica = replica
        self.fetched_ms = now_ms

    def fetch_with(self, access: Access) -> None:
        """Who may read something else than at the last fetch has to be asked about everything."""
        if self._access != (access, access.version):
            self._access = (access, access.version)
            self.stir_all()

    def rest(self, target: FetchTarget) -> None:
        """Its client has everything there is, and was told so: not looked at before it has news."""
        target.watch()
        del self.stirred[target]

    def stir_all(self) -> None:
        for target in self.targets.values():
            self._stir(target)

    def _stir(self, target: FetchTarget) -> None:
        if target in self.stirred:
            return
        self.stirred[target] = None
        if self.replica is not None and target.partition is not None:
            target.partition.on_idle_fetches(self.replica.broker_id, self.fetched_ms)

    def move_to_end(self, target: FetchTarget) -> None:
        self.stirred.pop(target, None)
        self.stirred[target] = None

    # Waiting

    def on_news(self, target: FetchTarget) -> None:
        self._stir(target)
        for fetch in self._waiting:
            fetch.wake()

    def begin_wait(self, fetch: WaitingFetch) -> None:
        self._waiting[fetch] = None
        self.watch_stirred()

    def watch_stirred(self) -> None:
        """While somebody waits, also news of those that are to be looked at count."""
        for target in self.stirred:
            target.watch()

    def end_wait(self, fetch: WaitingFetch) -> None:
        self._waiting.pop(fetch, None)
        if not self.is_kept:
            self.close()

    def close(self) -> None:
        """No fetch comes any more."""
        self.stir_all()
        for target in self.targets.values():
            target.unwatch()
