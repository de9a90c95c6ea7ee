"""Certificates, a broker with encrypted listeners, and clients of it that misbehave."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

from penstock.cli.security.authority import Authority, Issued
from penstock.testing.broker import Broker
from penstock.testing.port import HOST, free_port

PATIENCE_S = 60.0
LOGINS = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="node" password="n" user_alice="hush";'
)


class Keys:
    """A CA, a node and a client of it, as files."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.authority = Authority.create()
        self.ca = self.write("ca.pem", self.authority.certificate)
        self.node = self.write(
            "node.pem", self.authority.issue("node", hosts=("localhost", HOST)).keystore
        )
        self.client = self.pair("alice", self.authority.issue("alice", units=("payments",)))

    def write(self, name: str, text: str) -> Path:
        """At once, so that nobody reads half of it."""
        path = self.folder / name
        new = path.with_suffix(".new")
        new.write_text(text)
        return new.replace(path)

    def pair(self, name: str, issued: Issued) -> tuple[Path, Path]:
        return (
            self.write(f"{name}.crt", issued.certificate),
            self.write(f"{name}.key", issued.key),
        )

    @property
    def node_settings(self) -> dict[str, object]:
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": self.node,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.ca,
        }

    def librdkafka(self, pair: tuple[Path, Path] | None = None) -> dict[str, str]:
        settings = {"security.protocol": "ssl", "ssl.ca.location": str(self.ca)}
        if pair is not None:
            settings["ssl.certificate.location"] = str(pair[0])
            settings["ssl.key.location"] = str(pair[1])
        return settings

    def context(self, pair: tuple[Path, Path] | None = None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.ca))
        if pair is not None:
            context.load_cert_chain(*map(str, pair))
        return context


def tls_broker(
    folder: Path, keys: Keys, settings: dict[str, object], kind: type[Broker] = Broker
) -> Broker:
    """`SSL` asks for no certificate, `MUTUAL` for one, and `LOGIN` for a password instead."""
    names = ("SSL", "MUTUAL", "LOGIN")
    own: dict[str, object] = {
        "listeners": ",".join(f"{name}://{HOST}:{free_port()}" for name in names),
        "listener.security.protocol.map": "SSL:SSL,MUTUAL:SSL,LOGIN:SASL_SSL",
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.login.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.login.plain.sasl.jaas.config": LOGINS,
    }
    return kind(folder / "data", {**own, **keys.node_settings, **settings})


def address_of(broker: Broker, listener: str) -> tuple[str, int]:
    for text in broker.settings["listeners"].split(","):
        name, _, address = text.partition("://")
        if name == listener:
            host, _, port = address.rpartition(":")
            return host, int(port)
    raise KeyError(listener)


def servers_of(broker: Broker, listener: str) -> str:
    host, port = address_of(broker, listener)
    return f"{host}:{port}"


def ends(sock: socket.socket) -> bytes:
    """What the other side still says, until it has ended the connection."""
    sock.settimeout(PATIENCE_S)
    said = b""
    try:
        while data := sock.recv(65536):
            said += data
    except ConnectionResetError:
        pass
    return said


API_VERSIONS = bytes.fromhex("0000001300120000000000070009") + b"tls-check"
"""A request, version 0, as any client begins; framed."""


def asks(address: tuple[str, int], context: ssl.SSLContext) -> bytes:
    """The beginning of the answer to a request on a connection of its own."""
    with (
        socket.create_connection(address, PATIENCE_S) as raw,
        context.wrap_socket(raw, server_hostname=address[0]) as sock,
    ):
        sock.settimeout(PATIENCE_S)
        sock.sendall(API_VERSIONS)
        return sock.recv(8)
