"""LeaderChangeMessage. Written by tools/generate_protocol.py.

Versions 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class Voter(Entity):
    __slots__ = (
        "voter_directory_id",
        "voter_id",
    )
    NAME = "Voter"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("voter_id", "int32", (0, 1)),
        Field("voter_directory_id", "uuid", (1, 1)),
    )

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_ID,
    ) -> None:
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id


class LeaderChangeMessage(Entity):
    __slots__ = (
        "granting_voters",
        "leader_id",
        "version",
        "voters",
    )
    NAME = "LeaderChangeMessage"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("version", "int16", (0, 1)),
        Field("leader_id", "int32", (0, 1)),
        Field("voters", Voter, (0, 1), array=True),
        Field("granting_voters", Voter, (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        version: int = 0,
        leader_id: int = 0,
        voters: Iterable[Voter] = (),
        granting_voters: Iterable[Voter] = (),
    ) -> None:
        self.version: int = version
        self.leader_id: int = leader_id
        self.voters: list[Voter] = voters if isinstance(voters, list) else list(voters)
        self.granting_voters: list[Voter] = (
            granting_voters if isinstance(granting_voters, list) else list(granting_voters)
        )
