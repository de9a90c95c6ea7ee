"""The other nodes by their ids, as their addresses become known, change and go.

Each part that calls others has a `Peers` of its own, so that its requests wait behind none of
another part's: Kafka too keeps fetching replicas, heartbeats and elections on connections apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from penstock.model.error import InvariantError
from penstock.peer.dialer import Dialer
from penstock.peer.error import PeerGone
from penstock.peer.peer import Peer

Address = tuple[str, int]


class Peers:
    def __init__(self, dialer: Dialer, *, client_id: str, random: Callable[[], float]) -> None:
        self._dialer = dialer
        self._client_id = client_id
        self._random = random
        self._by_id: dict[int, Peer] = {}
        self._by_address: dict[Address, Peer] = {}
        self._closed = False

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._by_id))

    def __contains__(self, node_id: int) -> bool:
        return node_id in self._by_id

    def get(self, node_id: int) -> Peer:
        """PeerGone for a node of which no address is known."""
        peer = self._by_id.get(node_id)
        if peer is None:
            raise PeerGone(f"node {node_id}: no address is known")
        return peer

    def at(self, host: str, port: int) -> Peer:
        """Whoever answers there: for addresses from a setting, before ids are known."""
        peer = self._by_address.get((host, port))
        if peer is None:
            peer = self._by_address[host, port] = self._new(host, port)
        return peer

    def put(self, node_id: int, host: str, port: int) -> Peer:
        """A node has this address from now on. Its `Peer` stays, and so do its watchers."""
        peer = self._by_id.get(node_id)
        if peer is None:
            peer = self._by_id[node_id] = self._new(host, port)
        else:
            peer.move(host, port)
        return peer

    def remove(self, node_id: int) -> None:
        peer = self._by_id.pop(node_id, None)
        if peer is not None:
            peer.close()

    def replace(self, addresses: Mapping[int, Address]) -> None:
        """All nodes there are: others are removed."""
        for node_id in self:
            if node_id not in addresses:
                self.remove(node_id)
        for node_id, (host, port) in addresses.items():
            self.put(node_id, host, port)

    def close(self) -> None:
        self._closed = True
        for peer in (*self._by_id.values(), *self._by_address.values()):
            peer.close()
        self._by_id.clear()
        self._by_address.clear()

    def _new(self, host: str, port: int) -> Peer:
        if self._closed:
            raise InvariantError("peers were closed and are asked for another")
        return Peer(self._dialer, host, port, client_id=self._client_id, random=self._random)
