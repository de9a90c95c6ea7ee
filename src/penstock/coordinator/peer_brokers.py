"""Other brokers over their connections, for coordinators."""

from __future__ import annotations

from collections.abc import Callable

from penstock.coordinator.brokers import NoAnswer, NotSpoken
from penstock.peer.error import PeerError, PeerUnsupported
from penstock.peer.peer import Peer
from penstock.protocol.entity import Entity

TIMEOUT_S = 30.0
"""Kafka's request.timeout.ms: markers are answered when they are committed."""


class PeerBrokers:
    """Its own connections: a marker that waits for replicas holds up nobody's fetch."""

    def __init__(self, peer_of: Callable[[int], Peer], timeout_s: float = TIMEOUT_S) -> None:
        self._peer_of = peer_of
        self._timeout_s = timeout_s

    async def call(self, node_id: int, request: Entity, min_version: int) -> Entity:
        try:
            peer = self._peer_of(node_id)
            version = await peer.version(type(request), self._timeout_s)
            if version < min_version:
                raise NotSpoken(f"node {node_id}: {request.NAME} up to version {version}")
            return await peer.call(request, version=version, timeout_s=self._timeout_s)
        except PeerUnsupported as error:
            raise NotSpoken(f"node {node_id}: {error}") from error
        except PeerError as error:
            raise NoAnswer(f"node {node_id}: {error}") from error
