"""The files of a secure cluster on this machine: an authority, nodes, clients, and their settings.

Only texts and names: whoever asks for them writes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from penstock.cli.local.layout import HOST, LocalNode, plan_nodes, replica_settings
from penstock.cli.security.authority import Authority

LISTENER = "SSL"
LOGIN = "LOGIN"
LOGIN_PORT_OFFSET = 200
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_MAP = "listener.security.protocol.map"
RULES = "RULE:^CN=(.*?),.*$/$1/"
"""A certificate of CN=alice is the principal User:alice."""


class File(NamedTuple):
    path: Path
    text: str
    is_secret: bool


class Wanted(NamedTuple):
    """Beyond encryption."""

    logins: bool = False
    acls: bool = False
    audit: bool = False


ENCRYPTION_ALONE = Wanted()


class Playground:
    """With ACLs the first client is the one that may do everything."""

    def __init__(
        self,
        folder: Path,
        nodes: int,
        clients: Sequence[str],
        hosts: Sequence[str],
        port: int,
        wanted: Wanted = ENCRYPTION_ALONE,
    ) -> None:
        self.folder = folder
        self.nodes = plan_nodes(nodes, port)
        self._clients = clients
        self._hosts = ("localhost", HOST, *hosts)
        self._wanted = wanted

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(node.address for node in self.nodes)

    @property
    def login_servers(self) -> str:
        return ",".join(_login_address(node) for node in self.nodes)

    def config_of(self, node: LocalNode) -> Path:
        return self.folder / f"node-{node.id}.properties"

    def client_settings(self, client: str) -> dict[str, str]:
        """In librdkafka's names, as `-X` and profiles take them."""
        return {
            "security.protocol": "ssl",
            "ssl.ca.location": str(self.folder / "ca.crt"),
            "ssl.certificate.location": str(self.folder / f"{client}.crt"),
            "ssl.key.location": str(self.folder / f"{client}.key"),
        }

    def files(self, authority: Authority) -> Iterator[File]:
        folder = self.folder
        yield File(folder / "ca.crt", authority.certificate, False)
        yield File(folder / "ca.key", authority.own.key, True)
        for node in self.nodes:
            issued = authority.issue(f"node-{node.id}", hosts=self._hosts)
            yield File(folder / f"node-{node.id}.pem", issued.keystore, True)
            yield File(self.config_of(node), properties_text(self._settings(node)), False)
        for client in self._clients:
            issued = authority.issue(client)
            yield File(folder / f"{client}.crt", issued.certificate, False)
            yield File(folder / f"{client}.key", issued.key, True)
            yield File(folder / f"{client}.pem", issued.keystore, True)
            yield File(
                folder / f"{client}.properties", properties_text(self._java_settings(client)), False
            )

    def _settings(self, node: LocalNode) -> dict[str, str]:
        return (
            self._place(node)
            | self._more()
            | {
                "log.dirs": str(self.folder / f"node-{node.id}-data"),
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": str(self.folder / f"node-{node.id}.pem"),
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(self.folder / "ca.crt"),
                "ssl.client.auth": "required",
                "ssl.principal.mapping.rules": RULES,
            }
        )

    def _more(self) -> dict[str, str]:
        more: dict[str, str] = {}
        if self._wanted.logins:
            more["sasl.enabled.mechanisms"] = "SCRAM-SHA-512"
            more[f"listener.name.{LOGIN.lower()}.ssl.client.auth"] = "none"
        if self._wanted.acls:
            named = [self._clients[0], *(f"node-{node.id}" for node in self.nodes)]
            more["authorizer.class.name"] = AUTHORIZER
            more["super.users"] = ";".join(f"User:{name}" for name in named)
        if self._wanted.audit:
            more["penstock.audit.topic.enable"] = "true"
        return more

    def _place(self, node: LocalNode) -> dict[str, str]:
        listeners = [f"{LISTENER}://{node.address}"]
        protocols = f"{LISTENER}:SSL"
        if self._wanted.logins:
            listeners.append(f"{LOGIN}://{_login_address(node)}")
            protocols += f",{LOGIN}:SASL_SSL"
        if len(self.nodes) == 1:
            place = {"listeners": ",".join(listeners)}
            return place | ({_MAP: protocols} if self._wanted.logins else {})
        voters = [each for each in self.nodes if each.controller_port is not None]
        if node.controller_port is not None:
            listeners.append(f"CONTROLLER://{node.controller_address}")
        return {
            "process.roles": node.roles,
            "node.id": str(node.id),
            "controller.quorum.voters": ",".join(
                f"{each.id}@{each.controller_address}" for each in voters
            ),
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join(listeners),
            _MAP: f"{protocols},CONTROLLER:SSL",
            "inter.broker.listener.name": LISTENER,
        } | replica_settings(len(self.nodes))

    def _java_settings(self, client: str) -> dict[str, str]:
        return {
            "bootstrap.servers": self.bootstrap_servers,
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.folder / "ca.crt"),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.folder / f"{client}.pem"),
        }


def _login_address(node: LocalNode) -> str:
    host, _, port = node.address.rpartition(":")
    return f"{host}:{int(port) + LOGIN_PORT_OFFSET}"


def properties_text(settings: Mapping[str, str]) -> str:
    """A backslash is written twice, as in any file of this form."""
    lines = (f"{key}={value}".replace("\\", "\\\\") for key, value in settings.items())
    return "# Written by `penstock security init`.\n" + "".join(f"{line}\n" for line in lines)
