"""The way to the active controller, wherever it is, and from one to the next when it moves.

Requests that must not wait behind others, such as heartbeats, have a channel of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from penstock.model.error import ErrorCode, PenstockError
from penstock.peer.dialer import Dialer
from penstock.peer.peers import Peers
from penstock.protocol.entity import Entity

RETRY_S = 0.02
RETRY_S_MAX = 0.2


class NoController(PenstockError):
    """Nobody leads the quorum just now, or nobody can be reached who does."""


class ControllerChannel:
    """`find` tells id, host and port of who leads, as far as is known, `trouble` what is in the
    way where nobody is; `ask_here` answers where this node leads."""

    def __init__(
        self,
        node_id: int,
        dialer: Dialer,
        random: Callable[[], float],
        find: Callable[[], tuple[int, str, int] | None],
        ask_here: Callable[[Entity], Awaitable[Any]],
        trouble: Callable[[], str | None],
    ) -> None:
        self._node_id = node_id
        self._find = find
        self._ask_here = ask_here
        self.trouble = trouble
        self._peers = Peers(dialer, client_id=str(node_id), random=random)

    async def call(self, request: Entity, timeout_s: float) -> Any:
        """The answer of the active controller; the next one is asked if it is not any more."""
        loop = asyncio.get_running_loop()
        until = loop.time() + timeout_s
        retry_s, reason = RETRY_S, "no controller is known"
        while (left_s := until - loop.time()) > 0:
            found = self._find()
            if found is not None:
                try:
                    response = await self._ask(found, request, left_s)
                    if getattr(response, "error_code", 0) != ErrorCode.NOT_CONTROLLER:
                        return response
                    reason = f"node {found[0]} is not the controller any more"
                except PenstockError as error:
                    reason = str(error)
            else:
                reason = self.trouble() or reason
            await asyncio.sleep(min(retry_s, max(left_s, 0.0)))
            retry_s = min(2 * retry_s, RETRY_S_MAX)
        raise NoController(reason)

    async def _ask(self, found: tuple[int, str, int], request: Entity, timeout_s: float) -> Any:
        if found[0] == self._node_id:
            return await self._ask_here(request)
        peer = self._peers.put(*found)
        return await peer.call(request, timeout_s=timeout_s)

    def close(self) -> None:
        self._peers.close()
