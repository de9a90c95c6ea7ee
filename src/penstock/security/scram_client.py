"""The client's side of a login by SCRAM, for nodes that log in to others."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable

from penstock.security.sasl_error import InvalidCredentials
from penstock.security.scram import (
    ITERATIONS_MIN,
    TOKEN_AUTH,
    client_key,
    decode_server_first,
    salted_password,
    sasl_name,
    server_key,
    signature,
    stored_key,
    xor,
)

_GS2_HEADER = "n,,"
_ITERATIONS_MAX = 1_000_000
"""Of what a server may ask: each takes this node's time."""


class ScramClient:
    """`first`, then `final` with the answer to it, then `check` with the answer to that."""

    def __init__(
        self,
        mechanism: str,
        name: str,
        password: str,
        new_nonce: Callable[[], str],
        *,
        by_token: bool = False,
    ) -> None:
        self._mechanism = mechanism
        self._password = password
        self._nonce = new_nonce()
        extension = f",{TOKEN_AUTH}=true" if by_token else ""
        self._bare = f"n={sasl_name(name)},r={self._nonce}{extension}"
        self._expected = b""

    def first(self) -> bytes:
        return (_GS2_HEADER + self._bare).encode()

    def final(self, challenge: bytes) -> bytes:
        server = decode_server_first(challenge)
        if not server.nonce.startswith(self._nonce) or server.nonce == self._nonce:
            raise InvalidCredentials("Invalid server nonce: does not start with client nonce")
        if not ITERATIONS_MIN <= server.iterations <= _ITERATIONS_MAX:
            raise InvalidCredentials(
                f"Requested iterations {server.iterations} is less than the minimum "
                f"{ITERATIONS_MIN} for {self._mechanism}, or too many"
            )
        salted = salted_password(self._mechanism, self._password, server.salt, server.iterations)
        without_proof = f"c={b64encode(_GS2_HEADER.encode()).decode()},r={server.nonce}"
        said = f"{self._bare},{challenge.decode()},{without_proof}"
        key = client_key(self._mechanism, salted)
        proof = xor(key, signature(self._mechanism, stored_key(self._mechanism, key), said))
        self._expected = signature(self._mechanism, server_key(self._mechanism, salted), said)
        return f"{without_proof},p={b64encode(proof).decode()}".encode()

    def check(self, answer: bytes) -> None:
        """Whether the other side knows the password, too."""
        try:
            told = b64decode(answer.removeprefix(b"v="), validate=True)
        except Base64Error:
            told = b""
        if not answer.startswith(b"v=") or not hmac.compare_digest(told, self._expected):
            raise InvalidCredentials("Invalid server signature in server final message")
