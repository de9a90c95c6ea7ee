"""The fetch sessions of a broker: found, begun and ended as requests ask for it (KIP-227)."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from penstock.handlers.fetch_session import NO_SESSION, FetchSession
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.fetch import FetchRequest

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
EVICTABLE_AFTER_S = 120.0
TOPIC_IDS_FROM = 13
_EPOCH_MAX = 0x7FFFFFFF


class FetchContext(NamedTuple):
    """What one fetch request covers. `is_full`: every partition is answered, changed or not."""

    session: FetchSession
    is_full: bool


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
        session.epoch = 1 if session.epoch == _EPOCH_MAX else session.epoch + 1
        session.used_at = now_s
        self._sessions.move_to_end(session.id)
        session.update(request)
        if not session.targets:
            self._end(session.id)
            return FetchContext(FetchSession(NO_SESSION, False, now_s), is_full=True)
        return FetchContext(session, is_full=False)

    def _begin_full(self, request: FetchRequest, version: int, now_s: float) -> FetchContext:
        if request.session_id != NO_SESSION:
            self._end(request.session_id)
        session = FetchSession(NO_SESSION, version >= TOPIC_IDS_FROM, now_s)
        session.update(request)
        if request.session_epoch == INITIAL_EPOCH and session.targets:
            self._keep(session, now_s)
        return FetchContext(session, is_full=True)

    def end(self, session: FetchSession) -> None:
        """Its client is told of none."""
        self._end(session.id)
        session.id = NO_SESSION

    def _find(self, request: FetchRequest, version: int) -> FetchSession:
        session = self._sessions.get(request.session_id)
        if session is None:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.uses_topic_ids != (version >= TOPIC_IDS_FROM):
            raise ApiError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        if session.epoch != request.session_epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        return session

    def _keep(self, session: FetchSession, now_s: float) -> None:
        """Under an id of its own, if there is room."""
        if len(self._sessions) >= self._slots_max:
            oldest = next(iter(self._sessions.values()), None)
            if oldest is None or now_s - oldest.used_at < EVICTABLE_AFTER_S:
                return
            self._end(oldest.id)
        while self._next_id in self._sessions:
            self._next_id += 1
        session.id = self._next_id
        self._next_id = 1 if self._next_id >= _EPOCH_MAX - 1 else self._next_id + 1
        self._sessions[session.id] = session

    def _end(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.close()
