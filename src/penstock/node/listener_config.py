"""The listeners that the settings name: where to bind, and what others are told.

Owns their form and their protocols. What roles ask of listeners is `cluster_config`'s.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from penstock.model.security_protocol import SecurityProtocol
from penstock.node.address import ANY_HOST, Address, AddressError, parse_address
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError

PLAINTEXT: Final = SecurityProtocol.PLAINTEXT.name
PROTOCOLS: Final = tuple(SecurityProtocol.__members__)
NOT_ROUTABLE: Final = (ANY_HOST, "::")

_MAP: Final = "listener.security.protocol.map"
_HOST: Final = re.compile(r"[0-9a-zA-Z\-%._:]*")


class ListenerEndpoint(NamedTuple):
    """No host means every interface to whoever binds, and this host's name to whoever is told;
    port 0 means one that is free, and the one that was bound."""

    name: str
    protocol: SecurityProtocol
    host: str
    port: int

    @property
    def bind_address(self) -> Address:
        return Address(self.host or ANY_HOST, self.port)

    def told_address(self, host_name: str, bound_port: int) -> Address:
        host = host_name if self.host in ("", *NOT_ROUTABLE) else self.host
        return Address(host, self.port or bound_port)


class ListenerRoles(NamedTuple):
    """Names of listeners that are not only for clients."""

    of_brokers: str | None = None
    of_controllers: frozenset[str] = frozenset()


def controller_names_of(config: BrokerConfig) -> tuple[str, ...]:
    """In capitals, as they are compared everywhere."""
    names: Sequence[str] = config.get("controller.listener.names") or ("CONTROLLER",)
    return tuple(name.upper() for name in names)


def listeners_of(config: BrokerConfig) -> tuple[ListenerEndpoint, ...]:
    found = _endpoints(config, "listeners")
    _check_ports(found)
    return found


def advertised_of(config: BrokerConfig) -> tuple[ListenerEndpoint, ...]:
    """What `advertised.listeners` says; nothing where it is not set."""
    if not config.is_set("advertised.listeners"):
        return ()
    found = _endpoints(config, "advertised.listeners")
    for each in found:
        if each.host in NOT_ROUTABLE:
            raise SettingError(
                f"advertised.listeners names {each.host}, where nobody can connect to: name this "
                "host"
            )
    return found


def protocol_of(config: BrokerConfig, name: str) -> SecurityProtocol:
    found = _protocols(config).get(name)
    if found is None:
        raise SettingError(f"listener {name} is not in {_MAP}: add {name}:{PLAINTEXT}")
    return SecurityProtocol[found]


def _endpoints(config: BrokerConfig, key: str) -> tuple[ListenerEndpoint, ...]:
    found = [_endpoint(config, key, text) for text in config.get(key)]
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"{key} names {name} twice: give each listener its own name")
    return tuple(found)


def _endpoint(config: BrokerConfig, key: str, text: str) -> ListenerEndpoint:
    name, separator, bare = text.partition("://")
    if not separator or not name:
        raise SettingError(f"{key}={text}: expected NAME://HOST:PORT")
    try:
        host, port = parse_address(bare, key, default_host="")
    except AddressError:
        raise SettingError(f"{key}={text}: expected NAME://HOST:PORT") from None
    if _HOST.fullmatch(host) is None:
        raise SettingError(f"{key}={text}: {host!r} is no name of a host")
    name = name.strip().upper()
    return ListenerEndpoint(name, protocol_of(config, name), host, port)


def _check_ports(endpoints: Sequence[ListenerEndpoint]) -> None:
    """Each its own; IPv4 and IPv6 of one port are two sockets."""
    by_port: dict[int, list[ListenerEndpoint]] = {}
    for each in endpoints:
        if each.port:
            by_port.setdefault(each.port, []).append(each)
    for port, shared in by_port.items():
        if len(shared) > 1 and not _is_of_both_families([each.host for each in shared]):
            names = ", ".join(each.name for each in shared)
            raise SettingError(
                f"listeners gives {names} the same port {port}: give each another, or one an IPv4 "
                "and the other an IPv6 address"
            )


def _is_of_both_families(hosts: Sequence[str]) -> bool:
    from ipaddress import ip_address  # only two listeners on one port need it

    try:
        return sorted(ip_address(host).version for host in hosts) == [4, 6]
    except ValueError:
        return False


def _protocols(config: BrokerConfig) -> dict[str, str]:
    found = _mapped(config.get(_MAP) or "")
    if config.is_set(_MAP):
        return found
    # Kafka's rule: controllers speak plain text without being mapped, unless somebody asks for
    # encryption, which must not be undone by a listener that was forgotten.
    names = [text.partition("://")[0].upper() for text in config.get("listeners")]
    controllers = controller_names_of(config)
    if not any(name in PROTOCOLS[1:] for name in (*names, *controllers)):
        found |= dict.fromkeys(controllers, PLAINTEXT)
    return found


def _mapped(text: str) -> dict[str, str]:
    found = {}
    for pair in text.split(",") if text else ():
        name, colon, protocol = (part.strip().upper() for part in pair.partition(":"))
        if not colon or not name or protocol not in PROTOCOLS:
            raise SettingError(
                f"{_MAP}={text}: expected NAME:PROTOCOL, with one of {', '.join(PROTOCOLS)}"
            )
        found[name] = protocol
    return found
