"""Which guard stands before which API."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from penstock.handlers.authorization.access import access_of
from penstock.handlers.authorization.asked import Asked
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.table import Handler

Guard = Callable[[Asked, Any], Answer]

GUARDS: Final = {
    0: "produce",
    2: "partition",
    3: "metadata",
    8: "offset",
    9: "offset",
    10: "coordinator",
    11: "group",
    12: "group",
    13: "group",
    14: "group",
    15: "group",
    16: "group",
    19: "topic",
    20: "topic",
    21: "partition",
    22: "transaction",
    23: "partition",
    24: "transaction",
    25: "transaction",
    26: "transaction",
    28: "offset",
    32: "config",
    33: "config",
    37: "topic",
    38: "delegation_token",
    41: "delegation_token",
    42: "group",
    44: "config",
    47: "offset",
    60: "metadata",
    61: "partition",
    65: "transaction",
    66: "transaction",
    68: "consumer_group",
    69: "consumer_group",
    75: "metadata",
    **dict.fromkeys((76, 77, 78, 79, *range(83, 88), 90, 91, 92), "share_group"),
    88: "streams_group",
    89: "streams_group",
}
"""The module in this package, by the number of the API; `cluster` for all others."""

UNGUARDED: Final = frozenset(
    {
        *(1, 17, 18, 36, 39, 40),
    }
)
"""A fetch looks at each partition when it reads it (`handlers/fetch`). Who logs in has no principal
yet. Tokens are renewed and ended by those they name."""

QUORUM: Final = "quorum_request"
"""The API module that serves fetches of the metadata log."""


def guarded(api_key: int, module: str, handle: Handler) -> Handler:
    """The handler behind its guard. KeyError for an API of which nobody has said who may use it."""
    guard = _find(api_key, module)
    if guard is None:
        return handle

    def serve(broker: Broker, request: Any, call: Call) -> Answer:
        return guard(Asked(broker, call, access_of(broker, call.client), handle), request)

    return serve


def _find(api_key: int, module: str) -> Guard | None:
    if module == QUORUM and api_key in UNGUARDED:
        return _load("cluster", api_key)
    return None if api_key in UNGUARDED else _load(GUARDS.get(api_key, "cluster"), api_key)


def _load(name: str, api_key: int) -> Guard:
    module = import_module(f"penstock.handlers.authorization.{name}")
    guard: Guard = module.GUARDS[api_key]
    return guard
