"""Keeps what was done until it is written.

Accesses are summed by who, what and outcome; logins and changes are lines at once. Whoever takes
them does so every second or so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from penstock.audit.backlog import Backlog
from penstock.audit.entry import Access, Change, Entry, error_name, outcome
from penstock.audit.line import Who, at, line

SUMS_MAX: Final = 20_000
"""Who does more different things in one interval has the sums written before its end."""

Key = tuple[Who, str, str, str, int]


class Trail:
    def __init__(self, cluster_id: str, node_id: int, now_ms: int) -> None:
        self._node = {"cluster": cluster_id, "node": node_id}
        self._sums: dict[Key, list[int]] = {}
        self._since_ms = now_ms
        self._waiting = Backlog()

    @property
    def lost(self) -> int:
        return self._waiting.lost

    def note(self, who: Who, api: str, entries: Iterable[Entry], now_ms: int) -> None:
        for entry in entries:
            if isinstance(entry, Access):
                self._add(who, entry, now_ms)
            else:
                self._change(who, api, entry, now_ms)

    def note_login(self, who: Who, mechanism: str, error: int, now_ms: int) -> None:
        self._put(
            "login",
            now_ms,
            who,
            mechanism=mechanism,
            outcome=outcome(error),
            error=error_name(error),
        )

    def _add(self, who: Who, access: Access, now_ms: int) -> None:
        key = (who, *access[:4])
        sums = self._sums.get(key)
        if sums is None:
            if len(self._sums) >= SUMS_MAX:
                self.sum_up(now_ms)
            self._sums[key] = [1, access.records, access.bytes]
        else:
            sums[0] += 1
            sums[1] += access.records
            sums[2] += access.bytes

    def _change(self, who: Who, api: str, change: Change, now_ms: int) -> None:
        self._put(
            "change",
            now_ms,
            who,
            api=api,
            operation=change.operation,
            resource_type=change.resource_type,
            resource=change.resource,
            outcome=outcome(change.error),
            error=error_name(change.error),
            before=change.before,
            after=change.after,
        )

    def sum_up(self, now_ms: int) -> None:
        """Make lines of the sums: an interval has ended."""
        sums, self._sums = self._sums, {}
        since_ms, self._since_ms = self._since_ms, now_ms
        for (who, operation, resource_type, resource, error), counted in sums.items():
            requests, records, size = counted
            self._put(
                "access",
                now_ms,
                who,
                since=at(since_ms),
                operation=operation,
                resource_type=resource_type,
                resource=resource,
                outcome=outcome(error),
                error=error_name(error),
                requests=requests,
                records=records,
                bytes=size,
            )

    def take(self) -> list[bytes]:
        """The lines that wait; they are the caller's now."""
        return self._waiting.take()

    def _put(self, kind: str, now_ms: int, who: Who, **rest: Any) -> None:
        self._waiting.put(line(kind, now_ms, self._node, who, **rest))
