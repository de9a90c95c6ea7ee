"""What a node is told by whoever starts it."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.security_protocol import SecurityProtocol
from penstock.node.address import Address
from penstock.node.cluster_config import ClusterConfig
from penstock.node.listener_config import ListenerEndpoint, ListenerRoles


@dataclass(frozen=True, slots=True)
class NodeOptions:
    """The same for as long as it runs."""

    listen: Address
    advertise: Address | None
    data_dirs: tuple[str, ...]
    metrics: Address | None = None
    cluster: ClusterConfig | None = None
    """Its place among others; None for a cluster of one that nobody joins. Listeners are then the
    ones that it names."""
    metadata_dir: str | None = None
    """Of the metadata log, where it is not the first of the others."""
    own: tuple[ListenerEndpoint, ...] = ()
    """Listeners of a node alone, where its settings name them; `listen` is the first."""
    told: tuple[ListenerEndpoint, ...] = ()

    @property
    def listeners(self) -> tuple[ListenerEndpoint, ...]:
        if self.cluster is not None:
            return self.cluster.listeners
        return self.own or (_plain(self.listen),)

    @property
    def advertised(self) -> tuple[ListenerEndpoint, ...]:
        """Under a port that is free, others are told the one that was taken."""
        if self.cluster is not None:
            return self.cluster.advertised
        return self.told or (_plain(self.advertise or self.listen),)

    @property
    def controller_listeners(self) -> frozenset[str]:
        return frozenset(self.cluster.controller_listeners if self.cluster is not None else ())

    @property
    def listener_roles(self) -> ListenerRoles:
        if self.cluster is None:
            return ListenerRoles()
        return ListenerRoles(self.cluster.inter_broker_listener, self.controller_listeners)


def _plain(address: Address) -> ListenerEndpoint:
    protocol = SecurityProtocol.PLAINTEXT
    return ListenerEndpoint(protocol.name, protocol, *address)
