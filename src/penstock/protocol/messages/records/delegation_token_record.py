"""DelegationTokenRecord (number 10). Written by tools/generate_protocol.py.

Versions 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DelegationTokenRecord(Entity):
    __slots__ = (
        "expiration_timestamp",
        "issue_timestamp",
        "max_timestamp",
        "owner",
        "renewers",
        "requester",
        "token_id",
    )
    NAME = "DelegationTokenRecord"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 10
    SCHEMA = (
        Field("owner", "string", (0, 0)),
        Field("requester", "string", (0, 0)),
        Field("renewers", "string", (0, 0), array=True),
        Field("issue_timestamp", "int64", (0, 0)),
        Field("max_timestamp", "int64", (0, 0)),
        Field("expiration_timestamp", "int64", (0, 0)),
        Field("token_id", "string", (0, 0)),
    )

    def __init__(
        self,
        *,
        owner: str = "",
        requester: str = "",
        renewers: Iterable[str] = (),
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
    ) -> None:
        self.owner: str = owner
        self.requester: str = requester
        self.renewers: list[str] = renewers if isinstance(renewers, list) else list(renewers)
        self.issue_timestamp: int = issue_timestamp
        self.max_timestamp: int = max_timestamp
        self.expiration_timestamp: int = expiration_timestamp
        self.token_id: str = token_id
