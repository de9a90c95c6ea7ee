"""What the client of a connection may do, kept with the connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.handlers.broker import Broker
from penstock.handlers.call import ClientState

if TYPE_CHECKING:
    from penstock.security.access import Access


def access_of(broker: Broker, client: ClientState) -> Access:
    """Where there is an authorizer. Kept until somebody else logs in on the connection."""
    access = client.access
    if access is None or access.principal is not client.principal:
        access = client.access = _new_access(broker, client)
    return access


def _new_access(broker: Broker, client: ClientState) -> Access:
    from penstock.security.access import Access

    assert broker.authorizer is not None
    return Access(broker.authorizer, client.principal, client.host.lstrip("/"))
