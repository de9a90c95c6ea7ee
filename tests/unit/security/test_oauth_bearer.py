"""Tokens: which are good, and all those that are not."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from penstock.node.oauth.config import oauth_config
from penstock.node.oauth.keys import SigningKeys, signing_keys
from penstock.node.oauth.validator import TokenValidator
from penstock.security.mechanism import Identity
from penstock.security.oauth_bearer import OAuthBearerServer, TokenRefused
from penstock.security.sasl_error import IllegalSaslState, InvalidCredentials, SaslRefused
from penstock.settings.config import BrokerConfig
from penstock.settings.error import SettingError
from tests.security.token_kit import (
    AUDIENCE,
    EC_KEY,
    ISSUER,
    OTHER_KEY,
    first_message,
    key_set,
    public_pem,
    token,
    write_key_set,
)


@pytest.fixture(scope="module")
def loop() -> Any:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def validator(folder: Path, loop: asyncio.AbstractEventLoop, *settings: str) -> TokenValidator:
    path = folder / "jwks.json"
    if not path.exists():
        write_key_set(path)
    prefix = "sasl.oauthbearer."
    said = [
        f"{prefix}jwks.endpoint.url=file://{path}",
        f"{prefix}expected.issuer={ISSUER}",
        f"{prefix}expected.audience=other,{AUDIENCE}",
        *(prefix + each for each in settings),
    ]
    config = oauth_config(BrokerConfig.load(None, said), "CLIENTS")
    return TokenValidator(config, SigningKeys(config, loop))


def test_tokens_that_are_good(tmp_path: Path, loop: asyncio.AbstractEventLoop) -> None:
    check = validator(tmp_path, loop)
    assert check(token()).name == "carol"
    assert check(token(EC_KEY, "ES256", kid="ec")).name == "carol"
    assert check(token(algorithm="PS512", aud=["x", AUDIENCE])).name == "carol"
    ends = int(time.time()) + 100
    assert check(token(exp=ends)).expires_at_ms == ends * 1000
    assert check(token(exp=int(time.time()) - 20)).name == "carol", "clocks differ by that much"
    named = validator(tmp_path, loop, "sub.claim.name=client_id")
    assert named(token(client_id="svc")).name == "svc"


def unsigned(algorithm: str) -> str:
    header = {"alg": algorithm, "kid": "rsa", "typ": "JWT"}
    body = {"sub": "carol", "iss": ISSUER, "aud": AUDIENCE, "iat": 1, "exp": 1 << 40}
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=").decode()
        for each in (header, body)
    )


def signed_with_the_public_key() -> str:
    """What a check would take that lets the token say how it is checked."""
    text = unsigned("HS256")
    signed = hmac.digest(public_pem(), text.encode(), "sha256")
    return f"{text}.{base64.urlsafe_b64encode(signed).rstrip(b'=').decode()}"


def changed() -> str:
    head, _, tail = token().split(".")
    body = json.dumps({"sub": "root", "iss": ISSUER, "aud": AUDIENCE, "iat": 1, "exp": 1 << 40})
    return f"{head}.{base64.urlsafe_b64encode(body.encode()).rstrip(b'=').decode()}.{tail}"


BAD: dict[str, Callable[[], str]] = {
    "no algorithm": lambda: unsigned("none") + ".",
    "no algorithm, in capitals": lambda: unsigned("NONE") + ".",
    "no signature": lambda: unsigned("RS256") + ".",
    "the public key as a secret": signed_with_the_public_key,
    "a secret of the key set": lambda: token(
        b"secretsecretsecretsecretsecretsecret", "HS256", kid="shared"
    ),
    "another key": lambda: token(OTHER_KEY),
    "the name of another key": lambda: token(kid="ec"),
    "a key of no name": lambda: token(kid=None),
    "a key that is not known": lambda: token(kid="../../etc/passwd"),
    "a changed body": changed,
    "expired": lambda: token(lasts_s=-100),
    "no expiry": lambda: token(exp=None),
    "no time of issue": lambda: token(iat=None),
    "not yet": lambda: token(nbf=int(time.time()) + 1000),
    "issued tomorrow": lambda: token(iat=int(time.time()) + 86_400, exp=1 << 40),
    "another audience": lambda: token(aud="somebody else"),
    "no audience": lambda: token(aud=None),
    "another issuer": lambda: token(iss=ISSUER + ".evil"),
    "no issuer": lambda: token(iss=None),
    "nobody": lambda: token(sub=None),
    "a name of spaces": lambda: token(sub="  "),
    "a scope without a name": lambda: token(scope=["read", ""]),
    "not a token": lambda: "abc",
    "empty parts": lambda: "..",
    "too long": lambda: token(padding="x" * 70_000),
}


@pytest.mark.parametrize("what", BAD)
def test_tokens_that_are_not(tmp_path: Path, loop: asyncio.AbstractEventLoop, what: str) -> None:
    with pytest.raises(TokenRefused):
        validator(tmp_path, loop)(BAD[what]())


def test_an_expiry_that_never_comes(tmp_path: Path, loop: asyncio.AbstractEventLoop) -> None:
    assert validator(tmp_path, loop)(token(exp=1 << 62)).expires_at_ms == 1 << 53


def test_keys_change_while_it_runs(tmp_path: Path, loop: asyncio.AbstractEventLoop) -> None:
    """A file that cannot be read leaves those that were there."""
    check = validator(tmp_path, loop)
    path = tmp_path / "jwks.json"
    path.write_text("{")
    assert check(token()).name == "carol"
    document = key_set()
    write_key_set(path, {"keys": document["keys"][1:]})
    with pytest.raises(TokenRefused, match="not known"):
        check(token())
    assert check(token(EC_KEY, "ES256", kid=None)).name == "carol", "the only key there is"


def test_keys_from_a_url(loop: asyncio.AbstractEventLoop) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(key_set()).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{served.server_port}/jwks"
        said = [f"sasl.oauthbearer.jwks.endpoint.url={url}"]
        config = oauth_config(BrokerConfig.load(None, said), "CLIENTS")
        keys = SigningKeys(config, loop)
        check = TokenValidator(config, keys)
        with pytest.raises(TokenRefused, match="not known"):
            check(token())
        assert keys._reading is not None
        loop.run_until_complete(keys._reading)
        served.shutdown()
        thread.join()
    assert check(token()).name == "carol"


def test_secrets_are_no_keys() -> None:
    assert sorted(signing_keys(key_set())) == ["ec", "rsa"]


@pytest.mark.parametrize(
    "other",
    [
        {"kty": "EC", "crv": "P-1024", "kid": "new"},
        {"kty": "RSA", "kid": "empty"},
        {"kty": "AKP", "alg": "ML-DSA-44", "kid": "later"},
        "none",
    ],
)
def test_a_key_that_is_not_understood_is_passed_over(other: Any) -> None:
    """RFC 7517, section 5: a provider may have keys for others."""
    keys = [other, *key_set()["keys"]]
    assert sorted(signing_keys({"keys": keys})) == ["ec", "rsa"]


@pytest.mark.parametrize("said", ["{}", "[]", '{"keys": null}', '{"error": "not now"}', "<html>"])
def test_what_is_no_set_of_keys_leaves_those_that_were_there(
    tmp_path: Path, loop: asyncio.AbstractEventLoop, said: str
) -> None:
    check = validator(tmp_path, loop)
    path = tmp_path / "jwks.json"
    # Another file, as a rename makes it: its time alone may be the same.
    (tmp_path / "next.json").write_text(said)
    (tmp_path / "next.json").replace(path)
    assert check(token()).name == "carol"


@pytest.mark.parametrize("url", ["", "ftp://x/jwks", "/etc/jwks.json"])
def test_keys_have_to_be_somewhere(url: str) -> None:
    config = BrokerConfig.load(None, [f"sasl.oauthbearer.jwks.endpoint.url={url}"])
    with pytest.raises(SettingError, match=r"listener\.name\.clients\.sasl\.oauthbearer\.jwks"):
        oauth_config(config, "CLIENTS")


# The message


def server(noted: list[str] | None = None) -> OAuthBearerServer:
    def validate(found: str) -> Identity:
        if found != "good":
            raise TokenRefused("for a reason")
        return Identity("carol", 5)

    return OAuthBearerServer(validate, ([] if noted is None else noted).append)


def test_a_login() -> None:
    one = server()
    assert one.evaluate(first_message("good")) == b""
    assert one.identity == Identity("carol", 5)
    with pytest.raises(IllegalSaslState):
        one.evaluate(first_message("good"))
    assert server().evaluate(first_message("good", "carol")) == b""
    assert server().evaluate(b"n,,\x01auth=bearer good\x01traceId=7\x01\x01") == b""


def test_a_bad_token_is_told_no_more_than_that() -> None:
    noted: list[str] = []
    one = server(noted)
    assert one.evaluate(first_message("bad")) == b'{"status":"invalid_token"}'
    assert noted == ["for a reason"]
    for again in (b"\x01", first_message("good")):
        with pytest.raises(SaslRefused, match="invalid_token"):
            one.evaluate(again)
    assert one.identity is None


def test_nobody_becomes_another_by_asking() -> None:
    with pytest.raises(SaslRefused, match="authorization id"):
        server().evaluate(first_message("good", "root"))


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\x01",
        b"n,,\x01\x01",
        b"n,,\x01auth=Basic good\x01\x01",
        b"n,,\x01auth=Bearer go od\x01\x01",
        b"n,,\x01auth=Bearer good\x01",
        b"y,,\x01auth=Bearer good\x01\x01",
        b"n,,auth=Bearer good",
        b"\xff",
    ],
)
def test_messages_of_another_form(message: bytes) -> None:
    with pytest.raises(InvalidCredentials):
        server().evaluate(message)
