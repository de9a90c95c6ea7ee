"""The brokers that are measured: encrypted, with logins, with access control, with an audit log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.peer import FLUSH_OFF, KAFKA, PENSTOCK, Peer
from penstock.cli.security.authority import Authority
from penstock.testing.port import free_port
from tools.apache_kafka import ApacheKafka
from tools.penstock_broker import Penstock

HOST = "127.0.0.1"
MECHANISM = "SCRAM-SHA-256"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class Keys:
    """Of one authority: the node's, and those of a client."""

    def __init__(self, folder: Path) -> None:
        authority = Authority.create()
        self.ca, self.node = folder / "ca.pem", folder / "node.pem"
        self.certificate, self.key = folder / "client.crt", folder / "client.key"
        client = authority.issue("bench")
        self.ca.write_text(authority.certificate)
        self.node.write_text(authority.issue("node", hosts=(HOST, "localhost")).keystore)
        self.certificate.write_text(client.certificate)
        self.key.write_text(client.key)

    def settings(self) -> dict[str, str]:
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.node),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.ca),
            "ssl.client.auth": "required",
        }

    def client(self) -> dict[str, str]:
        return {
            "security.protocol": "ssl",
            "ssl.ca.location": str(self.ca),
            "ssl.certificate.location": str(self.certificate),
            "ssl.key.location": str(self.key),
        }


@dataclass(frozen=True)
class Secured:
    """A broker with three listeners: in plain text, encrypted, with a login."""

    peer: Peer
    encrypted: str
    login: str


def _settings(keys: Keys, plain: str, encrypted: str, login: str) -> dict[str, str]:
    jaas = f"listener.name.sasl_plaintext.{MECHANISM.lower()}.sasl.jaas.config"
    return keys.settings() | {
        "listeners": f"PLAINTEXT://{plain},SSL://{encrypted},SASL_PLAINTEXT://{login}",
        "sasl.enabled.mechanisms": MECHANISM,
        jaas: f"{SCRAM_MODULE} required;",
    }


@contextmanager
def both(folder: Path, keys: Keys) -> Iterator[list[Secured]]:
    """Apache Kafka and Penstock, set up alike."""
    with ExitStack() as stack:
        encrypted, login = f"{HOST}:{free_port()}", f"{HOST}:{free_port()}"
        kafka = ApacheKafka(folder / "kafka")
        settings = _settings(keys, kafka.bootstrap_servers, encrypted, login)
        names = f"{settings['listeners']},CONTROLLER://{HOST}:{kafka.controller_port}"
        protocols = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT")
        kafka.settings |= settings | {
            "listeners": names,
            "advertised.listeners": names,
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,"
            + ",".join(f"{each}:{each}" for each in protocols),
        }
        stack.enter_context(kafka)
        secured = [Secured(Peer(KAFKA, kafka), encrypted, login)]
        port, encrypted, login = free_port(), f"{HOST}:{free_port()}", f"{HOST}:{free_port()}"
        settings = _settings(keys, f"{HOST}:{port}", encrypted, login)
        node = stack.enter_context(_node(folder, "penstock", port, settings))
        yield [*secured, Secured(Peer(PENSTOCK, node, FLUSH_OFF), encrypted, login)]


@contextmanager
def nodes(folder: Path, settings: Mapping[str, str]) -> Iterator[tuple[Peer, Peer]]:
    """Two nodes of Penstock, the second with these settings. New ones for each round: of the same
    program, one process may be a few percent quicker than another for as long as it lives."""
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        peers = []
        for name, more in (("without", {}), ("with", settings)):
            port = free_port()
            own = {"listeners": f"PLAINTEXT://{HOST}:{port}"} | dict(more)
            node = stack.enter_context(_node(folder, name, port, own))
            peers.append(Peer(name, node, FLUSH_OFF))
        yield peers[0], peers[1]


def _node(folder: Path, name: str, port: int, settings: Mapping[str, str]) -> Penstock:
    config = folder / f"{name}.properties"
    said = dict(settings) | {"log.dirs": str(folder / name)}
    config.write_text("".join(f"{key}={value}\n" for key, value in said.items()))
    return Penstock(folder / name, port=port, config=config)
