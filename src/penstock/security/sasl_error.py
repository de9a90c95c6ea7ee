"""Why a login fails, and how much of that the client is told.

SaslError
├── SaslRefused         the words go to the client: Kafka's SaslAuthenticationException
├── InvalidCredentials  the client learns no more than that, the log does
└── IllegalSaslState    a request that does not belong here
"""

from __future__ import annotations

from penstock.model.error import PenstockError


class SaslError(PenstockError):
    """This login has failed; the connection ends."""


class SaslRefused(SaslError):
    """Says nothing that a stranger must not know."""


class InvalidCredentials(SaslError):
    """What was wrong, whether there is such a user at all, stays on this side."""


class IllegalSaslState(SaslError):
    """A request out of its order."""
