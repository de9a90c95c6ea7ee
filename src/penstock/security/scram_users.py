"""Users who log in by SCRAM, as the metadata log has them, and what is told of those there are not.

The salt of a name that nobody has is made of the name and of a secret that all nodes share, in the
shape of the credentials that there are: the same each time and everywhere.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable
from functools import partial

from penstock.metadata.security import SecurityImage
from penstock.security.mechanism import Identity
from penstock.security.scram import (
    ITERATIONS_MIN,
    TYPES,
    ScramCredential,
)
from penstock.security.scram_server import DecoyOf, FindUser, ScramUser
from penstock.security.token_users import TokenUsers

SALT_BYTES = 26
"""Of credentials that Kafka's tool makes."""


class ScramUsers:
    """`users` gives those that there are now."""

    def __init__(
        self,
        users: Callable[[], SecurityImage],
        secret: Callable[[], str],
        tokens: TokenUsers | None = None,
    ) -> None:
        self._users = users
        self._tokens = tokens
        self._secret = secret
        self._shapes: dict[str, tuple[int, int]] = {}
        self._seen_count = -1

    def finder(self, mechanism: str) -> FindUser:
        return partial(self._find, mechanism)

    def decoys(self, mechanism: str) -> DecoyOf:
        return partial(self._decoy, mechanism)

    def _find(self, mechanism: str, name: str, by_token: bool) -> ScramUser | None:
        if by_token:
            if self._tokens is None:
                return None
            return self._tokens.find(mechanism, name, *self._decoy(mechanism, name))
        found = self._users().scram_credentials.get((name, TYPES[mechanism]))
        if found is None:
            return None
        credential = ScramCredential(
            found.salt, found.stored_key, found.server_key, found.iterations
        )
        return ScramUser(credential, Identity(name))

    def _decoy(self, mechanism: str, name: str) -> tuple[bytes, int]:
        if self._seen_count != len(self._users().scram_credentials):
            self._look()
        size, iterations = self._shapes.get(mechanism, (SALT_BYTES, ITERATIONS_MIN))
        salt = hmac.digest(self._secret().encode(), f"{mechanism} {name}".encode(), "sha512")
        return salt[:size], iterations

    def _look(self) -> None:
        """The most frequent shape."""
        credentials = self._users().scram_credentials
        self._seen_count = len(credentials)
        for mechanism, kind in TYPES.items():
            shapes = Counter(
                (len(one.salt), one.iterations)
                for (_, of_kind), one in credentials.items()
                if of_kind == kind
            )
            if shapes:
                self._shapes[mechanism] = shapes.most_common(1)[0][0]
