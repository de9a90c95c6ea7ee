"""Puts on record what a handler does, without its knowing.

Requests of clients, where the client is connected: what another node sends on is on record there,
and what nodes ask each other is nobody's doing.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any

from penstock.audit import access, change
from penstock.audit.entry import LISTENER, Access, Entry, Read
from penstock.audit.line import Who
from penstock.audit.trail import Trail
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call, ClientState
from penstock.handlers.table import Handler
from penstock.model.error import ApiError, StorageError, code_of
from penstock.network.later import Later
from penstock.protocol.frame import API_BY_KEY

API_VERSIONS = 18
_UNWATCHED = frozenset({12, 13, 14, 17, 25, 36, 71, 72})
"""Heartbeats and the like, of members that are on record by their joining; subscriptions to
metrics; SASL, whose outcome is noted where it is known."""

Note = Callable[[Any], None]


def audited(handle: Handler, api_key: int, trail: Trail) -> Handler:
    if api_key in _UNWATCHED:
        return handle
    watch = change.BY_API.get(api_key) or access.BY_API.get(api_key) or access.of_anything
    api = API_BY_KEY[api_key].name

    def handle_and_note(broker: Broker, request: Any, call: Call) -> Answer:
        client = call.client
        if client.is_forwarded or client.listener in broker.controller_listeners:
            return handle(broker, request, call)
        read = _connected(client) if api_key == API_VERSIONS else watch(request, broker.image)
        if read is None:
            return handle(broker, request, call)
        note = _noting(trail, who_of(client), api, read, broker.clock.now_ms)
        try:
            answer = handle(broker, request, call)
        except (ApiError, StorageError) as error:
            note(code_of(error))
            raise
        if type(answer) is Later:
            return answer.map(_passing(note))
        if type(answer) is CoroutineType:
            return _settled(answer, note)
        note(answer)
        return answer

    return handle_and_note


def who_of(client: ClientState) -> Who:
    return Who(str(client.principal), client.client_id, client.host.lstrip("/"), client.listener)


def _connected(client: ClientState) -> Read:
    """Whoever connects asks this first."""
    entries: tuple[Entry, ...] = (Access("CONNECT", LISTENER, client.listener),)
    return lambda answer: entries


def _noting(trail: Trail, who: Who, api: str, read: Read, now_ms: Callable[[], int]) -> Note:
    return lambda answer: trail.note(who, api, read(answer), now_ms())


def _passing(note: Note) -> Callable[[Any], Any]:
    def passed(answer: Any) -> Any:
        note(answer)
        return answer

    return passed


async def _settled(waiting: Coroutine[Any, Any, Any], note: Note) -> Any:
    try:
        answer = await waiting
    except (ApiError, StorageError) as error:
        note(code_of(error))
        raise
    note(answer)
    return answer
