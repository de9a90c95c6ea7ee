"""Whether the settings describe what this node is: broker and controller of a cluster of one.

A file that names other nodes means a cluster; the node must not start one of its own beside it.
"""

from __future__ import annotations

from socket import getfqdn, gethostname

from penstock.model.error import PenstockError
from penstock.node.address import EVERY_INTERFACE, Address, AddressError, parse_address
from penstock.node.endpoint import controller_names, endpoints_of
from penstock.settings.config import BrokerConfig

LOOPBACK = ("localhost", "127.0.0.1", "::1")
REPLICATION_FACTORS = (
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
)


class QuorumError(PenstockError):
    """The settings ask for more than one node."""


def check_alone(config: BrokerConfig) -> None:
    """QuorumError names the setting that asks for others, and says what to set instead."""
    _check_voters(config)
    _check_bootstrap_servers(config)
    roles = sorted(config.get("process.roles"))
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


def _check_voters(config: BrokerConfig) -> None:
    for voter in config.get("controller.quorum.voters"):
        node_id, at, address = voter.partition("@")
        if not at or not (node_id.isascii() and node_id.isdecimal()):
            raise QuorumError(f"controller.quorum.voters={voter}: expected ID@HOST:PORT")
        _parsed("controller.quorum.voters", address)
        if int(node_id) != config.node_id:
            raise _foreign("controller.quorum.voters", voter)


def _check_bootstrap_servers(config: BrokerConfig) -> None:
    key = "controller.quorum.bootstrap.servers"
    own = _controller_addresses(config)
    for text in config.get(key):
        server = _parsed(key, text)
        if not any(_is_same(server, each) for each in own):
            raise _foreign(key, text)


def _parsed(key: str, text: str) -> Address:
    try:
        return parse_address(text, f"{key}:")
    except AddressError as error:
        raise QuorumError(str(error)) from None


def _controller_addresses(config: BrokerConfig) -> list[Address]:
    """Where this node's own controller would be found, had it a listener of its own."""
    names = controller_names(config)
    return [
        Address(each.host, each.port)
        for key in ("listeners", "advertised.listeners")
        if config.is_set(key)
        for each in endpoints_of(config, key)
        if each.name in names
    ]


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
