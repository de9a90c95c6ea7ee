"""SCRAM: the example of RFC 7677, what is refused, and that nobody learns who there is."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable

import pytest

from penstock.metadata.security import SecurityImage
from penstock.protocol.messages.records.user_scram_credential_record import (
    UserScramCredentialRecord,
)
from penstock.security.mechanism import SCRAM, SCRAM_SHA_256, SCRAM_SHA_512, Identity
from penstock.security.sasl_error import IllegalSaslState, InvalidCredentials, SaslRefused
from penstock.security.scram import TYPES, credential_of, salted_password
from penstock.security.scram_client import ScramClient
from penstock.security.scram_server import ScramServer
from penstock.security.scram_users import ScramUsers

SALT = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CLIENT_NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FIRST = f"n,,n=user,r={CLIENT_NONCE}".encode()
SERVER_FIRST = f"r={CLIENT_NONCE}{SERVER_NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
PROOF = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
FINAL = f"c=biws,r={CLIENT_NONCE}{SERVER_NONCE},p={PROOF}".encode()
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def users(
    *names: str, password: str = "pencil", iterations: int = 4096, salt: bytes = SALT
) -> ScramUsers:
    image = SecurityImage()
    for mechanism in SCRAM:
        salted = salted_password(mechanism, password, salt, iterations)
        kept = credential_of(mechanism, salted, salt, iterations)
        for name in names:
            image.put_scram(
                UserScramCredentialRecord(
                    name=name,
                    mechanism=TYPES[mechanism],
                    salt=kept.salt,
                    stored_key=kept.stored_key,
                    server_key=kept.server_key,
                    iterations=kept.iterations,
                )
            )
    return ScramUsers(lambda: image, lambda: "secret of the cluster")


def server(
    known: ScramUsers,
    mechanism: str = SCRAM_SHA_256,
    new_nonce: Callable[[], str] = lambda: SERVER_NONCE,
) -> ScramServer:
    return ScramServer(mechanism, known.finder(mechanism), known.decoys(mechanism), new_nonce)


def logged_in(known: ScramUsers, mechanism: str, name: str, password: str) -> Identity | None:
    other = server(known, mechanism)
    client = ScramClient(mechanism, name, password, lambda: "abc")
    client.check(other.evaluate(client.final(other.evaluate(client.first()))))
    return other.identity


def test_the_example_of_the_standard_from_both_sides() -> None:
    one = server(users("user"))
    assert one.evaluate(FIRST) == SERVER_FIRST
    assert one.identity is None
    assert one.evaluate(FINAL) == SERVER_FINAL
    assert one.identity == Identity("user")
    client = ScramClient(SCRAM_SHA_256, "user", "pencil", lambda: CLIENT_NONCE)
    assert client.first() == FIRST
    assert client.final(SERVER_FIRST) == FINAL
    client.check(SERVER_FINAL)


@pytest.mark.parametrize("mechanism", SCRAM)
@pytest.mark.parametrize("name", ["user", "a,b=c", "CN=x,O=y"])
def test_names_with_signs_of_the_protocol(mechanism: str, name: str) -> None:
    assert logged_in(users(name), mechanism, name, "pencil") == Identity(name)


def test_a_password_is_taken_as_it_is() -> None:
    assert logged_in(users("u", password="pä\u00adss ½"), SCRAM_SHA_512, "u", "pä\u00adss ½")
    with pytest.raises(InvalidCredentials):
        logged_in(users("u", password="pä\u00adss"), SCRAM_SHA_512, "u", "päss")


def test_a_server_that_does_not_know_the_password_is_found_out() -> None:
    client = ScramClient(SCRAM_SHA_256, "user", "pencil", lambda: CLIENT_NONCE)
    client.final(SERVER_FIRST)
    for wrong in (b"v=" + b64encode(bytes(32)), b"e=other-error", b"v=?", b""):
        with pytest.raises(InvalidCredentials):
            client.check(wrong)


@pytest.mark.parametrize(
    "challenge",
    [
        SERVER_FIRST.replace(CLIENT_NONCE.encode(), b"x"),
        SERVER_FIRST.replace(SERVER_NONCE.encode(), b""),
        SERVER_FIRST.replace(b"i=4096", b"i=1"),
        SERVER_FIRST.replace(b"i=4096", b"i=99999999"),
        b"",
    ],
)
def test_a_client_does_not_follow_every_server(challenge: bytes) -> None:
    with pytest.raises(InvalidCredentials):
        ScramClient(SCRAM_SHA_256, "user", "pencil", lambda: CLIENT_NONCE).final(challenge)


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"\xff\xfe",
        b"n,,n=user",
        b"n,,n=,r=abc",
        b"n,,n=us=er,r=abc",
        b"n,,n=user,r=",
        b"n,,n=user,r=a b",
        b"y,,n=user,r=abc",
        b"p=tls-unique,,n=user,r=abc",
        b"n,,m=ext,n=user,r=abc",
        "n,,n=\u00fcser,r=abc".encode(),
        b"n,,n=user,r=abc\n",
    ],
)
def test_first_messages_that_are_refused(first: bytes) -> None:
    with pytest.raises(InvalidCredentials):
        server(users("user")).evaluate(first)


@pytest.mark.parametrize(
    "final",
    [
        FINAL.replace(SERVER_NONCE.encode(), b"other"),
        FINAL.replace(b"r=", b"r=x"),
        FINAL.replace(b"c=biws", b"c=eSws"),
        FINAL.replace(b"c=biws", b"c="),
        FINAL.replace(PROOF.encode(), b64encode(bytes(32))),
        FINAL.replace(PROOF.encode(), b64encode(bytes(31))),
        FINAL.replace(PROOF.encode(), b""),
        FINAL.replace(PROOF.encode(), b"***="),
        FINAL + b"\n",
        b"",
    ],
)
def test_final_messages_that_are_refused(final: bytes) -> None:
    one = server(users("user"))
    one.evaluate(FIRST)
    with pytest.raises(InvalidCredentials):
        one.evaluate(final)
    assert one.identity is None


def test_a_login_is_over_when_it_is_over() -> None:
    one = server(users("user"))
    one.evaluate(FIRST)
    one.evaluate(FINAL)
    with pytest.raises(IllegalSaslState):
        one.evaluate(FINAL)


def test_nobody_logs_in_as_somebody_else() -> None:
    one = server(users("user", "root"))
    assert one.evaluate(b"n,a=user,n=user,r=abc")
    for known in (users("user"), users()):
        with pytest.raises(SaslRefused, match="different from username"):
            server(known).evaluate(b"n,a=root,n=user,r=abc")


def test_who_is_not_there_is_answered_as_who_is() -> None:
    """Salt and iterations in the shape of the others', the same each time."""
    known = users("user", iterations=8192, salt=b"s" * 20)
    there, not_there = (
        server(known).evaluate(b"n,,n=" + name + b",r=abc").decode() for name in (b"user", b"resu")
    )
    assert len(there) == len(not_there)
    assert there.rpartition(",")[2] == not_there.rpartition(",")[2] == "i=8192"
    assert server(known).evaluate(b"n,,n=resu,r=abc").decode() == not_there
    assert server(known).evaluate(b"n,,n=user2,r=abc").decode() != not_there
    other = ScramUsers(SecurityImage, lambda: "secret of another")
    assert server(other).evaluate(b"n,,n=resu,r=abc").decode() != not_there
    with pytest.raises(InvalidCredentials) as wrong:
        logged_in(known, SCRAM_SHA_256, "user", "guess")
    with pytest.raises(InvalidCredentials) as missing:
        logged_in(known, SCRAM_SHA_256, "resu", "guess")
    assert str(wrong.value) == str(missing.value)


def test_too_few_iterations_are_no_credential() -> None:
    with pytest.raises(InvalidCredentials):
        logged_in(users("user", iterations=1000), SCRAM_SHA_256, "user", "pencil")


def test_the_key_of_nobody_opens_nothing() -> None:
    """Of who is not there, a proof that would fit a key of zeros is as wrong as any."""
    import hmac

    one = server(users())
    said = one.evaluate(FIRST).decode()
    without = f"c=biws,r={CLIENT_NONCE}{SERVER_NONCE}"
    signed = hmac.digest(bytes(32), f"{FIRST[3:].decode()},{said},{without}".encode(), "sha256")
    with pytest.raises(InvalidCredentials):
        one.evaluate(f"{without},p={b64encode(signed).decode()}".encode())
