"""PartitionChangeRecord (number 5). Written by tools/generate_protocol.py.

Versions 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class PartitionChangeRecord(Entity):
    __slots__ = (
        "adding_replicas",
        "directories",
        "eligible_leader_replicas",
        "isr",
        "last_known_elr",
        "leader",
        "leader_recovery_state",
        "partition_id",
        "removing_replicas",
        "replicas",
        "topic_id",
    )
    NAME = "PartitionChangeRecord"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 5
    SCHEMA = (
        Field("partition_id", "int32", (0, 2), default=-1),
        Field("topic_id", "uuid", (0, 2)),
        Field(
            "isr", "int32", (0, 2), array=True, nullable=(0, 2), tag=0, tagged=(0, 2), default=None
        ),
        Field("leader", "int32", (0, 2), tag=1, tagged=(0, 2), default=-2),
        Field(
            "replicas",
            "int32",
            (0, 2),
            array=True,
            nullable=(0, 2),
            tag=2,
            tagged=(0, 2),
            default=None,
        ),
        Field(
            "removing_replicas",
            "int32",
            (0, 2),
            array=True,
            nullable=(0, 2),
            tag=3,
            tagged=(0, 2),
            default=None,
        ),
        Field(
            "adding_replicas",
            "int32",
            (0, 2),
            array=True,
            nullable=(0, 2),
            tag=4,
            tagged=(0, 2),
            default=None,
        ),
        Field("leader_recovery_state", "int8", (0, 2), tag=5, tagged=(0, 2), default=-1),
        Field(
            "directories",
            "uuid",
            (1, 2),
            array=True,
            nullable=(1, 2),
            tag=8,
            tagged=(1, 2),
            default=None,
        ),
        Field(
            "eligible_leader_replicas",
            "int32",
            (2, 2),
            array=True,
            nullable=(2, 2),
            tag=6,
            tagged=(2, 2),
            default=None,
        ),
        Field(
            "last_known_elr",
            "int32",
            (2, 2),
            array=True,
            nullable=(2, 2),
            tag=7,
            tagged=(2, 2),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: bytes = ZERO_ID,
        isr: Iterable[int] | None = None,
        leader: int = -2,
        replicas: Iterable[int] | None = None,
        removing_replicas: Iterable[int] | None = None,
        adding_replicas: Iterable[int] | None = None,
        leader_recovery_state: int = -1,
        directories: Iterable[bytes] | None = None,
        eligible_leader_replicas: Iterable[int] | None = None,
        last_known_elr: Iterable[int] | None = None,
    ) -> None:
        self.partition_id: int = partition_id
        self.topic_id: bytes = topic_id
        self.isr: list[int] | None = isr if isr is None or isinstance(isr, list) else list(isr)
        self.leader: int = leader
        self.replicas: list[int] | None = (
            replicas if replicas is None or isinstance(replicas, list) else list(replicas)
        )
        self.removing_replicas: list[int] | None = (
            removing_replicas
            if removing_replicas is None or isinstance(removing_replicas, list)
            else list(removing_replicas)
        )
        self.adding_replicas: list[int] | None = (
            adding_replicas
            if adding_replicas is None or isinstance(adding_replicas, list)
            else list(adding_replicas)
        )
        self.leader_recovery_state: int = leader_recovery_state
        self.directories: list[bytes] | None = (
            directories
            if directories is None or isinstance(directories, list)
            else list(directories)
        )
        self.eligible_leader_replicas: list[int] | None = (
            eligible_leader_replicas
            if eligible_leader_replicas is None or isinstance(eligible_leader_replicas, list)
            else list(eligible_leader_replicas)
        )
        self.last_known_elr: list[int] | None = (
            last_known_elr
            if last_known_elr is None or isinstance(last_known_elr, list)
            else list(last_known_elr)
        )
