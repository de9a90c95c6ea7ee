"""What a handler is told about the request besides its body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from penstock.model.principal import ANONYMOUS
from penstock.model.security_protocol import SecurityProtocol
from penstock.network.connection import Serve
from penstock.network.later import Later

if TYPE_CHECKING:
    from penstock.handlers.told_unknown import ToldUnknown
    from penstock.security.access import Access


class ClientState:
    """Kept per connection: who is there, as far as they have said."""

    __slots__ = (
        "access",
        "address",
        "broker",
        "by_token",
        "client_id",
        "host",
        "is_forwarded",
        "listener",
        "login",
        "mute",
        "parked_produces",
        "principal",
        "produce_gate",
        "security_protocol",
        "software_name",
        "software_version",
        "told_unknown",
    )

    def __init__(
        self,
        address: str,
        listener: str = "PLAINTEXT",
        security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT,
    ) -> None:
        self.address = address
        self.listener = listener
        self.security_protocol = security_protocol
        self.principal = ANONYMOUS
        self.access: Access | None = None
        """What this principal may do, as far as it was asked; see `handlers/authorization`."""
        self.broker: tuple[int, int] | None = None
        """Id and epoch of a broker that sends its heartbeats on this connection."""
        self.is_forwarded = False
        """Whether a broker asks in the name of a client that is connected there."""
        self.host = "/" + address.rpartition(":")[0]
        """As Kafka writes it in group descriptions: `/127.0.0.1`."""
        self.by_token = False
        """Whether it logged in with a delegation token."""
        self.login: Serve | None = None
        """What serves it instead of the router, until its login is over."""
        self.client_id: str | None = None
        self.told_unknown: ToldUnknown | None = None
        """From the first topic on that is made because this client asked for it."""
        self.software_name = ""
        self.software_version = ""
        self.parked_produces = 0
        """Produces that wait for a coordinator or a check: later ones go behind them."""
        self.produce_gate: asyncio.Lock | None = None
        self.mute: Callable[[float], None] = _is_not_connected
        """For so many seconds nothing more of this connection is read."""


def _is_not_connected(seconds: float) -> None:
    """Another node asks in its client's name, and mutes the client itself."""


class Call:
    __slots__ = ("client", "version")

    def __init__(self, client: ClientState, version: int) -> None:
        self.client = client
        self.version = version


Answer = Any | None | Later[Any] | Coroutine[Any, Any, Any]
"""A response entity now, None for no reply at all, or a response later: by `Later` where every
microsecond counts, by a coroutine elsewhere."""
