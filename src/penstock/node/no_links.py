"""The links of a node: those of one that is alone have nobody at their other end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.coordinator.brokers import NoAnswer
from penstock.metadata.image import ClusterImage
from penstock.model.error import PenstockError
from penstock.node.cluster_config import ClusterConfig
from penstock.node.listener_security import ListenerSecurity
from penstock.node.system import System
from penstock.protocol.entity import Entity
from penstock.settings.config import BrokerConfig

if TYPE_CHECKING:
    from penstock.node.links import Links


def new_links(
    node_id: int,
    cluster: ClusterConfig | None,
    image: ClusterImage,
    system: System,
    security: ListenerSecurity,
    settings: Callable[[], BrokerConfig],
    find_controller: Callable[[], tuple[int, str, int] | None],
    ask_here: Callable[[Entity], Awaitable[Any]],
) -> Links | NoLinks:
    if cluster is None:
        return NoLinks()
    from penstock.node.links import Links

    return Links(node_id, cluster, image, system, security, settings, find_controller, ask_here)


class NoLinks:
    raft = None

    def __init__(self) -> None:
        self.coordinators = _NoCoordinators()
        self.replicas = _NoReplicas()

    async def ask_controller(self, request: Entity) -> NoReturn:
        raise PenstockError("this node is its own controller, and not ready")

    def close(self) -> None:
        pass


class _NoReplicas:
    def __init__(self) -> None:
        self.on_lost: Callable[[int], None] = lambda node_id: None

    async def call(self, node_id: int, request: Entity) -> NoReturn:
        raise PenstockError(f"node {node_id}: there are no other brokers")

    async def is_gone(self, node_id: int) -> bool:
        return False


class _NoCoordinators:
    async def call(self, node_id: int, request: Entity, min_version: int) -> NoReturn:
        raise NoAnswer(f"node {node_id}: there are no other brokers")
