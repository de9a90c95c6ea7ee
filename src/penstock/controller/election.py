"""Choosing a partition's leader, and ElectLeaders.

A leader comes from the in-sync replicas; where none is left, from those known to hold everything
committed (KIP-966). Only an unclean election, which may lose records, looks further.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

from penstock.controller.config import ControllerContext
from penstock.controller.outcome import Outcome, conclude
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId
from penstock.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord

_RECOVERING = 1


class Election(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1


def decide_elect_leaders(
    context: ControllerContext, request: ElectLeadersRequest
) -> Outcome[ElectLeadersResponse]:
    election = _election(request.election_type)
    records: list[MetadataRecord] = []
    results = [
        ReplicaElectionResult(
            topic=name,
            partition_result=[
                result
                for index in indexes
                if (result := _elect_named(context.image, name, index, election, records))
                and not (is_everything and result.error_code == ErrorCode.ELECTION_NOT_NEEDED)
            ],
        )
        for name, indexes, is_everything in _asked(context.image, request)
    ]
    return conclude(context.config, records, ElectLeadersResponse(replica_election_results=results))


def _election(number: int) -> Election:
    try:
        return Election(number)
    except ValueError:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown election type {number}") from None


def _asked(
    image: ClusterImage, request: ElectLeadersRequest
) -> list[tuple[str, Sequence[int], bool]]:
    """No list means every partition, of which only those that need it are answered."""
    if request.topic_partitions is None:
        return [(topic.name, list(topic.partitions), True) for topic in image.topics]
    return [(topic.topic, topic.partitions, False) for topic in request.topic_partitions]


def _elect_named(
    image: ClusterImage, name: str, index: int, election: Election, records: list[MetadataRecord]
) -> PartitionResult:
    try:
        records.append(_elect_or_refuse(image, name, index, election))
    except ApiError as error:
        return PartitionResult(
            partition_id=index, error_code=error.code, error_message=error.message
        )
    return PartitionResult(partition_id=index, error_message=None)


def _elect_or_refuse(
    image: ClusterImage, name: str, index: int, election: Election
) -> PartitionChangeRecord:
    topic = image.topics.get(name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    partition = topic.partitions.get(index)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
    if _has_wanted_leader(partition, election):
        raise ApiError(
            ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition."
        )
    record = elect_leader(topic.id, index, partition, election, active_in(image))
    if record is None:
        raise _unavailable(election)
    return record


def _has_wanted_leader(partition: PartitionImage, election: Election) -> bool:
    if election == Election.PREFERRED:
        return partition.leader == partition.preferred_leader
    return partition.leader != NO_LEADER


def _unavailable(election: Election) -> ApiError:
    if election == Election.PREFERRED:
        return ApiError(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available."
        )
    return ApiError(
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        "Eligible topic partition leaders are not available.",
    )


def active_in(image: ClusterImage) -> Callable[[int], bool]:
    active = {broker.id for broker in image.active_brokers}
    return active.__contains__


def elect_leader(
    topic_id: TopicId,
    index: int,
    partition: PartitionImage,
    election: Election | None,
    is_acceptable: Callable[[int], bool],
) -> PartitionChangeRecord | None:
    """The change that gives the partition a leader; None if nothing would change."""
    eligible = partition.isr or partition.elr
    candidates = [one for one in partition.replicas if one in eligible and is_acceptable(one)]
    leader = _prefer(partition, election, candidates)
    is_unclean = leader is None and election == Election.UNCLEAN
    if is_unclean:
        leader = next((one for one in partition.replicas if is_acceptable(one)), None)
    if leader is None or leader == partition.leader:
        return None
    record = PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=leader)
    if is_unclean:
        record.isr = [leader]
        record.leader_recovery_state = _RECOVERING
    elif leader not in partition.isr:
        record.isr = [leader]
        record.eligible_leader_replicas = [one for one in partition.elr if one != leader]
    if partition.last_known_elr and not is_unclean:
        record.last_known_elr = []
    return record


def _prefer(
    partition: PartitionImage, election: Election | None, candidates: list[int]
) -> int | None:
    wanted = partition.leader
    if election == Election.PREFERRED:
        wanted = partition.preferred_leader
    if wanted in candidates:
        return wanted
    if partition.leader in candidates:
        return partition.leader
    return candidates[0] if candidates else None
