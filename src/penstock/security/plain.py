"""PLAIN: a name and a password, both as they are. Users are those that a setting names."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from penstock.security.mechanism import Identity
from penstock.security.sasl_error import IllegalSaslState, SaslRefused

_PARTS = 3


class PlainServer:
    __slots__ = ("_passwords", "identity")

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = passwords
        self.identity: Identity | None = None

    def evaluate(self, token: bytes) -> bytes:
        if self.identity is not None:
            raise IllegalSaslState("Unexpected challenge in Sasl server state COMPLETE")
        authorization_id, name, password = _parts(token)
        if not name:
            raise SaslRefused("Authentication failed: username not specified")
        if not password:
            raise SaslRefused("Authentication failed: password not specified")
        expected = self._passwords.get(name)
        # Compared for everybody: who is known takes no other time than who is not.
        is_equal = hmac.compare_digest(
            password.encode(), (password[::-1] + "?" if expected is None else expected).encode()
        )
        if expected is None or not is_equal:
            raise SaslRefused("Authentication failed: Invalid username or password")
        if authorization_id and authorization_id != name:
            raise SaslRefused(
                "Authentication failed: Client requested an authorization id that is different "
                "from username"
            )
        self.identity = Identity(name)
        return b""


def plain_token(name: str, password: str) -> bytes:
    """What a client sends."""
    return b"\0" + name.encode() + b"\0" + password.encode()


def _parts(token: bytes) -> list[str]:
    parts = token.decode(errors="replace").split("\0", _PARTS)
    if len(parts) != _PARTS:
        raise SaslRefused(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
    return parts
