"""Calls to other brokers, at the addresses that the metadata log has of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.metadata.image import ClusterImage
from penstock.peer.dialer import Dialer
from penstock.peer.error import PeerGone
from penstock.peer.peer import Peer
from penstock.peer.peers import Peers
from penstock.protocol.entity import Entity

TIMEOUT_S = 30.0


class BrokerPeers:
    """One connection for each broker and purpose: what waits at the other end, such as a fetch,
    holds up what comes behind it."""

    def __init__(
        self,
        node_id: int,
        image: ClusterImage,
        listener: str,
        dialer: Dialer,
        random: Callable[[], float],
    ) -> None:
        self.on_lost: Callable[[int], None] = lambda node_id: None
        """Told of a broker whose connection broke, in the turn of the loop that sees it."""
        self._image = image
        self._listener = listener
        self._peers = Peers(dialer, client_id=f"broker-{node_id}", random=random)

    def get(self, node_id: int) -> Peer:
        """PeerGone for a broker that is not registered, or not on this listener."""
        broker = self._image.brokers.get(node_id)
        endpoint = None if broker is None else broker.endpoint(self._listener)
        if endpoint is None:
            raise PeerGone(f"broker {node_id} has no listener {self._listener}")
        is_new = node_id not in self._peers
        peer = self._peers.put(node_id, endpoint.host, endpoint.port)
        if is_new:
            peer.watch(lambda _: self.on_lost(node_id))
        return peer

    async def call(self, node_id: int, request: Entity, timeout_s: float = TIMEOUT_S) -> Any:
        return await self.get(node_id).call(request, timeout_s=timeout_s)

    async def is_gone(self, node_id: int, timeout_s: float = 1.0) -> bool:
        """Whether the broker's port refuses: then its process has ended."""
        try:
            return await self.get(node_id).probe(timeout_s)
        except PeerGone:
            return False

    def close(self) -> None:
        self._peers.close()
