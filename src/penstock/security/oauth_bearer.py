"""OAUTHBEARER (RFC 7628): a token in one message, that somebody else has signed.

Owns the message; whether the token is good is the validator's to say. A token that is not is
answered as the RFC has it, with a status, and the login fails with what the client sends next.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from penstock.security.mechanism import Identity
from penstock.security.sasl_error import IllegalSaslState, InvalidCredentials, SaslRefused

_NAME: Final = r"(?:[\x01-\x7f](?<![=,])|=2C|=3D)+"
_PAIRS: Final = r"(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*"
_FIRST: Final = re.compile(
    rf"n,(?:a=(?P<authorization>{_NAME}))?,\x01(?P<pairs>{_PAIRS})\x01", re.DOTALL
)
_AUTH: Final = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)")
_INVALID: Final = '{"status":"invalid_token"}'


class TokenRefused(Exception):
    """Why, for the log; a client is told no more than that it is invalid."""


Validate = Callable[[str], Identity]
"""TokenRefused for a token that is not good."""


class OAuthBearerServer:
    __slots__ = ("_is_refused", "_note", "_validate", "identity")

    def __init__(self, validate: Validate, note: Callable[[str], None]) -> None:
        self._validate = validate
        self._note = note
        self._is_refused = False
        self.identity: Identity | None = None

    def evaluate(self, token: bytes) -> bytes:
        if self.identity is not None:
            raise IllegalSaslState("Unexpected challenge in Sasl server state COMPLETE")
        if self._is_refused:
            # Whatever comes: the RFC asks for an empty message, and nothing would help.
            raise SaslRefused(_INVALID)
        authorization_id, found = _decode(token)
        try:
            identity = self._validate(found)
        except TokenRefused as refused:
            self._note(str(refused))
            self._is_refused = True
            return _INVALID.encode()
        if authorization_id and authorization_id != identity.name:
            raise SaslRefused(
                f"Authentication failed: Client requested an authorization id ({authorization_id}) "
                f"that is different from the token's principal name ({identity.name})"
            )
        self.identity = identity
        return b""


def _decode(data: bytes) -> tuple[str, str]:
    try:
        first = _FIRST.fullmatch(data.decode())
    except UnicodeDecodeError:
        first = None
    if first is None:
        raise InvalidCredentials("Invalid OAUTHBEARER client first message")
    pairs = dict(pair.split("=", 1) for pair in first["pairs"].split("\x01") if pair)
    if "auth" not in pairs:
        raise InvalidCredentials("Invalid OAUTHBEARER client first message: 'auth' not specified")
    auth = _AUTH.fullmatch(pairs["auth"])
    if auth is None or auth["scheme"].lower() != "bearer":
        raise InvalidCredentials("Invalid OAUTHBEARER client first message: invalid 'auth' format")
    return first["authorization"] or "", auth["token"]
