"""Which brokers were heard of, when, and how far each has followed the metadata log.

Owns soft state: nothing of it is written, and a controller that takes over begins it anew. Knows
nothing of what follows from silence; that is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

UNKNOWN_OFFSET = -1


class _Session:
    __slots__ = ("contact_ms", "offset", "shutdown_offset")

    def __init__(self, contact_ms: int) -> None:
        self.contact_ms = contact_ms
        self.offset = UNKNOWN_OFFSET
        """The last metadata offset the broker says it has applied."""
        self.shutdown_offset: int | None = None
        """Everybody has to reach this before the broker may go."""


class BrokerSessions:
    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._sessions: dict[int, _Session] = {}
        self._registered_at: dict[int, int] = {}
        self._registered_before = UNKNOWN_OFFSET

    def begin(self, broker_id: int, now_ms: int) -> None:
        """In place of an earlier session: a new life has seen nothing yet."""
        self._sessions[broker_id] = _Session(now_ms)

    def begin_all(self, broker_ids: Iterable[int], now_ms: int, next_offset: int) -> None:
        """At a change of controllers nobody is to blame for what was said to the last one.

        Where in the log a broker registered is not told by the image: whoever has seen all that
        there is has seen that too.
        """
        self._registered_before = next_offset - 1
        for broker_id in broker_ids:
            self.begin(broker_id, now_ms)

    def end(self, broker_id: int) -> None:
        self._sessions.pop(broker_id, None)

    def forget(self, broker_id: int) -> None:
        self.end(broker_id)
        self._registered_at.pop(broker_id, None)

    def note_registered(self, broker_id: int, offset: int) -> None:
        self._registered_at[broker_id] = offset

    def note_contact(self, broker_id: int, now_ms: int) -> None:
        session = self._sessions.get(broker_id)
        if session is None:
            self.begin(broker_id, now_ms)
        else:
            session.contact_ms = max(session.contact_ms, now_ms)

    def note_offset(self, broker_id: int, offset: int) -> None:
        session = self._sessions.get(broker_id)
        if session is not None:
            session.offset = offset

    def note_shutdown(self, broker_id: int, offset: int) -> None:
        session = self._sessions.get(broker_id)
        if session is not None and session.shutdown_offset is None:
            session.shutdown_offset = offset

    def is_live(self, broker_id: int, now_ms: int) -> bool:
        session = self._sessions.get(broker_id)
        return session is not None and not self._is_silent(session, now_ms)

    def is_caught_up(self, broker_id: int, offset: int) -> bool:
        """It has seen its own registration. The log's end it would chase for ever (KAFKA-13959)."""
        return offset >= self._registered_at.get(broker_id, self._registered_before)

    def may_shut_down(self, broker_id: int, others: Iterable[int]) -> bool:
        """Whether `others` know that the broker leads nothing any more."""
        session = self._sessions.get(broker_id)
        if session is None or session.shutdown_offset is None:
            return False
        offset = session.shutdown_offset
        known = (self._sessions.get(one) for one in others)
        return all(one is None or one.offset >= offset for one in known)

    def silent_longest(self, broker_ids: Iterable[int], now_ms: int) -> int | None:
        """One whose session is over. One at a time: who falls next depends on what that changes."""
        silent = [
            (session.contact_ms, one)
            for one in broker_ids
            if (session := self._sessions.get(one)) is not None and self._is_silent(session, now_ms)
        ]
        return min(silent)[1] if silent else None

    def _is_silent(self, session: _Session, now_ms: int) -> bool:
        return session.contact_ms + self._timeout_ms < now_ms

    def next_end_ms(self, broker_ids: Iterable[int]) -> int | None:
        """When the first of these sessions is over, if nothing is heard."""
        ends = (
            session.contact_ms + self._timeout_ms + 1
            for one in broker_ids
            if (session := self._sessions.get(one)) is not None
        )
        return min(ends, default=None)
