"""How many connections the settings and quotas of addresses allow.

Names of hosts in them are looked up in a thread (`HostAddresses`): a name server that is slow holds
up nobody. Until a name is known, it meets nobody.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable, Mapping

from penstock.metadata.security import QuotaEntity
from penstock.network.connection_limits import ConnectionBounds
from penstock.security.quota.sensor import UNLIMITED
from penstock.settings.config import BrokerConfig
from penstock.settings.key import INT_MAX

CONNECTION_RATE = "connection_creation_rate"


class HostAddresses:
    """`on_found` is called when a name that was asked for has an address."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_found: Callable[[], None]) -> None:
        self._loop = loop
        self._on_found = on_found
        self._known: dict[str, str] = {}
        self._lookups: set[asyncio.Task[None]] = set()

    def __call__(self, host: str) -> str:
        """Of a name the first address, as Kafka has it; a name that leads nowhere meets nobody."""
        from ipaddress import ip_address  # few limit single addresses

        try:
            return str(ip_address(host))
        except ValueError:
            pass
        if host not in self._known:
            self._known[host] = host
            lookup = self._loop.create_task(self._look_up(host))
            self._lookups.add(lookup)
            lookup.add_done_callback(self._lookups.discard)
        return self._known[host]

    async def _look_up(self, host: str) -> None:
        try:
            address = await self._loop.run_in_executor(None, socket.gethostbyname, host)
        except OSError:
            del self._known[host]
            return
        self._known[host] = address
        self._on_found()


AddressOf = Callable[[str], str]


def connection_bounds(
    config: BrokerConfig, listeners: Iterable[str], address_of: AddressOf
) -> ConnectionBounds:
    names = tuple(listeners)
    return ConnectionBounds(
        total_max=_bound(config.get("max.connections")),
        rate_max=_bound(config.get("max.connection.creation.rate")),
        address_max=_bound(config.get("max.connections.per.ip")),
        address_overrides=_overrides(config.get("max.connections.per.ip.overrides"), address_of),
        listener_max=_by_listener(config, names, "max.connections"),
        listener_rate_max=_by_listener(config, names, "max.connection.creation.rate"),
    )


def address_rates(
    quotas: Mapping[tuple[QuotaEntity, str], float], address_of: AddressOf
) -> dict[str | None, float]:
    """None for those who have none of their own."""
    return {
        None if name is None else address_of(name): limit
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


def _overrides(text: str, address_of: AddressOf) -> dict[str, int]:
    """`host:count,host:count`, where a host may be an address of IPv6."""
    pairs = (pair.rpartition(":") for pair in text.split(",") if pair.strip())
    return {address_of(host.strip()): int(count) for host, _, count in pairs}
