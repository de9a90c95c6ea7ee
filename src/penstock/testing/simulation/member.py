"""Members of one cluster: the settings, the formatted disk and the node of each.

Every member is broker and controller, and the voters stand in the settings, unless a test says
otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.node.cluster_config import cluster_config
from penstock.node.format.feature import feature_levels
from penstock.node.format.formatter import Formatter, NewCluster
from penstock.node.node import Node
from penstock.node.options import NodeOptions
from penstock.settings.config import BrokerConfig
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.host import DATA_DIR, SimulatedHost

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"
BROKER_PORT = 9092
CONTROLLER_PORT = 9093


def member_settings(names: Sequence[str], number: int) -> dict[str, object]:
    """Of the member of that number, from 0 on; its node id is one more."""
    name = names[number]
    voters = (f"{place}@{other}:{CONTROLLER_PORT}" for place, other in enumerate(names, 1))
    return {
        "process.roles": "broker,controller",
        "node.id": number + 1,
        "controller.quorum.voters": ",".join(voters),
        "listeners": f"PLAINTEXT://{name}:{BROKER_PORT},CONTROLLER://{name}:{CONTROLLER_PORT}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": DATA_DIR,
    }


def format_member(host: SimulatedHost, *, ignore_formatted: bool = False) -> None:
    """What `penstock storage format` does, on the disk of a host that is not running."""
    new = NewCluster(CLUSTER_ID, feature_levels({}, None, dynamic=False))
    formatter = Formatter(
        cluster_config(_config(host)), new, host.faulty_disk, host.clock.now_ms, host.new_id
    )
    for _ in formatter.run(formatter.unformatted(ignore_formatted=ignore_formatted)):
        pass
    host.faulty_disk.sync_all()


def build_member(host: SimulatedHost) -> Node:
    config = _config(host)
    cluster = cluster_config(config)
    return Node(
        config,
        NodeOptions(
            cluster.listeners[0].bind_address,
            None,
            cluster.data_dirs,
            None,
            cluster,
            metadata_dir=cluster.metadata_dir,
        ),
        host.clock,
        new_id=host.new_id,
        disk=host.disk,
        system=host.system,
    )


def add_members(
    cluster: SimulatedCluster, names: Sequence[str], settings: Mapping[str, object] | None = None
) -> None:
    """Formatted and not started; the cluster is one that builds members."""
    for number, name in enumerate(names):
        format_member(cluster.add(name, member_settings(names, number) | dict(settings or {})))


def _config(host: SimulatedHost) -> BrokerConfig:
    return BrokerConfig.load(None, [f"{key}={value}" for key, value in host.settings.items()])
