"""What a node is told of its place in a cluster: roles, listeners, controllers, data directories.

Built from settings alone: no socket is opened, no directory looked at. Whatever Apache Kafka would
not start with is refused, in one line that says what to do. Settings that name no controllers
describe a cluster of one, which needs none of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from penstock.node import role_rule
from penstock.node.address import Address
from penstock.node.listener_config import (
    ListenerEndpoint,
    advertised_of,
    controller_names_of,
    listeners_of,
    protocol_of,
)
from penstock.node.quorum_config import QuorumVoter, bootstrap_servers_of, voters_of
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError

BROKER: Final = "broker"
CONTROLLER: Final = "controller"


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """Read of the settings once, at start."""

    node_id: int
    """Without effect in a cluster of one that was not told: there the directory says it."""
    roles: frozenset[str]
    rack: str | None
    listeners: tuple[ListenerEndpoint, ...]
    """What this node binds, in the order of the settings."""
    advertised: tuple[ListenerEndpoint, ...]
    """What this node tells clients, brokers and controllers of its listeners."""
    inter_broker_listener: str
    controller_listeners: tuple[str, ...]
    """Names; a node calls controllers on the first."""
    voters: tuple[QuorumVoter, ...]
    """Fixed by the settings; none where the metadata log names them (KIP-853)."""
    bootstrap_servers: tuple[Address, ...]
    data_dirs: tuple[str, ...]
    metadata_dir: str

    @property
    def is_broker(self) -> bool:
        return BROKER in self.roles

    @property
    def is_controller(self) -> bool:
        return CONTROLLER in self.roles

    @property
    def names_quorum(self) -> bool:
        return bool(self.voters or self.bootstrap_servers)

    @property
    def controller_listener(self) -> str:
        return self.controller_listeners[0]

    def of_brokers(self, endpoints: tuple[ListenerEndpoint, ...]) -> tuple[ListenerEndpoint, ...]:
        return tuple(each for each in endpoints if each.name not in self.controller_listeners)

    def of_controllers(
        self, endpoints: tuple[ListenerEndpoint, ...]
    ) -> tuple[ListenerEndpoint, ...]:
        return tuple(each for each in endpoints if each.name in self.controller_listeners)

    @property
    def directories(self) -> tuple[str, ...]:
        """All that this node owns, sorted; the metadata log may have one of its own."""
        return tuple(sorted({*self.data_dirs, self.metadata_dir}))


def cluster_config(config: BrokerConfig) -> ClusterConfig:
    """SettingError where the settings contradict each other, or name what is not served."""
    controllers = controller_names_of(config)
    listeners = listeners_of(config)
    data_dirs = _data_dirs(config)
    cluster = ClusterConfig(
        node_id=config.node_id,
        roles=frozenset(config.get("process.roles")),
        rack=config.rack,
        listeners=listeners,
        advertised=_advertised(config, listeners, controllers),
        inter_broker_listener=_inter_broker(config, listeners, controllers),
        controller_listeners=controllers,
        voters=voters_of(config),
        bootstrap_servers=bootstrap_servers_of(config),
        data_dirs=data_dirs,
        metadata_dir=(config.get("metadata.log.dir") or data_dirs[0]).rstrip("/"),
    )
    _check(cluster, config)
    return cluster


def _check(cluster: ClusterConfig, config: BrokerConfig) -> None:
    _check_logins(cluster, config)
    if cluster.names_quorum or not (cluster.is_broker and cluster.is_controller):
        role_rule.check_quorum(cluster, config)
        for name in cluster.controller_listeners:
            protocol_of(config, name)
    if cluster.is_broker:
        role_rule.check_broker(cluster)
    role_rule.check_early(cluster, config)


def _check_logins(cluster: ClusterConfig, config: BrokerConfig) -> None:
    asked = [each for each in cluster.listeners if each.protocol.has_login]
    if asked:
        from penstock.node.sasl_config import sasl_config  # only these listeners need it

        for each in asked:
            sasl_config(config, each.name, each.protocol)
    if cluster.names_quorum:
        _check_peer_logins(cluster, config)


def _check_peer_logins(cluster: ClusterConfig, config: BrokerConfig) -> None:
    listeners = [(cluster.controller_listener, "sasl.mechanism.controller.protocol")]
    if cluster.is_broker:
        listeners.append((cluster.inter_broker_listener, "sasl.mechanism.inter.broker.protocol"))
    for listener, mechanism_key in listeners:
        if protocol_of(config, listener).has_login:
            from penstock.node.peer_login import peer_credentials

            peer_credentials(config, listener, mechanism_key)


def _advertised(
    config: BrokerConfig, listeners: tuple[ListenerEndpoint, ...], controllers: tuple[str, ...]
) -> tuple[ListenerEndpoint, ...]:
    """What is not said again is told as it is bound; of clients' listeners only those are told
    that are said, where any setting says them."""
    told = advertised_of(config)
    if not told:
        return listeners
    said = {each.name: each for each in told}
    own = [said.pop(each.name, each) for each in listeners if each.name in controllers]
    others = [each for each in told if each.name in said and each.name not in controllers]
    return (*others, *own)


def _inter_broker(
    config: BrokerConfig, listeners: tuple[ListenerEndpoint, ...], controllers: tuple[str, ...]
) -> str:
    name: str | None = config.get("inter.broker.listener.name")
    if name is not None:
        protocol_of(config, name.upper())
        return name.upper()
    of_clients = [each.name for each in listeners if each.name not in controllers]
    protocol: str = config.get("security.inter.broker.protocol")
    # A cluster of one has nobody to talk to, and need not say on which listener.
    alone = not (voters_of(config) or bootstrap_servers_of(config))
    return of_clients[0] if alone and of_clients else protocol


def _data_dirs(config: BrokerConfig) -> tuple[str, ...]:
    directories = [each.rstrip("/") or "/" for each in config.log_dirs]
    for each in directories:
        if directories.count(each) > 1:
            raise SettingError(f"log.dirs names {each} twice: name each directory once")
    return tuple(directories)
