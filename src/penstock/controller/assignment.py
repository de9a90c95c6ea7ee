"""Replica lists a caller chose himself: what they must satisfy, and the partitions they make."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.controller.placement import new_partition
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import PartitionImage
from penstock.model.error import ApiError, ErrorCode


def assigned_partition(
    image: ClusterImage, index: int, replicas: Sequence[int], replication_factor: int | None
) -> PartitionImage:
    """`replication_factor` is that of the partitions before this one, None for the first."""
    check_replicas(image, replicas, replication_factor)
    partition = new_partition(image, replicas)
    if partition is None:
        raise invalid_assignment(
            "All brokers specified in the manual partition assignment for partition "
            f"{index} are fenced or in controlled shutdown."
        )
    return partition


def check_replicas(
    image: ClusterImage, replicas: Sequence[int], replication_factor: int | None
) -> None:
    if not replicas:
        raise invalid_assignment("The manual partition assignment includes an empty replica list.")
    previous = None
    for broker_id in sorted(replicas):
        if broker_id not in image.brokers:
            raise invalid_assignment(
                f"The manual partition assignment includes broker {broker_id}, "
                "but no such broker is registered."
            )
        if broker_id == previous:
            raise invalid_assignment(
                f"The manual partition assignment includes the broker {broker_id} more than once."
            )
        previous = broker_id
    if replication_factor is not None and len(replicas) != replication_factor:
        raise invalid_assignment(
            f"The manual partition assignment includes a partition with {len(replicas)} "
            "replica(s), but this is not consistent with previous partitions, which have "
            f"{replication_factor} replica(s)."
        )


def invalid_assignment(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
