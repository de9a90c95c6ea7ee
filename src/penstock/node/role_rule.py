"""What the roles of a node ask of its listeners and of the controllers it is told of.

The rules are Apache Kafka's, which would not start either; the words say what to do about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.node.quorum_config import BOOTSTRAP_SERVERS, VOTERS
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError

if TYPE_CHECKING:
    from penstock.node.cluster_config import ClusterConfig

_NAMES = "controller.listener.names"


def check_quorum(cluster: ClusterConfig, config: BrokerConfig) -> None:
    """For a node that is one of several."""
    roles = ",".join(sorted(cluster.roles))
    if not cluster.names_quorum:
        raise SettingError(
            f"process.roles={roles}: no controllers are named; set {BOOTSTRAP_SERVERS}, or set "
            "process.roles=broker,controller for a cluster of one"
        )
    for key, example in (("node.id", "a number of its own"), (_NAMES, "such as CONTROLLER")):
        if not config.is_set(key):
            raise SettingError(
                f"{key} is not set, and a node that is told of controllers needs it: set {key}, "
                f"{example}"
            )
    if cluster.is_controller:
        _check_controller(cluster)
    else:
        _check_broker_alone(cluster)
    if not cluster.is_broker:
        _check_controller_alone(cluster, config)


def check_broker(cluster: ClusterConfig) -> None:
    told = [each.name for each in cluster.of_brokers(cluster.advertised)]
    bound = [each.name for each in cluster.listeners]
    strange = [name for name in told if name not in bound]
    if not cluster.of_brokers(cluster.listeners):
        raise SettingError("listeners names none for clients: add PLAINTEXT://HOST:PORT")
    if strange:
        raise SettingError(
            f"advertised.listeners names {strange[0]}, which listeners does not: add it there, or "
            "remove it"
        )
    if not told:
        raise SettingError("advertised.listeners names none for clients: add one")
    if cluster.inter_broker_listener not in told:
        raise SettingError(
            f"brokers talk to each other on {cluster.inter_broker_listener}, which "
            f"advertised.listeners does not name: set inter.broker.listener.name to one of "
            f"{', '.join(told)}"
        )


def check_early(cluster: ClusterConfig, config: BrokerConfig) -> None:
    bound = [each.name for each in cluster.listeners]
    for early in config.get("early.start.listeners") or ():
        if early.upper() not in bound:
            raise SettingError(
                f"early.start.listeners={early}: listeners does not name it; name one of "
                f"{', '.join(bound)}"
            )


def _check_controller(cluster: ClusterConfig) -> None:
    ids = [each.id for each in cluster.voters]
    if ids and cluster.node_id not in ids:
        raise SettingError(
            f"{VOTERS} names {', '.join(map(str, cluster.voters))}, and not this node, whose "
            f"node.id is {cluster.node_id}: add it there, or remove controller from process.roles"
        )
    bound = [each.name for each in cluster.listeners]
    for name in cluster.controller_listeners:
        if name not in bound:
            raise SettingError(
                f"{_NAMES} names {name}, which listeners does not: add {name}://HOST:PORT there"
            )


def _check_broker_alone(cluster: ClusterConfig) -> None:
    if any(each.id == cluster.node_id for each in cluster.voters):
        raise SettingError(
            f"{VOTERS} names node {cluster.node_id}, which is this node, and process.roles=broker "
            "makes it no controller: set another node.id, or add controller to process.roles"
        )
    bound = cluster.of_controllers(cluster.listeners)
    if bound:
        raise SettingError(
            f"listeners names {bound[0].name}, which {_NAMES} gives to controllers, and "
            "process.roles=broker makes this node none: remove it from listeners"
        )


def _check_controller_alone(cluster: ClusterConfig, config: BrokerConfig) -> None:
    of_clients = cluster.of_brokers(cluster.listeners)
    if of_clients:
        raise SettingError(
            f"listeners names {of_clients[0].name}, which is not in {_NAMES}: "
            "process.roles=controller serves no clients; remove it from listeners"
        )
    inter: str | None = config.get("inter.broker.listener.name")
    if inter is not None and inter.upper() in cluster.controller_listeners:
        raise SettingError(
            f"inter.broker.listener.name={inter} is a listener of controllers: remove it"
        )
