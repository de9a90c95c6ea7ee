"""The server's side of a login by SCRAM: a pure machine of two messages.

Whoever does not know a user's password cannot tell from the answers whether there is such a user:
a name that nobody has is given a salt of its own, the same each time, and fails with the proof.
Kafka ends the login with the first message there.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Callable
from hashlib import new as new_hash
from typing import NamedTuple

from penstock.security.mechanism import Identity
from penstock.security.sasl_error import IllegalSaslState, InvalidCredentials, SaslRefused
from penstock.security.scram import (
    HASHES,
    ITERATIONS_MIN,
    TOKEN_AUTH,
    ClientFirst,
    ScramCredential,
    ServerFirst,
    decode_client_final,
    decode_client_first,
    encode_server_first,
    signature,
    xor,
)


class ScramUser(NamedTuple):
    """Who logs in under a name: for a delegation token, not the one who is named."""

    credential: ScramCredential
    identity: Identity


FindUser = Callable[[str, bool], ScramUser | None]
"""By the name in the message, and whether that is the id of a delegation token."""
DecoyOf = Callable[[str], tuple[bytes, int]]
"""Salt and iterations for a name that nobody has."""


class ScramServer:
    __slots__ = (
        "_decoy_of",
        "_find",
        "_first",
        "_mechanism",
        "_new_nonce",
        "_sent",
        "_user",
        "identity",
    )

    def __init__(
        self, mechanism: str, find: FindUser, decoy_of: DecoyOf, new_nonce: Callable[[], str]
    ) -> None:
        self._mechanism = mechanism
        self._find = find
        self._decoy_of = decoy_of
        self._new_nonce = new_nonce
        self._first: ClientFirst | None = None
        self._sent: ServerFirst | None = None
        self._user: ScramUser | None = None
        self.identity: Identity | None = None

    def evaluate(self, token: bytes) -> bytes:
        if self.identity is not None:
            raise IllegalSaslState("Unexpected challenge in Sasl server state COMPLETE")
        return self._begin(token) if self._first is None else self._end(self._first, token)

    def _begin(self, token: bytes) -> bytes:
        first = decode_client_first(token)
        by_token = first.extensions.get(TOKEN_AUTH, "").lower() == "true"
        # Both are worked out for everybody: who is known takes no other time than who is not.
        salt, iterations = self._decoy_of(first.name)
        user = self._find(first.name, by_token)
        if first.authorization_id and first.authorization_id != first.name:
            raise SaslRefused(
                "Authentication failed: Client requested an authorization id that is different "
                "from username"
            )
        if user is not None and user.credential.iterations >= ITERATIONS_MIN:
            self._user = user
            salt, iterations = user.credential.salt, user.credential.iterations
        self._first = first
        self._sent = ServerFirst(first.nonce + self._new_nonce(), salt, iterations)
        return encode_server_first(self._sent).encode()

    def _end(self, first: ClientFirst, token: bytes) -> bytes:
        assert self._sent is not None
        final = decode_client_final(token)
        if not hmac.compare_digest(final.nonce, self._sent.nonce):
            raise InvalidCredentials("Invalid client nonce in the final client message.")
        if final.binding != first.gs2_header.encode():
            raise InvalidCredentials("Invalid channel binding in the final client message.")
        said = f"{first.bare},{encode_server_first(self._sent)},{final.without_proof}"
        credential = self._known
        self._verify(credential, said, final.proof)
        if self._user is None:
            raise InvalidCredentials("Authentication failed: Invalid user credentials")
        self.identity = self._user.identity
        return b"v=" + b64encode(signature(self._mechanism, credential.server_key, said))

    @property
    def _known(self) -> ScramCredential:
        """Nobody has the key of zeros: its hash would have to be zeros."""
        if self._user is not None:
            return self._user.credential
        size = new_hash(HASHES[self._mechanism]).digest_size
        return ScramCredential(b"", bytes(size), bytes(size), 0)

    def _verify(self, credential: ScramCredential, said: str, proof: bytes) -> None:
        expected = credential.stored_key
        if len(proof) != len(expected):
            raise InvalidCredentials("Invalid client credentials")
        key = xor(signature(self._mechanism, expected, said), proof)
        found = new_hash(HASHES[self._mechanism], key).digest()
        if not hmac.compare_digest(found, expected):
            raise InvalidCredentials("Invalid client credentials")
