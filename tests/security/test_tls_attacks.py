"""Whoever is not let in: no way in, a clear end, one line in the log, and nobody else suffers."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.cli.security.authority import Authority
from penstock.testing.broker import Broker
from penstock.testing.port import HOST, free_port
from tests.patience import wait_until
from tests.security.tls_kit import (
    API_VERSIONS,
    PATIENCE_S,
    Keys,
    address_of,
    asks,
    ends,
    servers_of,
    tls_broker,
)

CORRELATION = b"\0\0\0\7"
MORE = ("ASKED", "NEW")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, keys: Keys) -> Iterator[Broker]:
    rules = "RULE:^CN=([a-z]+),OU=payments,.*$/$1/U,RULE:^CN=bob,.*$/robert/"
    settings: dict[str, object] = {
        "ssl.principal.mapping.rules": rules,
        "listener.security.protocol.map": "SSL:SSL,MUTUAL:SSL,LOGIN:SASL_SSL,ASKED:SSL,NEW:SSL",
        "listener.name.asked.ssl.client.auth": "requested",
        "listener.name.new.ssl.enabled.protocols": "TLSv1.3",
    }
    made = tls_broker(tmp_path_factory.mktemp("broker"), keys, settings)
    made.settings["listeners"] += "".join(f",{name}://{HOST}:{free_port()}" for name in MORE)
    with made as running:
        yield running


def is_refused(broker: Broker, context: ssl.SSLContext, listener: str = "MUTUAL") -> str:
    """Why; in TLS 1.3 a client learns of it only when it asks something."""
    try:
        answer = asks(address_of(broker, listener), context)
    except (ssl.SSLError, ConnectionError) as error:
        return str(error)
    assert not answer, "let in"
    return "closed"


def test_whoever_has_a_certificate_of_the_ca_is_let_in(broker: Broker, keys: Keys) -> None:
    answer = asks(address_of(broker, "MUTUAL"), keys.context(keys.client))
    assert answer[4:8] == CORRELATION


def test_no_certificate(broker: Broker, keys: Keys) -> None:
    assert is_refused(broker, keys.context())
    wait_until(lambda: "peer did not return a certificate" in broker.log, "nothing logged")
    assert asks(address_of(broker, "SSL"), keys.context())[4:8] == CORRELATION


def test_a_certificate_of_another_ca(broker: Broker, keys: Keys) -> None:
    stranger = Authority.create("Penstock playground CA").issue("alice", units=("payments",))
    assert is_refused(broker, keys.context(keys.pair("stranger", stranger)))


def test_a_certificate_that_is_only_asked_for(broker: Broker, keys: Keys) -> None:
    """None will do; one that is shown has to be good."""
    for context in (keys.context(), keys.context(keys.client)):
        assert asks(address_of(broker, "ASKED"), context)[4:8] == CORRELATION
    stranger = keys.pair("asked", Authority.create().issue("alice", units=("payments",)))
    assert is_refused(broker, keys.context(stranger), "ASKED")


def test_a_listener_that_speaks_the_newest_alone(broker: Broker, keys: Keys) -> None:
    context = keys.context()
    assert asks(address_of(broker, "NEW"), context)[4:8] == CORRELATION
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert is_refused(broker, context, "NEW")


def test_a_certificate_that_has_expired(broker: Broker, keys: Keys) -> None:
    old = keys.authority.issue("alice", units=("payments",), valid=timedelta(hours=-1))
    assert is_refused(broker, keys.context(keys.pair("old", old)))
    wait_until(lambda: "certificate has expired" in broker.log, "nothing logged")


def test_a_certificate_of_nobody(broker: Broker, keys: Keys) -> None:
    """It is valid, and no rule applies."""
    assert is_refused(broker, keys.context(keys.pair("carol", keys.authority.issue("carol"))))
    wait_until(lambda: "no rules apply to CN=carol,O=Penstock playground" in broker.log, "not said")


def test_a_node_of_another_ca_is_refused_by_the_client(broker: Broker, tmp_path: Path) -> None:
    other = Keys(tmp_path / "other")
    with pytest.raises(ssl.SSLCertVerificationError):
        asks(address_of(broker, "SSL"), other.context())


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_older_versions(broker: Broker, keys: Keys, version: ssl.TLSVersion) -> None:
    context = keys.context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    with pytest.raises(ssl.SSLError):
        asks(address_of(broker, "SSL"), context)
    wait_until(lambda: "unsupported protocol" in broker.log, "nothing logged")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_versions_that_are_safe(broker: Broker, keys: Keys, version: ssl.TLSVersion) -> None:
    context = keys.context(keys.client)
    context.minimum_version = context.maximum_version = version
    assert asks(address_of(broker, "MUTUAL"), context)[4:8] == CORRELATION


def test_plain_text_ends_at_once_and_is_logged_once(broker: Broker) -> None:
    for said in (API_VERSIONS, b"GET / HTTP/1.1\r\n\r\n", API_VERSIONS):
        with socket.create_connection(address_of(broker, "SSL"), PATIENCE_S) as sock:
            sock.sendall(said)
            assert not ends(sock), "not a word of Kafka's protocol"
    wait_until(lambda: "plain text on an encrypted listener" in broker.log, "nothing logged")
    assert broker.log.count("plain text on an encrypted listener") == 1


def test_garbage_instead_of_a_handshake(broker: Broker, keys: Keys) -> None:
    client_hello = b"\x16\x03\x01"
    for said in (
        client_hello + b"\xff\xff" + os.urandom(20_000),
        client_hello + b"\x00\x10" + os.urandom(16),
        b"\x16\x03\x03\x00\x00" * 2000,
        b"\x15\x03\x03\x00\x02\x02\x28",
        os.urandom(100_000),
    ):
        with socket.create_connection(address_of(broker, "SSL"), PATIENCE_S) as sock:
            try:
                sock.sendall(said)
                # Half a record is waited for: this side ends it then.
                sock.shutdown(socket.SHUT_WR)
            except OSError:
                continue  # ended before all of it was said
            ends(sock)
    assert asks(address_of(broker, "SSL"), keys.context())[4:8] == CORRELATION


def test_those_who_stop_in_mid_handshake_hold_nobody_up(broker: Broker, keys: Keys) -> None:
    """More of them than there may be at once: the oldest go, and whoever is quick gets through."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    hello = keys.context().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with pytest.raises(ssl.SSLWantReadError):
        hello.do_handshake()
    first_words = outgoing.read()
    stuck = []
    try:
        for number in range(1100):
            sock = socket.create_connection(address_of(broker, "SSL"), PATIENCE_S)
            stuck.append(sock)
            sock.sendall(first_words if number % 2 else first_words[:50])
            if number % 275 == 0:
                assert asks(address_of(broker, "SSL"), keys.context())[4:8] == CORRELATION
        ends(stuck[0])
        assert asks(address_of(broker, "SSL"), keys.context())[4:8] == CORRELATION
        wait_until(lambda: "too many handshakes at once" in broker.log, "nothing logged")
    finally:
        for sock in stuck:
            sock.close()


def test_renegotiation_is_refused(broker: Broker) -> None:
    """`R` has openssl ask for it; TLS 1.2 alone knows it."""
    done = subprocess.run(
        ["openssl", "s_client", "-tls1_2", "-connect", servers_of(broker, "SSL")],
        input="R\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert "RENEGOTIATING" in done.stdout + done.stderr
    assert done.returncode != 0


def test_nothing_was_unexpected(broker: Broker) -> None:
    assert "ERROR" not in broker.log
