"""What a cluster on this machine is made of: its nodes, their ports, their settings, their files.

Pure values and names. Nothing is written, bound or started here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_DIR = "./penstock-cluster"
DEFAULT_NODES = 3
DEFAULT_LISTEN_BASE = 9092
NODES_MAX = 50
CONTROLLERS_MAX = 5
CONTROLLER_PORTS_ABOVE = 100
"""How far a controller's port lies above the port of the same node for clients."""
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class LocalNode:
    id: int
    port: int
    controller_port: int | None
    """None for a broker that is no controller."""

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def controller_address(self) -> str:
        return f"{HOST}:{self.controller_port}"

    @property
    def roles(self) -> str:
        return "broker" if self.controller_port is None else "broker,controller"

    @property
    def ports(self) -> Iterator[int]:
        yield self.port
        if self.controller_port is not None:
            yield self.controller_port


class NodeFiles:
    """Where a node of the cluster in `home` has what it needs."""

    def __init__(self, home: Path, node_id: int) -> None:
        self.folder = home / f"node-{node_id}"
        self.config = self.folder / "server.properties"
        self.data = self.folder / "data"
        self.log = self.folder / "penstock.log"
        self.ready = self.folder / "ready"
        self.start_wanted = self.folder / "start-wanted"
        """Made by whoever wants the node started again; taken away by who starts it."""


def controllers_of(nodes: int) -> int:
    """An odd number of voters: one more would not survive one more failure."""
    return min(nodes - (nodes + 1) % 2, CONTROLLERS_MAX)


def plan_nodes(count: int, listen_base: int) -> list[LocalNode]:
    """Nodes from 1 on, the first of them controllers as well."""
    controllers = controllers_of(count)
    return [
        LocalNode(
            number + 1,
            listen_base + number,
            listen_base + number + CONTROLLER_PORTS_ABOVE if number < controllers else None,
        )
        for number in range(count)
    ]


def node_settings(
    node: LocalNode, nodes: list[LocalNode], data_dir: Path, rack: str
) -> dict[str, str]:
    """As Kafka's server.properties has them."""
    voters = [each for each in nodes if each.controller_port is not None]
    listeners = [f"PLAINTEXT://{node.address}"]
    if node.controller_port is not None:
        listeners.append(f"CONTROLLER://{node.controller_address}")
    return {
        "process.roles": node.roles,
        "node.id": str(node.id),
        "controller.quorum.bootstrap.servers": ",".join(each.controller_address for each in voters),
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join(listeners),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(data_dir),
        "broker.rack": rack,
    } | replica_settings(len(nodes))


def replica_settings(nodes: int) -> dict[str, str]:
    """Three replicas where there are three nodes, and writes go on with one of them down."""
    replicas = min(nodes, 3)
    in_sync = max(1, replicas - 1)
    return {
        "default.replication.factor": str(replicas),
        "min.insync.replicas": str(in_sync),
        "offsets.topic.replication.factor": str(replicas),
        "transaction.state.log.replication.factor": str(replicas),
        "transaction.state.log.min.isr": str(in_sync),
    }


def properties_text(settings: Mapping[str, str]) -> str:
    heading = "# Written once by `penstock cluster start`. Edit it, then restart the node.\n"
    return heading + "".join(f"{key}={value}\n" for key, value in settings.items())
