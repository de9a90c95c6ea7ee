"""Which addresses a settings file in Kafka's form names: where to listen, and what to tell clients.

One listener for clients is served, in plain text. A file that asks for more is refused by name: a
listener that was meant to be encrypted must never open in plain text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from penstock.model.error import PenstockError
from penstock.settings.config import BrokerConfig

ANY_HOST = "0.0.0.0"


class EndpointError(PenstockError):
    """A setting asks for something this node does not do."""


class NamedEndpoint(NamedTuple):
    name: str
    address: str


def listener_of(config: BrokerConfig) -> str | None:
    """The address of the listener for clients; None where the settings name none."""
    endpoint = _listener(config)
    return None if endpoint is None else endpoint.address


def advertised_of(config: BrokerConfig) -> str | None:
    if not config.is_set("advertised.listeners"):
        return None
    endpoints = _for_clients(config, config.advertised_listeners)
    listener = _listener(config)
    same = [each for each in endpoints if listener is not None and each.name == listener.name]
    chosen = same or endpoints
    return chosen[0].address if chosen else None


def data_dir_of(config: BrokerConfig) -> str | None:
    if not (config.is_set("log.dirs") or config.is_set("log.dir")):
        return None
    directories = config.log_dirs
    if len(directories) > 1:
        raise EndpointError(f"log.dirs names {len(directories)} directories; one is used: name one")
    return directories[0]


def _listener(config: BrokerConfig) -> NamedEndpoint | None:
    if not config.is_set("listeners"):
        return None
    endpoints = _for_clients(config, config.listeners)
    if not endpoints:
        raise EndpointError("listeners names none for clients: add PLAINTEXT://HOST:PORT")
    if len(endpoints) > 1:
        names = ", ".join(each.name for each in endpoints)
        raise EndpointError(f"listeners names {names} for clients; one is served: keep one")
    name, address = endpoints[0]
    protocol = _protocols(config).get(name, name)
    if protocol != "PLAINTEXT":
        raise EndpointError(f"listener {name} asks for {protocol}; only PLAINTEXT is served")
    host, _, port = address.rpartition(":")
    # As with Kafka: no host means every interface.
    return NamedEndpoint(name, f"{host or ANY_HOST}:{port}")


def _for_clients(config: BrokerConfig, texts: Iterable[str]) -> list[NamedEndpoint]:
    controllers = {"CONTROLLER", *(config.get("controller.listener.names") or ())}
    found = []
    for text in texts:
        name, separator, address = text.partition("://")
        endpoint = NamedEndpoint(name, address) if separator else NamedEndpoint("PLAINTEXT", text)
        if endpoint.name not in controllers:
            found.append(endpoint)
    return found


def _protocols(config: BrokerConfig) -> dict[str, str]:
    text: str = config.get("listener.security.protocol.map")
    pairs = (each.partition(":") for each in text.split(","))
    return {name.strip(): protocol.strip() for name, _, protocol in pairs}
