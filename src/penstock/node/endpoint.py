"""Which addresses and directory a settings file in Kafka's form names: where to listen, what to
tell clients, where the data lives.

One listener for clients is served, in plain text, and one directory. A file that asks for more is
refused by name: a listener that was meant to be encrypted must never open in plain text.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from socket import gethostname
from typing import NamedTuple

from penstock.model.error import PenstockError
from penstock.node.address import ANY_HOST, parse_address
from penstock.settings.config import BrokerConfig

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


class EndpointError(PenstockError):
    """A setting asks for something this node does not do."""


class NamedEndpoint(NamedTuple):
    name: str
    host: str
    port: int

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def listener_of(config: BrokerConfig) -> str | None:
    """The address of the listener for clients; None where the settings name none."""
    endpoint = _listener(config)
    # As with Kafka: no host means every interface.
    return None if endpoint is None else endpoint._replace(host=endpoint.host or ANY_HOST).address


def advertised_of(config: BrokerConfig) -> str | None:
    if not config.is_set("advertised.listeners"):
        return None
    endpoints = _for_clients(config, endpoints_of(config, "advertised.listeners"))
    listener = _listener(config)
    known = [each for each in endpoints if listener is None or each.name == listener.name]
    strange = [each.name for each in endpoints if each not in known]
    if strange:
        raise EndpointError(f"advertised.listeners names {strange[0]}, which listeners does not")
    if not known:
        raise EndpointError("advertised.listeners names none for clients: add one")
    if known[0].host in (ANY_HOST, "::"):
        raise EndpointError(
            f"advertised.listeners names {known[0].host}, where no client can connect to: name "
            "this host"
        )
    return known[0]._replace(host=known[0].host or gethostname()).address


def data_dir_of(config: BrokerConfig) -> str | None:
    if not (config.is_set("log.dirs") or config.is_set("log.dir")):
        return None
    directories = config.log_dirs
    if len(directories) > 1:
        raise EndpointError(f"log.dirs names {len(directories)} directories; one is used: name one")
    return directories[0]


def check_metadata_dir(config: BrokerConfig, data_dir: str) -> None:
    wanted: str | None = config.get("metadata.log.dir")
    if wanted and Path(wanted).resolve() != Path(data_dir).resolve():
        raise EndpointError(
            f"metadata.log.dir={wanted}: metadata lies with the data, in {data_dir}; remove it"
        )


def endpoints_of(config: BrokerConfig, key: str) -> list[NamedEndpoint]:
    """What `listeners` or `advertised.listeners` says, controllers' included."""
    found = [_endpoint(key, text) for text in config.get(key)]
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        raise EndpointError(f"{key} names a listener twice: give each another name")
    return found


def controller_names(config: BrokerConfig) -> set[str]:
    names: list[str] = config.get("controller.listener.names") or ["CONTROLLER"]
    return {name.upper() for name in names}


def _endpoint(key: str, text: str) -> NamedEndpoint:
    name, separator, bare = text.partition("://")
    if not separator or not name:
        raise EndpointError(f"{key}={text}: expected NAME://HOST:PORT")
    address = parse_address(bare, key, default_host="")
    return NamedEndpoint(name.upper(), *address)


def _listener(config: BrokerConfig) -> NamedEndpoint | None:
    if not config.is_set("listeners"):
        return None
    endpoints = _for_clients(config, endpoints_of(config, "listeners"))
    if not endpoints:
        raise EndpointError("listeners names none for clients: add PLAINTEXT://HOST:PORT")
    if len(endpoints) > 1:
        names = ", ".join(each.name for each in endpoints)
        raise EndpointError(f"listeners names {names} for clients; one is served: keep one")
    _check_protocol(config, endpoints[0].name)
    _check_mentioned(config, endpoints[0].name)
    return endpoints[0]


def _check_protocol(config: BrokerConfig, name: str) -> None:
    protocol = _protocols(config).get(name)
    if protocol is None:
        raise EndpointError(f"listener {name} is not in listener.security.protocol.map: add it")
    if protocol != "PLAINTEXT":
        raise EndpointError(
            f"listener {name} asks for {protocol}, which is not served here yet; only PLAINTEXT is"
        )


def _check_mentioned(config: BrokerConfig, name: str) -> None:
    """Other settings name listeners, too; Kafka starts with none that is not there."""
    inter = config.get("inter.broker.listener.name")
    if inter is not None and inter.upper() != name:
        raise EndpointError(f"inter.broker.listener.name={inter}: listeners has only {name}")
    for early in config.get("early.start.listeners") or ():
        if early.upper() not in (name, *controller_names(config)):
            raise EndpointError(f"early.start.listeners={early}: listeners does not name it")


def _for_clients(config: BrokerConfig, endpoints: Iterable[NamedEndpoint]) -> list[NamedEndpoint]:
    controllers = controller_names(config)
    return [each for each in endpoints if each.name not in controllers]


def _protocols(config: BrokerConfig) -> dict[str, str]:
    text: str = config.get("listener.security.protocol.map")
    found = {}
    for pair in text.split(",") if text else ():
        name, colon, protocol = (part.strip().upper() for part in pair.partition(":"))
        if not colon or not name or protocol not in PROTOCOLS:
            raise EndpointError(
                f"listener.security.protocol.map={text}: expected NAME:PROTOCOL, with one of "
                f"{', '.join(PROTOCOLS)}"
            )
        found[name] = protocol
    return found
