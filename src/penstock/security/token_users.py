"""Delegation tokens as users of SCRAM: the id is the name, and who logs in is the token's owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from penstock.metadata.security import SecurityImage
from penstock.metadata.token import is_expired, principal_of, token_password
from penstock.security.mechanism import Identity
from penstock.security.scram import ScramCredential, credential_of, salted_password
from penstock.security.scram_server import ScramUser

KEPT_MAX: Final = 1000
"""Credentials of tokens that logged in before: making one takes thousands of hashes."""


class TokenUsers:
    """`secret` is None where tokens are not in use."""

    def __init__(
        self,
        users: Callable[[], SecurityImage],
        secret: Callable[[], str | None],
        now_ms: Callable[[], int],
    ) -> None:
        self._users = users
        self._secret = secret
        self._now_ms = now_ms
        self._kept: dict[tuple[str, str, str], ScramCredential] = {}

    def find(self, mechanism: str, token_id: str, salt: bytes, iterations: int) -> ScramUser | None:
        token, secret = self._users().tokens.get(token_id), self._secret()
        if token is None or secret is None or is_expired(token, self._now_ms()):
            return None
        key = (mechanism, token_id, secret)
        credential = self._kept.get(key)
        if credential is None:
            password = token_password(secret, token_id)
            salted = salted_password(mechanism, password, salt, iterations)
            credential = credential_of(mechanism, salted, salt, iterations)
            if len(self._kept) >= KEPT_MAX:
                self._kept.clear()
            self._kept[key] = credential
        owner = principal_of(token.owner).name
        return ScramUser(credential, Identity(owner, token.expiration_timestamp, by_token=True))
