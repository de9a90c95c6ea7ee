"""Incremental fetch sessions (KIP-227): a consumer names its partitions once, then only changes.

Pure bookkeeping: which partitions a fetch covers, and which of them the answer must mention.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.fetch import FetchRequest

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
NO_SESSION = 0
EVICTABLE_AFTER_S = 120.0
TOPIC_IDS_FROM = 13

TargetKey = tuple[str | bytes, int]


class FetchTarget:
    """One partition of a fetch, and what the session's client was last told about it."""

    __slots__ = (
        "current_leader_epoch",
        "index",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "offset",
        "told_high_watermark",
        "told_log_start_offset",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, topic_id: bytes, index: int) -> None:
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

    @property
    def key(self) -> TargetKey:
        return (self.topic or self.topic_id, self.index)


class FetchSession:
    __slots__ = ("epoch", "id", "targets", "used_at", "uses_topic_ids")

    def __init__(self, session_id: int, uses_topic_ids: bool, used_at: float) -> None:
        self.id = session_id
        self.epoch = 1
        self.uses_topic_ids = uses_topic_ids
        self.targets: dict[TargetKey, FetchTarget] = {}
        self.used_at = used_at

    def move_to_end(self, target: FetchTarget) -> None:
        """Partitions take turns: who gave data goes behind those who have not yet."""
        key = target.key
        if key in self.targets:
            self.targets[key] = self.targets.pop(key)


class FetchContext:
    """What one fetch request covers. `is_full`: every partition is answered, changed or not."""

    __slots__ = ("is_full", "session", "targets")

    def __init__(
        self, targets: list[FetchTarget], session: FetchSession | None, is_full: bool
    ) -> None:
        self.targets = targets
        self.session = session
        self.is_full = is_full

    @property
    def session_id(self) -> int:
        return self.session.id if self.session is not None else NO_SESSION


class FetchSessions:
    """`first_id` is to be drawn anew at every start: a client that still holds a session of the
    broker's last life must not meet somebody else's."""

    def __init__(self, slots_max: int, first_id: int = 1) -> None:
        self._slots_max = slots_max
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()
        self._next_id = first_id

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, request: FetchRequest, version: int, now_s: float) -> FetchContext:
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            return self._begin_full(request, version, now_s)
        session = self._find(request, version)
        session.epoch = 1 if session.epoch == 0x7FFFFFFF else session.epoch + 1
        session.used_at = now_s
        self._sessions.move_to_end(session.id)
        _update(session.targets, request)
        if not session.targets:
            del self._sessions[session.id]
            return FetchContext([], None, is_full=True)
        return FetchContext(list(session.targets.values()), session, is_full=False)

    def _begin_full(self, request: FetchRequest, version: int, now_s: float) -> FetchContext:
        if request.session_id != NO_SESSION:
            self._sessions.pop(request.session_id, None)
        targets: dict[TargetKey, FetchTarget] = {}
        _update(targets, request)
        session = None
        if request.session_epoch == INITIAL_EPOCH and targets:
            session = self._open(version >= TOPIC_IDS_FROM, now_s)
            if session is not None:
                session.targets = targets
        return FetchContext(list(targets.values()), session, is_full=True)

    def _find(self, request: FetchRequest, version: int) -> FetchSession:
        session = self._sessions.get(request.session_id)
        if session is None:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.uses_topic_ids != (version >= TOPIC_IDS_FROM):
            raise ApiError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        if session.epoch != request.session_epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        return session

    def _open(self, uses_topic_ids: bool, now_s: float) -> FetchSession | None:
        if len(self._sessions) >= self._slots_max:
            oldest = next(iter(self._sessions.values()), None)
            if oldest is None or now_s - oldest.used_at < EVICTABLE_AFTER_S:
                return None
            del self._sessions[oldest.id]
        while self._next_id in self._sessions:
            self._next_id += 1
        session = FetchSession(self._next_id, uses_topic_ids, now_s)
        self._next_id = 1 if self._next_id >= 0x7FFFFFFE else self._next_id + 1
        self._sessions[session.id] = session
        return session


def _update(targets: dict[TargetKey, FetchTarget], request: FetchRequest) -> None:
    for topic in request.topics:
        name: str | bytes = topic.topic or topic.topic_id
        for asked in topic.partitions:
            key = (name, asked.partition)
            target = targets.get(key)
            if target is None:
                target = FetchTarget(topic.topic, topic.topic_id, asked.partition)
                targets[key] = target
            elif (
                asked.fetch_offset < target.offset
                or asked.current_leader_epoch != target.current_leader_epoch
                or asked.last_fetched_epoch < target.last_fetched_epoch
            ):
                # A follower that has cut its log, or hears of another leader epoch, had no use for
                # what it was told: the watermark of an answer counts only for the log it was for.
                target.told_high_watermark = target.told_log_start_offset = -1
            target.offset = asked.fetch_offset
            target.max_bytes = asked.partition_max_bytes
            target.current_leader_epoch = asked.current_leader_epoch
            target.last_fetched_epoch = asked.last_fetched_epoch
            target.log_start_offset = asked.log_start_offset
    for forgotten in request.forgotten_topics_data:
        _forget(targets, forgotten.topic or forgotten.topic_id, forgotten.partitions)


def _forget(
    targets: dict[TargetKey, FetchTarget], topic: str | bytes, partitions: Iterable[int]
) -> None:
    for index in partitions:
        targets.pop((topic, index), None)
