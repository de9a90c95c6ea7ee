"""QuorumStateData. Written by tools/generate_protocol.py.

Versions 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class Voter(Entity):
    __slots__ = ("voter_id",)
    NAME = "Voter"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (Field("voter_id", "int32", (0, 0)),)

    def __init__(
        self,
        *,
        voter_id: int = 0,
    ) -> None:
        self.voter_id: int = voter_id


class QuorumStateData(Entity):
    __slots__ = (
        "applied_offset",
        "cluster_id",
        "current_voters",
        "leader_epoch",
        "leader_id",
        "voted_directory_id",
        "voted_id",
    )
    NAME = "QuorumStateData"
    VERSIONS = (0, 1)
    FLEXIBLE = 0
    SCHEMA = (
        Field("cluster_id", "string", (0, 0)),
        Field("leader_id", "int32", (0, 1), default=-1),
        Field("leader_epoch", "int32", (0, 1), default=-1),
        Field("voted_id", "int32", (0, 1), default=-1),
        Field("voted_directory_id", "uuid", (1, 1)),
        Field("applied_offset", "int64", (0, 0)),
        Field("current_voters", Voter, (0, 0), array=True, nullable=(0, 0)),
    )

    def __init__(
        self,
        *,
        cluster_id: str = "",
        leader_id: int = -1,
        leader_epoch: int = -1,
        voted_id: int = -1,
        voted_directory_id: bytes = ZERO_ID,
        applied_offset: int = 0,
        current_voters: Iterable[Voter] | None = (),
    ) -> None:
        self.cluster_id: str = cluster_id
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.voted_id: int = voted_id
        self.voted_directory_id: bytes = voted_directory_id
        self.applied_offset: int = applied_offset
        self.current_voters: list[Voter] | None = (
            current_voters
            if current_voters is None or isinstance(current_voters, list)
            else list(current_voters)
        )
