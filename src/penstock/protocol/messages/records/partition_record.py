"""PartitionRecord (number 3). Written by tools/generate_protocol.py.

Versions 0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.model.id import ZERO_ID
from penstock.protocol.entity import Entity, Field


class PartitionRecord(Entity):
    __slots__ = (
        "adding_replicas",
        "directories",
        "eligible_leader_replicas",
        "isr",
        "last_known_elr",
        "leader",
        "leader_epoch",
        "leader_recovery_state",
        "partition_epoch",
        "partition_id",
        "removing_replicas",
        "replicas",
        "topic_id",
    )
    NAME = "PartitionRecord"
    VERSIONS = (0, 2)
    FLEXIBLE = 0
    API_KEY = 3
    SCHEMA = (
        Field("partition_id", "int32", (0, 2), default=-1),
        Field("topic_id", "uuid", (0, 2)),
        Field("replicas", "int32", (0, 2), array=True),
        Field("isr", "int32", (0, 2), array=True),
        Field("removing_replicas", "int32", (0, 2), array=True),
        Field("adding_replicas", "int32", (0, 2), array=True),
        Field("leader", "int32", (0, 2), default=-1),
        Field("leader_recovery_state", "int8", (0, 2), tag=0, tagged=(0, 2)),
        Field("leader_epoch", "int32", (0, 2), default=-1),
        Field("partition_epoch", "int32", (0, 2), default=-1),
        Field("directories", "uuid", (1, 2), array=True),
        Field(
            "eligible_leader_replicas",
            "int32",
            (2, 2),
            array=True,
            nullable=(2, 2),
            tag=1,
            tagged=(2, 2),
            default=None,
        ),
        Field(
            "last_known_elr",
            "int32",
            (2, 2),
            array=True,
            nullable=(2, 2),
            tag=2,
            tagged=(2, 2),
            default=None,
        ),
    )

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: bytes = ZERO_ID,
        replicas: Iterable[int] = (),
        isr: Iterable[int] = (),
        removing_replicas: Iterable[int] = (),
        adding_replicas: Iterable[int] = (),
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: Iterable[bytes] = (),
        eligible_leader_replicas: Iterable[int] | None = None,
        last_known_elr: Iterable[int] | None = None,
    ) -> None:
        self.partition_id: int = partition_id
        self.topic_id: bytes = topic_id
        self.replicas: list[int] = replicas if isinstance(replicas, list) else list(replicas)
        self.isr: list[int] = isr if isinstance(isr, list) else list(isr)
        self.removing_replicas: list[int] = (
            removing_replicas if isinstance(removing_replicas, list) else list(removing_replicas)
        )
        self.adding_replicas: list[int] = (
            adding_replicas if isinstance(adding_replicas, list) else list(adding_replicas)
        )
        self.leader: int = leader
        self.leader_recovery_state: int = leader_recovery_state
        self.leader_epoch: int = leader_epoch
        self.partition_epoch: int = partition_epoch
        self.directories: list[bytes] = (
            directories if isinstance(directories, list) else list(directories)
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
