"""The order of a login: what is answered, what is refused, and what ends it without a word."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.error import ErrorCode, ProtocolError
from penstock.protocol.entity import Entity
from penstock.protocol.frame import decode_response, encode_request
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.metadata import MetadataRequest
from penstock.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from penstock.protocol.messages.sasl_handshake import SaslHandshakeRequest
from penstock.security.authenticator import LoginFailed, SaslAuthenticator, Session, State
from penstock.security.config import SaslConfig
from penstock.security.mechanism import Identity
from penstock.security.plain import PlainServer, plain_token

PASSWORDS = {"alice": "secret", "bob": "hush"}
NOW_MS = 1_000_000


class Clock:
    now_ms = NOW_MS


def machine(
    previous: Session | None = None,
    *,
    reauth_ms: int = 0,
    new_server: Callable[[str], PlainServer] = lambda _: PlainServer(PASSWORDS),
) -> SaslAuthenticator:
    config = SaslConfig(("SCRAM-SHA-512", "PLAIN"), reauth_ms={"PLAIN": reauth_ms})
    return SaslAuthenticator(config, new_server, lambda: Clock.now_ms, previous)


def frame(request: Entity, version: int) -> bytes:
    return encode_request(7, version, request, "test")[4:]


def handshake(mechanism: str = "PLAIN", version: int = 1) -> bytes:
    return frame(SaslHandshakeRequest(mechanism=mechanism), version)


def token(name: str = "alice", password: str = "secret", version: int = 2) -> bytes:
    return frame(SaslAuthenticateRequest(auth_bytes=plain_token(name, password)), version)


def refusal(one: SaslAuthenticator, data: bytes) -> LoginFailed:
    with pytest.raises(LoginFailed) as caught:
        one.receive(data)
    assert one.state is State.FAILED
    assert one.session is None
    return caught.value


def answer(key: int, version: int, data: bytes | None) -> Entity:
    assert data is not None
    number, response = decode_response(key, version, data[4:])
    assert number == 7
    return response


def test_a_login() -> None:
    one = machine()
    one.begin_versions()
    one.end_versions()
    told = answer(17, 1, one.receive(handshake()))
    assert told.error_code == 0
    assert told.mechanisms == ["SCRAM-SHA-512", "PLAIN"]
    done = answer(36, 2, one.receive(token()))
    assert (done.error_code, done.error_message, done.session_lifetime_ms) == (0, "", 0)
    assert one.session == Session(Identity("alice"), "PLAIN", None, True)


def test_tokens_without_headers_behind_a_handshake_of_version_0() -> None:
    one = machine()
    assert answer(17, 0, one.receive(handshake(version=0))).error_code == 0
    assert not one.may_tell_versions
    assert one.receive(plain_token("alice", "secret")) == bytes(4)
    assert one.session is not None and one.session.identity.name == "alice"
    assert not one.session.reauthenticates
    other = machine()
    other.receive(handshake(version=0))
    assert refusal(other, plain_token("alice", "wrong")).answer is None


def test_a_mechanism_that_is_not_enabled_is_told_which_are() -> None:
    failed = refusal(machine(), handshake("GSSAPI"))
    told = answer(17, 1, failed.answer)
    assert told.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert told.mechanisms == ["SCRAM-SHA-512", "PLAIN"]


def test_a_wrong_password_is_answered() -> None:
    one = machine()
    one.receive(handshake())
    told = answer(36, 2, refusal(one, token(password="wrong")).answer)
    assert told.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert told.error_message == "Authentication failed: Invalid username or password"


@pytest.mark.parametrize("request_", [MetadataRequest(), SaslAuthenticateRequest()])
def test_anything_else_before_the_handshake_ends_it_without_a_word(request_: Entity) -> None:
    one = machine()
    with pytest.raises(ProtocolError, match="during SASL handshake"):
        one.receive(frame(request_, 1))
    assert one.state is State.FAILED


def test_a_second_handshake_is_out_of_order() -> None:
    one = machine()
    one.receive(handshake())
    told = answer(17, 1, refusal(one, handshake()).answer)
    assert told.error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_other_requests_between_handshake_and_token_are_not_looked_at() -> None:
    one = machine()
    one.receive(handshake())
    assert refusal(one, frame(MetadataRequest(), 12)).answer is None


def test_versions_are_told_once_and_only_before_the_handshake() -> None:
    one = machine()
    one.begin_versions()
    one.begin_versions()
    one.end_versions()
    with pytest.raises(ProtocolError, match="Unexpected ApiVersions"):
        one.begin_versions()
    other = machine()
    other.receive(handshake())
    assert not other.may_tell_versions
    told = answer(18, 3, refusal(other, frame(ApiVersionsRequest(), 3)).answer)
    assert told.error_code == ErrorCode.ILLEGAL_SASL_STATE


def test_a_session_lasts_as_long_as_the_settings_say() -> None:
    one = machine(reauth_ms=5000)
    one.receive(handshake())
    assert answer(36, 1, one.receive(token(version=1))).session_lifetime_ms == 5000
    assert one.session is not None and one.session.expires_at_ms == NOW_MS + 5000


@pytest.mark.parametrize(("expires_in_ms", "expected_ms"), [(2000, 2000), (9000, 5000), (-5, 0)])
def test_a_session_never_outlasts_what_it_was_proven_with(
    expires_in_ms: int, expected_ms: int
) -> None:
    class Expiring(PlainServer):
        def evaluate(self, token: bytes) -> bytes:
            self.identity = Identity("alice", NOW_MS + expires_in_ms)
            return b""

    one = machine(reauth_ms=5000, new_server=lambda _: Expiring({}))
    one.receive(handshake())
    assert answer(36, 1, one.receive(token(version=1))).session_lifetime_ms == expected_ms


def test_who_logs_in_again_stays_who_they_are() -> None:
    session = Session(Identity("alice"), "PLAIN", NOW_MS, True)
    one = machine(session)
    one.receive(handshake())
    one.receive(token())
    assert one.session is not None
    other = machine(session)
    other.receive(handshake())
    told = answer(36, 2, refusal(other, token("bob", "hush")).answer)
    assert told.error_message == (
        "Cannot change principals during re-authentication from User.alice: User.bob"
    )
    another = machine(session)
    assert answer(17, 1, another.receive(handshake("SCRAM-SHA-512"))).error_code == 0
    assert "re-authentication of mechanism 'PLAIN'" in str(refusal(another, token()))
    with pytest.raises(ProtocolError):
        machine(session).begin_versions()


FRAMES = st.one_of(
    st.binary(max_size=80),
    st.sampled_from([handshake(), handshake(version=0), token("alice", "x"), handshake("X")]),
    st.tuples(st.sampled_from([handshake(), token("bob", "x")]), st.integers(0, 200)).map(
        lambda pair: pair[0][: pair[1]]
    ),
    st.binary(max_size=40).map(lambda data: frame(SaslAuthenticateRequest(auth_bytes=data), 2)),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(FRAMES, max_size=6))
def test_nothing_but_the_password_lets_anybody_in(frames: list[bytes]) -> None:
    """Whatever comes is answered, refused or malformed; never a session, never another error."""
    one = machine()
    for data in frames:
        try:
            one.receive(data)
        except (LoginFailed, ProtocolError):
            assert one.state is State.FAILED
            break
    assert one.session is None
