"""Whether the settings describe what a node can be so far: broker and controller of a cluster of
one, with one listener for clients and one data directory.

A file that names other nodes means a cluster; the node must not start one of its own beside it.
"""

from __future__ import annotations

from pathlib import Path
from socket import getfqdn, gethostname

from penstock.model.error import PenstockError
from penstock.node.address import EVERY_INTERFACE, Address
from penstock.node.cluster_config import ClusterConfig
from penstock.node.quorum_config import BOOTSTRAP_SERVERS, VOTERS
from penstock.settings.config import BrokerConfig

LOOPBACK = ("localhost", "127.0.0.1", "::1")
REPLICATION_FACTORS = (
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
)


class QuorumError(PenstockError):
    """The settings ask for more than one node, or for more than one node does so far."""


def check_alone(cluster: ClusterConfig, config: BrokerConfig, data_dir: str | None) -> None:
    """QuorumError names the setting that asks for more, and says what to set instead. `data_dir` is
    the directory that the command line names in place of the settings'."""
    _check_quorum(cluster)
    roles = sorted(cluster.roles)
    if roles != ["broker", "controller"]:
        raise QuorumError(
            f"process.roles={','.join(roles)}: a node is broker and controller in one, a cluster "
            "of its own; set process.roles=broker,controller"
        )
    for key in REPLICATION_FACTORS:
        if config.is_set(key) and config.get(key) > 1:
            raise QuorumError(
                f"{key}={config.get(key)}: a node is a cluster of one, with one replica; set it "
                "to 1"
            )
    _check_listeners(cluster)
    _check_directory(cluster, config, data_dir)


def _check_directory(cluster: ClusterConfig, config: BrokerConfig, data_dir: str | None) -> None:
    if data_dir is None and len(cluster.data_dirs) > 1:
        raise QuorumError(
            f"log.dirs names {len(cluster.data_dirs)} directories; one is used: name one"
        )
    used = data_dir or cluster.data_dirs[0]
    metadata_dir: str | None = config.get("metadata.log.dir")
    if metadata_dir and Path(metadata_dir).resolve() != Path(used).resolve():
        raise QuorumError(
            f"metadata.log.dir={metadata_dir}: metadata lies with the data, in {used}; remove it"
        )


def _check_listeners(cluster: ClusterConfig) -> None:
    names = [each.name for each in cluster.of_brokers(cluster.listeners)]
    if len(names) > 1:
        raise QuorumError(
            f"listeners names {', '.join(names)} for clients; one is served: keep one"
        )


def _check_quorum(cluster: ClusterConfig) -> None:
    for voter in cluster.voters:
        if voter.id != cluster.node_id:
            raise _foreign(VOTERS, str(voter))
    own = [
        Address(each.host, each.port)
        for endpoints in (cluster.listeners, cluster.advertised)
        for each in cluster.of_controllers(endpoints)
    ]
    for server in cluster.bootstrap_servers:
        if not any(_is_same(server, each) for each in own):
            raise _foreign(BOOTSTRAP_SERVERS, str(server))


def _is_same(server: Address, own: Address) -> bool:
    if server.port != own.port:
        return False
    if own.host in EVERY_INTERFACE:
        return server.host in (*LOOPBACK, gethostname(), getfqdn())
    return server.host == own.host or {server.host, own.host} <= set(LOOPBACK)


def _foreign(key: str, text: str) -> QuorumError:
    return QuorumError(
        f"{key} names {text}, which is not this node: a node is a cluster of one, and would not "
        f"join that quorum; remove {key}, or name this node's own CONTROLLER listener"
    )
