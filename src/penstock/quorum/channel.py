"""The little that raft asks of the network: one request to one address, and its answer."""

from __future__ import annotations

from typing import Protocol

from penstock.model.error import PenstockError
from penstock.protocol.entity import Entity
from penstock.raft import RaftEndpoint


class ChannelError(PenstockError):
    """No answer will come. `unsupported`: the other node does not speak the request, or not in the
    version it has to go out in. `refused`: nobody listens there, the process has ended."""

    def __init__(self, message: str, *, unsupported: bool = False, refused: bool = False) -> None:
        super().__init__(message)
        self.unsupported = unsupported
        self.refused = refused


class Channel(Protocol):
    async def call(
        self, endpoint: RaftEndpoint, request: Entity, *, version: int | None, timeout_s: float
    ) -> Entity:
        """In the highest version that both speak unless one is named. Fetches wait at the other
        end: nothing else may have to wait behind one. ChannelError if there is no answer."""
        ...


class NoChannel:
    """For a voter that is alone: there is nobody to call."""

    async def call(
        self, endpoint: RaftEndpoint, request: Entity, *, version: int | None, timeout_s: float
    ) -> Entity:
        raise ChannelError(f"no way to {endpoint.host}:{endpoint.port}")
