"""How many connections the settings and quotas of addresses allow."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping

from penstock.metadata.security import QuotaEntity
from penstock.network.connection_limits import ConnectionBounds
from penstock.security.quota.sensor import UNLIMITED
from penstock.settings.config import BrokerConfig
from penstock.settings.key import INT_MAX

CONNECTION_RATE = "connection_creation_rate"


def connection_bounds(config: BrokerConfig, listeners: Iterable[str]) -> ConnectionBounds:
    names = tuple(listeners)
    return ConnectionBounds(
        total_max=_bound(config.get("max.connections")),
        rate_max=_bound(config.get("max.connection.creation.rate")),
        address_max=_bound(config.get("max.connections.per.ip")),
        address_overrides=_overrides(config.get("max.connections.per.ip.overrides")),
        listener_max=_by_listener(config, names, "max.connections"),
        listener_rate_max=_by_listener(config, names, "max.connection.creation.rate"),
    )


def address_rates(quotas: Mapping[tuple[QuotaEntity, str], float]) -> dict[str | None, float]:
    """None for those who have none of their own."""
    return {
        None if name is None else _address(name): limit
        for (entity, key), limit in quotas.items()
        if key == CONNECTION_RATE
        for kind, name in entity
        if kind == "ip"
    }


def _by_listener(config: BrokerConfig, names: Iterable[str], key: str) -> dict[str, float]:
    found = {name: config.get(f"listener.name.{name.lower()}.{key}") for name in names}
    return {name: _bound(value) for name, value in found.items() if value is not None}


def _bound(value: int) -> float:
    return UNLIMITED if value == int(INT_MAX) else float(value)


def _overrides(text: str) -> dict[str, int]:
    """`host:count,host:count`, where a host may be an address of IPv6."""
    pairs = (pair.rpartition(":") for pair in text.split(",") if pair.strip())
    return {_address(host.strip()): int(count) for host, _, count in pairs}


def _address(host: str) -> str:
    """Of a name the first address, as Kafka has it; a name that leads nowhere meets nobody."""
    from ipaddress import ip_address  # few limit single addresses

    try:
        return str(ip_address(host))
    except ValueError:
        pass
    try:
        return socket.gethostbyname(host)
    except OSError:
        return host
