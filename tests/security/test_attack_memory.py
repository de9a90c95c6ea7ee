"""Thousands who are not let in leave nothing behind in the node."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from penstock.cli.security.authority import Authority
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest
from penstock.security.plain import plain_token
from penstock.testing.port import HOST, free_port
from tests.node.test_network_limits import MB, rss_bytes
from tests.patience import wait_until
from tests.security.sasl_kit import SaslBroker, SaslWire
from tests.security.tls_kit import PATIENCE_S, Keys, address_of, asks

WARM_UP = 150
ATTEMPTS = 600
GROWTH_MAX = 4 * MB
"""Seven KB kept of each attempt would be more. Allocators keep a little by themselves."""


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, keys: Keys) -> Iterator[SaslBroker]:
    folder = tmp_path_factory.mktemp("attacked")
    settings = keys.node_settings | {
        "connection.failed.authentication.delay.ms": 1,
        "listener.name.ssl.ssl.client.auth": "required",
    }
    broker = SaslBroker(folder, settings)
    broker.settings["listeners"] += f",SSL://{HOST}:{free_port()}"
    with broker:
        yield broker


Attempt = Callable[[int], None]


def wrong_passwords(broker: SaslBroker) -> Attempt:
    """Of another nobody each time."""

    def attempt(number: int) -> None:
        with SaslWire(broker.secured) as wire:
            wire.login_scram("SCRAM-SHA-256", f"nobody-{number}", "guess")

    return attempt


def broken_frames(broker: SaslBroker) -> Attempt:
    def attempt(number: int) -> None:
        with SaslWire(broker.secured) as wire, suppress(ConnectionError):
            wire.send(ApiVersionsRequest(), 0)
            wire.send(
                SaslHandshakeRequest(mechanism=f"NONE-{number}" if number % 2 else "PLAIN"), 1
            )
            token = plain_token(f"nobody-{number}", "x" * 10_000)
            wire.send(SaslAuthenticateRequest(auth_bytes=token[: 10 * number]), 2)
            wire.sock.sendall(os.urandom(200))
            wire.is_closed()

    return attempt


def other_certificates(broker: SaslBroker, keys: Keys) -> Attempt:
    stranger = keys.pair("stranger", Authority.create().issue("alice"))
    contexts = (keys.context(stranger), keys.context())

    def attempt(number: int) -> None:
        with suppress(ssl.SSLError, ConnectionError):
            asks(address_of(broker, "SSL"), contexts[number % 2])

    return attempt


def half_handshakes(broker: SaslBroker, keys: Keys) -> Attempt:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    hello = keys.context().wrap_bio(incoming, outgoing, server_hostname=HOST)
    with suppress(ssl.SSLWantReadError):
        hello.do_handshake()
    said = outgoing.read()

    def attempt(number: int) -> None:
        with socket.create_connection(address_of(broker, "SSL"), PATIENCE_S) as sock:
            sock.sendall(said[: len(said) - number % 3])

    return attempt


@pytest.mark.parametrize("kind", ["passwords", "frames", "certificates", "handshakes"])
def test_nothing_is_left(broker: SaslBroker, keys: Keys, kind: str) -> None:
    attempt = {
        "passwords": lambda: wrong_passwords(broker),
        "frames": lambda: broken_frames(broker),
        "certificates": lambda: other_certificates(broker, keys),
        "handshakes": lambda: half_handshakes(broker, keys),
    }[kind]()
    for number in range(WARM_UP):
        attempt(number)
    before = rss_bytes(broker.pid)
    for number in range(WARM_UP, WARM_UP + ATTEMPTS):
        attempt(number)
    wait_until(lambda: rss_bytes(broker.pid) - before < GROWTH_MAX, "it grows with each attempt")
