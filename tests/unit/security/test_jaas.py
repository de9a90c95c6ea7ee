"""`sasl.jaas.config` as Java writes it, and users of PLAIN."""

from __future__ import annotations

import pytest

from penstock.security.jaas import JaasError, parse_jaas
from penstock.security.mechanism import Identity, in_kafka_order
from penstock.security.plain import PlainServer, plain_token
from penstock.security.sasl_error import IllegalSaslState, SaslRefused

ANOTHER = "Client requested an authorization id that is different from username"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_a_module_and_its_options() -> None:
    found = parse_jaas(
        f'{MODULE} required\n  username="admin" /* whose */ password="a;b=\\"c\\\\" // said\n'
        "  user_alice='it\\'s' user_a-b.c=plain_1;"
    )
    assert found.module == MODULE
    assert found.options["username"] == "admin"
    assert found.options["password"] == 'a;b="c\\'
    assert found.users == {"alice": "it's", "a-b.c": "plain_1"}


def test_a_quoted_sign_is_text() -> None:
    assert parse_jaas(f'{MODULE} required user_a=";" user_b="=";').users == {"a": ";", "b": "="}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not specified"),
        (MODULE, "control flag not specified"),
        (f"{MODULE} always;", "control flag"),
        (f"{MODULE} required user_a=hush", "semi-colon"),
        (f"{MODULE} required user_a=;", "user_a"),
        (f"{MODULE} required user_a;", "user_a"),
        (f'{MODULE} required user_a="hush', "cannot be read"),
        (f"{MODULE} required user_a=hush; {MODULE} required;", "several"),
    ],
)
def test_what_is_refused_never_repeats_a_password(text: str, said: str) -> None:
    with pytest.raises(JaasError, match=said) as caught:
        parse_jaas(text)
    assert "hush" not in str(caught.value)


def test_mechanisms_come_in_the_order_of_kafka() -> None:
    """Of a HashSet of Java, as it printed them."""
    assert in_kafka_order(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "PLAIN"]) == [
        "PLAIN",
        "SCRAM-SHA-512",
        "SCRAM-SHA-256",
        "OAUTHBEARER",
    ]
    assert in_kafka_order(["SCRAM-SHA-512", "PLAIN", "GSSAPI", "SCRAM-SHA-256"]) == [
        "SCRAM-SHA-512",
        "PLAIN",
        "GSSAPI",
        "SCRAM-SHA-256",
    ]


def test_plain() -> None:
    one = PlainServer({"alice": "pässword"})
    assert one.evaluate(plain_token("alice", "pässword")) == b""
    assert one.identity == Identity("alice")
    with pytest.raises(IllegalSaslState):
        one.evaluate(plain_token("alice", "pässword"))


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (b"\0alice\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0nobody\0secret", "Authentication failed: Invalid username or password"),
        (b"\0alice\0Secret", "Authentication failed: Invalid username or password"),
        (b"\0\0secret", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"a\0b\0c\0d", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\xff\0\xff\0\xff", "Authentication failed: Invalid username or password"),
        (b"root\0alice\0secret", f"Authentication failed: {ANOTHER}"),
    ],
)
def test_what_plain_refuses_in_the_words_of_kafka(token: bytes, said: str) -> None:
    one = PlainServer({"alice": "secret"})
    with pytest.raises(SaslRefused) as caught:
        one.evaluate(token)
    assert str(caught.value) == said
    assert one.identity is None
