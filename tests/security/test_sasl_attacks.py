"""Ways in without a password, over a real connection: none of them is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.frame import encode_request
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.create_topics import CreateTopicsRequest
from penstock.protocol.messages.fetch import FetchRequest
from penstock.protocol.messages.metadata import MetadataRequest
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest
from penstock.security.plain import plain_token
from penstock.security.scram_client import ScramClient
from tests.security.sasl_kit import ALICE, BOB, SaslBroker, SaslWire, is_served, sasl_broker

METADATA = MetadataRequest(topics=None)
VERSIONS = ApiVersionsRequest(client_software_name="x", client_software_version="1")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SaslBroker]:
    folder = tmp_path_factory.mktemp("sasl")
    quick = {"connection.failed.authentication.delay.ms": 1}
    with sasl_broker(folder, quick) as running:
        yield running
        assert "request failed" not in running.log
        assert "Traceback" not in running.log


@pytest.fixture
def wire(broker: SaslBroker) -> Iterator[SaslWire]:
    with SaslWire(broker.secured) as wire:
        yield wire


@pytest.mark.parametrize("is_told_versions", [False, True])
@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (METADATA, 12),
        (FetchRequest(), 12),
        (CreateTopicsRequest(), 7),
        (SaslAuthenticateRequest(auth_bytes=plain_token(*BOB)), 2),
    ],
)
def test_requests_before_the_handshake(
    wire: SaslWire, is_told_versions: bool, request_: Entity, version: int
) -> None:
    if is_told_versions:
        assert wire.call(VERSIONS, 3).error_code == 0
    assert not is_served(wire, request_, version)


def test_requests_in_the_middle_of_a_login(wire: SaslWire) -> None:
    client = ScramClient("SCRAM-SHA-256", *ALICE, lambda: "abc")
    wire.handshake("SCRAM-SHA-256")
    assert wire.token(client.first()).error_code == 0
    assert not is_served(wire, METADATA, 12)


def test_requests_sent_along_with_a_login_that_fails(wire: SaslWire) -> None:
    """What came in one piece with the wrong password is never begun."""
    wire.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    wire.send(SaslAuthenticateRequest(auth_bytes=plain_token(BOB[0], "wrong")), 2)
    wire.send(METADATA, 12)
    assert wire.receive().error_code == 0
    assert wire.receive().error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert wire.is_closed()


def test_requests_sent_along_with_a_login_that_succeeds(wire: SaslWire) -> None:
    wire.send(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    wire.send(SaslAuthenticateRequest(auth_bytes=plain_token(*BOB)), 2)
    wire.send(METADATA, 12)
    assert wire.receive().error_code == wire.receive().error_code == 0
    assert wire.receive().brokers


def test_logins_by_hand_in_all_ways(broker: SaslBroker) -> None:
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        with SaslWire(broker.secured) as wire:
            assert wire.login_scram(mechanism, *ALICE).error_code == 0
            assert is_served(wire, METADATA, 12)
            again = wire.handshake(mechanism)
            assert again.error_code == ErrorCode.ILLEGAL_SASL_STATE
    with SaslWire(broker.secured) as wire:
        wire.handshake("PLAIN", version=0)
        assert wire.raw_token(plain_token(*BOB)) == b""
        assert is_served(wire, METADATA, 12)


def test_a_mechanism_of_no_use(wire: SaslWire) -> None:
    told = wire.handshake("GSSAPI")
    assert told.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert told.mechanisms == ["SCRAM-SHA-512", "PLAIN", "SCRAM-SHA-256"]
    assert wire.is_closed()


@pytest.mark.parametrize("size", [524_289, 2**31 - 1, 0, -1])
def test_frames_of_a_size_that_no_login_has(wire: SaslWire, size: int) -> None:
    wire.sock.sendall(size.to_bytes(4, "big", signed=True) + b"x" * 100)
    assert wire.is_closed()


def test_a_large_token_is_refused_and_a_large_request_of_somebody_known_is_not(
    wire: SaslWire, broker: SaslBroker
) -> None:
    wire.handshake("PLAIN")
    wire.send(SaslAuthenticateRequest(auth_bytes=b"\0bob\0" + b"x" * 600_000), 2)
    assert wire.is_closed()
    with SaslWire(broker.secured) as other:
        other.handshake("PLAIN")
        assert other.token(plain_token(*BOB)).error_code == 0
        padded = MetadataRequest(topics=None)
        data = encode_request(99, 12, padded, "x" * 30_000)
        data = (len(data) - 4 + 600_000).to_bytes(4, "big") + data[4:] + b"\0" * 600_000
        other.sock.sendall(data)
        assert other.receive_frame()[:4] == (99).to_bytes(4, "big")


def test_who_is_not_there_is_told_the_same_as_who_guesses(broker: SaslBroker) -> None:
    answers = []
    for name in (ALICE[0], "nobody"):
        with SaslWire(broker.secured) as wire:
            answer = wire.login_scram("SCRAM-SHA-512", name, "guess")
            answers.append((answer.error_code, answer.error_message, answer.auth_bytes))
            assert wire.is_closed()
    assert answers[0] == answers[1]
    assert answers[0][0] == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert answers[0][1] == (
        "Authentication failed during authentication due to invalid credentials with SASL "
        "mechanism SCRAM-SHA-512"
    )


def broken_finals() -> dict[str, tuple[bytes, bytes]]:
    """What is replaced in the final message, and by what."""
    return {
        "another nonce": (b",r=abc", b",r=xyz"),
        "a nonce before the nonce": (b",r=", b",r=x"),
        "another proof": (b",p=", b",p=AAAA"),
        "no proof": (b",p=", b",q="),
        "another binding": (b"c=biws", b"c=eSws"),
    }


@pytest.mark.parametrize("what", broken_finals())
def test_final_messages_that_were_changed(wire: SaslWire, what: str) -> None:
    client = ScramClient("SCRAM-SHA-256", *ALICE, lambda: "abc")
    wire.handshake("SCRAM-SHA-256")
    final = client.final(wire.token(client.first()).auth_bytes)
    old, new = broken_finals()[what]
    assert old in final
    assert wire.token(final.replace(old, new)).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert wire.is_closed()


def test_a_login_that_was_overheard_is_not_good_twice(broker: SaslBroker) -> None:
    """The server's nonce is another each time."""
    client = ScramClient("SCRAM-SHA-256", *ALICE, lambda: "abc")
    with SaslWire(broker.secured) as wire:
        wire.handshake("SCRAM-SHA-256")
        final = client.final(wire.token(client.first()).auth_bytes)
        assert wire.token(final).error_code == 0
    with SaslWire(broker.secured) as wire:
        wire.handshake("SCRAM-SHA-256")
        wire.token(client.first())
        assert wire.token(final).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED


def test_nobody_becomes_another_by_asking(wire: SaslWire) -> None:
    wire.handshake("PLAIN")
    answer = wire.token(b"admin" + plain_token(*BOB))
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert "authorization id" in answer.error_message


FRAMES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            encode_request(1, 1, SaslHandshakeRequest(mechanism="PLAIN"), None)[4:],
            encode_request(1, 0, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), None)[4:],
            encode_request(1, 3, VERSIONS, None)[4:],
            encode_request(1, 2, SaslAuthenticateRequest(auth_bytes=b"\0a\0b"), None)[4:],
        ]
    ),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(FRAMES, min_size=1, max_size=5))
def test_frames_of_all_kinds_are_answered_or_end_the_connection(
    broker: SaslBroker, frames: list[bytes]
) -> None:
    with SaslWire(broker.secured) as wire:
        data = b"".join(len(each).to_bytes(4, "big") + each for each in frames)
        wire.sock.sendall(data + encode_request(4242, 12, METADATA, None))
        answers = []
        with suppress(ConnectionError):
            while True:
                answers.append(wire.receive_frame())
    assert not any(each.startswith((4242).to_bytes(4, "big")) for each in answers)
