"""The questions of the comparison: every API, in the forms that are checked differently.

None of them changes what the next one is about: where it would be allowed, it fails for another
reason, only validates, or is about something of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from penstock.protocol.entity import Entity

TOPIC: Final = "authz-topic"
GROUP: Final = "authz-group"
CONSUMERS: Final = "authz-consumers"
"""A group of the consumer protocol."""
SHARERS: Final = "authz-sharers"
"""A share group."""
TRANSACTION: Final = "authz-transaction"
ABSENT: Final = "authz-absent"
OWN, MADE = "authz-own-", "authz-auto-"
"""Topics for one question of one user alone: there before it, and not there."""
TOKEN: Final = "a token"
"""How the names of questions begin that end with one."""
UNKNOWN_ID: Final = bytes(15) + b"\x07"


class Scene(NamedTuple):
    """Where a request is asked, and by whom."""

    user: str
    version: int
    topic_id: bytes

    @property
    def own(self) -> str:
        """A name that no other request has."""
        return f"{self.user}-{self.version}"


class Case(NamedTuple):
    name: str
    api_key: int
    build: Callable[[Scene], Entity]
    versions: range = range(100)


CASES: Final[list[Case]] = []


def case(
    name: str, api_key: int, versions: range = range(100)
) -> Callable[[Callable[[Scene], Entity]], Callable[[Scene], Entity]]:
    def add(build: Callable[[Scene], Entity]) -> Callable[[Scene], Entity]:
        CASES.append(Case(name, api_key, build, versions))
        return build

    return add


def all_cases() -> list[Case]:
    from tests.authorization import (  # noqa: F401
        cluster_cases,
        config_cases,
        group_cases,
        share_cases,
        streams_cases,
        token_cases,
        topic_cases,
        transaction_cases,
    )

    return sorted(CASES, key=lambda one: (one.api_key, one.name))
