"""Raft's calls over connections to other nodes: fetches, which wait there, apart from the rest."""

from __future__ import annotations

from collections.abc import Callable

from penstock.model.error import ErrorCode
from penstock.peer.dialer import Dialer
from penstock.peer.error import PeerError, PeerGone, PeerUnsupported
from penstock.peer.peers import Peers
from penstock.protocol.entity import Entity
from penstock.protocol.messages.fetch import FetchRequest
from penstock.quorum.channel import ChannelError
from penstock.raft import RaftEndpoint


class PeerChannel:
    """A `quorum.channel.Channel`."""

    def __init__(self, dialer: Dialer, node_id: int, random: Callable[[], float]) -> None:
        client_id = f"raft-client-{node_id}"
        self._fetches = Peers(dialer, client_id=client_id, random=random)
        self._others = Peers(dialer, client_id=client_id, random=random)
        self.trouble: str | None = None
        """Why the last call told nothing of the quorum, for whoever finds no controller."""

    async def call(
        self, endpoint: RaftEndpoint, request: Entity, *, version: int | None, timeout_s: float
    ) -> Entity:
        peers = self._fetches if isinstance(request, FetchRequest) else self._others
        peer = peers.at(endpoint.host, endpoint.port)
        try:
            response = await peer.call(request, version=version, timeout_s=timeout_s)
        except PeerError as error:
            self.trouble = (
                f"no controller answers ({error}): see controller.quorum.* in the settings"
            )
            raise ChannelError(
                str(error),
                unsupported=isinstance(error, PeerUnsupported),
                refused=isinstance(error, PeerGone) and error.refused,
            ) from error
        self.trouble = _refusal(endpoint, response)
        return response

    def close(self) -> None:
        self._fetches.close()
        self._others.close()


def _refusal(endpoint: RaftEndpoint, response: Entity) -> str | None:
    if getattr(response, "error_code", 0) != ErrorCode.INCONSISTENT_CLUSTER_ID:
        return None
    where = f"{endpoint.host}:{endpoint.port}"
    return f"the controller at {where} is of another cluster: see cluster.id in meta.properties"
