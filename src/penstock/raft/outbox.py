"""Requests on their way: one at a time per kind and node, with a timeout, and a pause after
failures.

Owns request ids. An answer to a request that is no longer on its way is an answer to nobody: so a
late one, from before a change of role, never takes effect.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.raft.config import RaftConfig
from penstock.raft.message import RaftRequest
from penstock.raft.ready import SendRequest
from penstock.raft.voter import Node

Lane = tuple[str, int]
"""What for, and to whom; fetches share one lane whomever they go to."""

FETCH_LANE: Lane = ("fetch", -1)


class InFlight(NamedTuple):
    lane: Lane
    node: Node
    request: RaftRequest
    deadline_ms: int


class Outbox:
    def __init__(self, config: RaftConfig) -> None:
        self._timeout_ms = config.request_timeout_ms
        self._backoff_ms = config.retry_backoff_ms
        self._last_id = 0
        self._in_flight: dict[int, InFlight] = {}
        self._busy: dict[Lane, int] = {}
        self._backoff: dict[Lane, int] = {}
        self._to_send: list[SendRequest] = []

    def is_free(self, lane: Lane, now_ms: int) -> bool:
        return lane not in self._busy and self._backoff.get(lane, now_ms) <= now_ms

    def send(self, lane: Lane, node: Node, request: RaftRequest, now_ms: int) -> int:
        """Also on a lane that is not free, where somebody cannot wait; the later one counts."""
        self._last_id += 1
        self._in_flight[self._last_id] = InFlight(lane, node, request, now_ms + self._timeout_ms)
        self._busy[lane] = self._last_id
        self._backoff.pop(lane, None)
        self._to_send.append(SendRequest(self._last_id, node, request))
        return self._last_id

    def finish(self, request_id: int) -> InFlight | None:
        done = self._in_flight.pop(request_id, None)
        if done is not None and self._busy.get(done.lane) == request_id:
            del self._busy[done.lane]
        return done

    def back_off(self, lane: Lane, now_ms: int, pause_ms: int | None = None) -> None:
        self._backoff[lane] = now_ms + (self._backoff_ms if pause_ms is None else pause_ms)

    def expired(self, now_ms: int) -> list[int]:
        return [one for one, sent in self._in_flight.items() if sent.deadline_ms <= now_ms]

    def reset(self) -> None:
        """A change of role or epoch: whatever was asked before is not asked any more."""
        self._in_flight.clear()
        self._busy.clear()
        self._backoff.clear()
        self._to_send.clear()

    def take(self) -> tuple[SendRequest, ...]:
        taken = tuple(self._to_send)
        self._to_send.clear()
        return taken

    def deadlines(self, now_ms: int) -> list[int]:
        pauses = [at for at in self._backoff.values() if at > now_ms]
        return [sent.deadline_ms for sent in self._in_flight.values()] + pauses
