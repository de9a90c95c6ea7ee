"""What every admin adapter offers. A client that lacks a call has no method of that name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Partition:
    leader: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


@dataclass(frozen=True)
class ConfigValue:
    value: str | None
    source: str
    read_only: bool = False
    sensitive: bool = False


@dataclass(frozen=True)
class ClusterDescription:
    cluster_id: str
    controller: int
    brokers: Mapping[int, tuple[str, int]]


SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
}

Change = tuple[str, str, str | None]  # SET, DELETE, APPEND or SUBTRACT; the key; the value


class Admin(Protocol):
    name: str

    def close(self) -> None: ...

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        replication: int = 1,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        config: Mapping[str, str] | None = None,
        validate_only: bool = False,
    ) -> None: ...

    def delete_topic(self, name: str) -> None: ...

    def create_partitions(
        self,
        name: str,
        total: int,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        validate_only: bool = False,
    ) -> None: ...

    def topic_names(self) -> set[str]: ...

    def describe_topic(self, name: str) -> dict[int, Partition]: ...

    def describe_config(self, kind: str, name: str) -> dict[str, ConfigValue]: ...

    def replace_config(self, kind: str, name: str, config: Mapping[str, str]) -> None:
        """AlterConfigs: whatever is not named goes back to its default."""
        ...

    def change_config(
        self, kind: str, name: str, changes: Sequence[Change], validate_only: bool = False
    ) -> None:
        """IncrementalAlterConfigs."""
        ...

    def delete_records(self, topic: str, before: int, partition: int = 0) -> int:
        """The partition's new first offset."""
        ...

    def list_offset(self, topic: str, spec: str | int, partition: int = 0) -> tuple[int, int]:
        """Offset and timestamp for `earliest`, `latest`, `max_timestamp` or a time."""
        ...

    def describe_cluster(self) -> ClusterDescription: ...

    def elect_leader(self, kind: str, topic: str, partition: int = 0) -> int:
        """The error code the partition got, zero when a leader was elected."""
        ...
