"""This node's ways to other nodes: each purpose has connections of its own.

What waits at the other end, such as a fetch, holds up whatever comes behind it on a connection.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from penstock.coordinator.peer_brokers import PeerBrokers
from penstock.metadata.image import ClusterImage
from penstock.node.broker_peers import BrokerPeers
from penstock.node.cluster_config import ClusterConfig
from penstock.node.controller_channel import ControllerChannel
from penstock.node.listener_security import ListenerSecurity
from penstock.node.peer_login import TO_BROKERS, TO_CONTROLLERS, with_login
from penstock.node.raft_channel import PeerChannel
from penstock.node.system import System
from penstock.protocol.entity import Entity
from penstock.settings.config import BrokerConfig

CONTROLLER_TIMEOUT_S = 60.0


class Links:
    def __init__(
        self,
        node_id: int,
        cluster: ClusterConfig,
        image: ClusterImage,
        system: System,
        security: ListenerSecurity,
        settings: Callable[[], BrokerConfig],
        find_controller: Callable[[], tuple[int, str, int] | None],
        ask_here: Callable[[Entity], Awaitable[Any]],
    ) -> None:
        random, listener = system.random, cluster.inter_broker_listener
        plain = system.dialer
        brokers = with_login(security.dialer(listener, plain), settings, listener, TO_BROKERS)
        to_controllers = security.dialer(cluster.controller_listener, plain)
        controllers = with_login(
            to_controllers, settings, cluster.controller_listener, TO_CONTROLLERS
        )
        self.raft = PeerChannel(controllers, node_id, random)
        self.replicas = BrokerPeers(node_id, image, listener, brokers, random)
        self._coordinator_peers = BrokerPeers(node_id, image, listener, brokers, random)
        self.coordinators = PeerBrokers(self._coordinator_peers.get)
        self.controller, self.heartbeats = (
            ControllerChannel(
                node_id, controllers, random, find_controller, ask_here, lambda: self.raft.trouble
            )
            for _ in range(2)
        )

    async def ask_controller(self, request: Entity) -> Any:
        return await self.controller.call(request, CONTROLLER_TIMEOUT_S)

    def close(self) -> None:
        self.replicas.close()
        self._coordinator_peers.close()
        self.controller.close()
        self.heartbeats.close()
        self.raft.close()
