"""The same logins by hand, good and bad, on a node here and on Apache Kafka: what is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from penstock.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from penstock.protocol.messages.metadata import MetadataRequest
from penstock.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from penstock.security.plain import plain_token
from penstock.security.scram_client import ScramClient
from penstock.testing.port import HOST, free_port
from tests.security.sasl_kit import (
    ALICE,
    BOB,
    PLAIN_MODULE,
    SETTINGS,
    SaslWire,
    sasl_broker,
    set_password,
)
from tools import apache_kafka
from tools.brief_kafka import brief_kafka

METADATA = MetadataRequest(topics=[])
VERSIONS = ApiVersionsRequest(client_software_name="x", client_software_version="1")
CLOSED = "closed"
SECRET = {
    "delegation.token.secret.key": "of the cluster",
    "listener.name.sasl_plaintext.scram-sha-512.connections.max.reauth.ms": "60000",
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with sasl_broker(tmp_path_factory.mktemp("here"), SECRET) as running:
        yield running.secured


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if (reason := apache_kafka.missing_prerequisite()) is not None:
        pytest.skip(reason)
    secured = f"{HOST}:{free_port()}"
    data: Path = tmp_path_factory.mktemp("there") / "data"
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    settings = {key: str(value) for key, value in (SETTINGS | SECRET).items()}
    settings |= {
        f"listener.name.sasl_plaintext.{kind}.sasl.jaas.config": scram
        for kind in ("scram-sha-256", "scram-sha-512")
    }
    broker = brief_kafka(data, settings)
    plain = f"PLAINTEXT://{broker.bootstrap_servers}"
    both = f"{plain},SASL_PLAINTEXT://{secured}"
    broker.settings |= {
        "listeners": f"{both},CONTROLLER://{HOST}:{broker.controller_port}",
        "advertised.listeners": both,
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"
        ),
        "inter.broker.listener.name": "PLAINTEXT",
    }
    assert PLAIN_MODULE in broker.settings["listener.name.sasl_plaintext.plain.sasl.jaas.config"]
    with broker:
        set_password(broker.bootstrap_servers, *ALICE)
        yield secured


def said(call: Callable[[], Any], *fields: str) -> Any:
    """What was answered, field by field, or that nothing was."""
    try:
        answer = call()
    except ConnectionError:
        return CLOSED
    return tuple(getattr(answer, field) for field in fields)


def handshake(wire: SaslWire, mechanism: str, version: int = 1) -> Any:
    return said(lambda: wire.handshake(mechanism, version), "error_code", "mechanisms")


def sent(wire: SaslWire, data: bytes, version: int = 2) -> Any:
    return said(
        lambda: wire.token(data, version),
        "error_code",
        "error_message",
        "auth_bytes",
        "session_lifetime_ms",
    )


def end(wire: SaslWire) -> Any:
    return CLOSED if wire.is_closed() else "open"


def metadata(wire: SaslWire) -> Any:
    return said(lambda: wire.call(METADATA, 12), "throttle_time_ms")


def scram(
    wire: SaslWire, name: str, password: str, change: tuple[bytes, bytes] = (b"", b"")
) -> Any:
    client = ScramClient("SCRAM-SHA-512", name, password, lambda: "abc")
    wire.handshake("SCRAM-SHA-512")
    first = wire.token(client.first())
    if first.error_code:
        return first.error_code, first.error_message
    final = client.final(first.auth_bytes).replace(*change)
    answer = said(lambda: wire.token(final), "error_code", "error_message", "session_lifetime_ms")
    return answer, metadata(wire) if answer[0] == 0 else end(wire)


def plain(wire: SaslWire, data: bytes) -> Any:
    wire.handshake("PLAIN")
    answer = sent(wire, data)
    return answer, metadata(wire) if answer[0] == 0 else end(wire)


def raw(wire: SaslWire, data: bytes) -> Any:
    wire.handshake("PLAIN", 0)
    try:
        return wire.raw_token(data), metadata(wire)
    except ConnectionError:
        return CLOSED


def after(*steps: Callable[[SaslWire], Any]) -> Callable[[SaslWire], Any]:
    return lambda wire: [step(wire) for step in steps]


def versions(wire: SaslWire) -> Any:
    return said(lambda: wire.call(VERSIONS, 3), "error_code")


def again(wire: SaslWire) -> Any:
    """A second login on a session that ends."""
    client = ScramClient("SCRAM-SHA-512", *ALICE, lambda: "xyz")
    begun = handshake(wire, "SCRAM-SHA-512")
    final = client.final(wire.token(client.first()).auth_bytes)
    return begun, said(lambda: wire.token(final), "error_code", "session_lifetime_ms")


def of_tokens(wire: SaslWire) -> Any:
    made = wire.call(CreateDelegationTokenRequest(max_lifetime_ms=500_000), 3)
    fields = ("error_code", "principal_name", "token_requester_principal_name")
    lasts = (made.max_timestamp_ms - made.issue_timestamp_ms, len(made.hmac), len(made.token_id))
    renew = RenewDelegationTokenRequest(hmac=made.hmac, renew_period_ms=1000)
    deadline = time.monotonic() + 30
    # Kafka's controller finds a token once it has read its own record.
    while (renewed := wire.call(renew, 2)).error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND:
        assert time.monotonic() < deadline
    unknown = wire.call(RenewDelegationTokenRequest(hmac=b"x"), 2)
    ended = wire.call(ExpireDelegationTokenRequest(hmac=made.hmac, expiry_time_period_ms=-1), 2)
    codes = [each.error_code for each in (renewed, unknown, ended)]
    return [getattr(made, field) for field in fields], lasts, codes


def ask(request: Any, version: int) -> Callable[[SaslWire], Any]:
    return lambda wire: said(lambda: wire.call(request, version), "error_code")


ALICE_IN = lambda wire: scram(wire, *ALICE)  # noqa: E731

CASES: dict[str, Callable[[SaslWire], Any]] = {
    "scram": ALICE_IN,
    "scram, wrong password": lambda wire: scram(wire, ALICE[0], "x"),
    "scram, another nonce": lambda wire: scram(wire, *ALICE, (b",r=abc", b",r=abd")),
    "scram, no proof": lambda wire: scram(wire, *ALICE, (b",p=", b",q=")),
    "scram, nonsense first": after(
        lambda wire: handshake(wire, "SCRAM-SHA-256"), lambda wire: sent(wire, b"hello"), end
    ),
    "scram, channel binding asked for": after(
        lambda wire: handshake(wire, "SCRAM-SHA-256"),
        lambda wire: sent(wire, b"y,,n=alice,r=abc"),
        end,
    ),
    "plain": lambda wire: plain(wire, plain_token(*BOB)),
    "plain, wrong password": lambda wire: plain(wire, plain_token(BOB[0], "x")),
    "plain, nobody": lambda wire: plain(wire, plain_token("nobody", "x")),
    "plain, no name": lambda wire: plain(wire, plain_token("", "x")),
    "plain, no password": lambda wire: plain(wire, plain_token("bob", "")),
    "plain, two parts": lambda wire: plain(wire, b"a\0b"),
    "plain, five parts": lambda wire: plain(wire, b"a\0b\0c\0d\0e"),
    "plain, another's name": lambda wire: plain(wire, b"root" + plain_token(*BOB)),
    "plain, the own name": lambda wire: plain(wire, BOB[0].encode() + plain_token(*BOB)),
    "tokens without headers": lambda wire: raw(wire, plain_token(*BOB)),
    "tokens without headers, wrong": lambda wire: raw(wire, plain_token(BOB[0], "x")),
    "version 0 of SaslAuthenticate": after(
        lambda wire: handshake(wire, "PLAIN"), lambda wire: sent(wire, plain_token(*BOB), 0)
    ),
    "GSSAPI": after(lambda wire: handshake(wire, "GSSAPI"), end),
    "a mechanism of no name": after(lambda wire: handshake(wire, ""), end),
    "versions first": after(versions, ALICE_IN),
    "versions twice": after(versions, versions),
    "versions after the handshake": after(lambda wire: handshake(wire, "PLAIN"), versions),
    "a request first": metadata,
    "a token first": lambda wire: sent(wire, plain_token(*BOB)),
    "two handshakes": after(
        lambda wire: handshake(wire, "PLAIN"), lambda wire: handshake(wire, "PLAIN"), end
    ),
    "a login again, on a session without an end": after(
        lambda wire: plain(wire, plain_token(*BOB)), lambda wire: handshake(wire, "PLAIN"), metadata
    ),
    "a token again": after(
        lambda wire: plain(wire, plain_token(*BOB)), lambda wire: sent(wire, b"x"), metadata
    ),
    "a login again, on a session that ends": after(ALICE_IN, again, metadata),
    "a login again, too soon": after(
        ALICE_IN, again, lambda wire: handshake(wire, "SCRAM-SHA-512")
    ),
    "a login again, by another mechanism": after(
        ALICE_IN, lambda wire: handshake(wire, "PLAIN"), lambda wire: sent(wire, plain_token(*BOB))
    ),
    "delegation tokens": after(ALICE_IN, of_tokens),
}


@pytest.mark.java
def test_both_answer_the_same(here: str, there: str) -> None:
    differ = {}
    for what, case in CASES.items():
        found = []
        for address in (here, there):
            with SaslWire(address, timeout_s=30) as wire:
                found.append(case(wire))
        if found[0] != found[1]:
            differ[what] = found
    assert differ == {}
