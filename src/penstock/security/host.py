"""Whether the host of an access control entry means an address.

Kafka knows single addresses and `*`. Here an entry can also name a network: `10.1.0.0/16`.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

from penstock.model.acl import WILDCARD

_NETWORKS_MAX: Final = 4096
"""Parsed networks that are kept at hand."""


def host_matches(entry: str, host: str) -> bool:
    if entry in (WILDCARD, host):
        return True
    return "/" in entry and _contains(entry, host)


def _contains(entry: str, host: str) -> bool:
    network = _network(entry)
    if network is None:
        return False
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    if address.version == 6 and (mapped := address.ipv4_mapped) is not None:
        return mapped in network or address in network
    return address in network


@lru_cache(_NETWORKS_MAX)
def _network(entry: str) -> IPv4Network | IPv6Network | None:
    """None for a text that is no network: such an entry matches nobody."""
    try:
        return ip_network(entry)
    except ValueError:
        return None
