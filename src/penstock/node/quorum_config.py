"""The controllers that the settings name: voters that are fixed, or servers to ask for them.

Owns the form of both lists; who may be in them is `cluster_config`'s.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from penstock.model.id import NODE_ID_MAX
from penstock.node.address import Address, AddressError, parse_address
from penstock.node.listener_config import NOT_ROUTABLE
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError

VOTERS: Final = "controller.quorum.voters"
BOOTSTRAP_SERVERS: Final = "controller.quorum.bootstrap.servers"


class QuorumVoter(NamedTuple):
    id: int
    address: Address

    def __str__(self) -> str:
        return f"{self.id}@{self.address}"


def voters_of(config: BrokerConfig) -> tuple[QuorumVoter, ...]:
    voters = tuple(_voter(text) for text in config.get(VOTERS))
    ids = [each.id for each in voters]
    for voter_id in ids:
        if ids.count(voter_id) > 1:
            raise SettingError(f"{VOTERS} names node {voter_id} twice: name each voter once")
    return voters


def bootstrap_servers_of(config: BrokerConfig) -> tuple[Address, ...]:
    return tuple(_reachable(BOOTSTRAP_SERVERS, text) for text in config.get(BOOTSTRAP_SERVERS))


def parse_node_id(text: str) -> int | None:
    """None for what no node can have."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        return None
    return int(text) if int(text) <= NODE_ID_MAX else None


def _voter(text: str) -> QuorumVoter:
    id_text, at, address = text.partition("@")
    node_id = parse_node_id(id_text)
    if not at or node_id is None:
        raise SettingError(f"{VOTERS}={text}: expected ID@HOST:PORT")
    return QuorumVoter(node_id, _reachable(VOTERS, address, text))


def _reachable(key: str, address: str, text: str | None = None) -> Address:
    shown = text or address
    form = "HOST:PORT" if text is None else "ID@HOST:PORT"
    try:
        found = parse_address(address, key, default_host="")
    except AddressError:
        raise SettingError(f"{key}={shown}: expected {form}") from None
    if found.host in ("", *NOT_ROUTABLE) or not found.port:
        raise SettingError(
            f"{key}={shown}: nobody can connect there; name the host and port of a controller"
        )
    return found
