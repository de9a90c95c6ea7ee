"""ElectLeaders: an administrator wants other leaders than there are."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.controller.config import ControllerContext
from penstock.controller.election import Election, elect_leader, min_isr
from penstock.controller.outcome import Outcome, conclude
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord


def decide_elect_leaders(
    context: ControllerContext, request: ElectLeadersRequest
) -> Outcome[ElectLeadersResponse]:
    election = _election(request.election_type)
    active = {broker.id for broker in context.image.active_brokers}
    records: list[MetadataRecord] = []
    results = []
    for name, indexes in _asked(context.image, request):
        partitions = [_elect(context, name, one, election, active, records) for one in indexes]
        if request.topic_partitions is None:
            # Asked for everything, only what could or should have changed is worth a line.
            needless = ErrorCode.ELECTION_NOT_NEEDED
            partitions = [one for one in partitions if one.error_code != needless]
        results.append(ReplicaElectionResult(topic=name, partition_result=partitions))
    response = ElectLeadersResponse(replica_election_results=results)
    return conclude(context.config, records, response)


def _election(number: int) -> Election:
    try:
        return Election(number)
    except ValueError:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown election type {number}") from None


def _asked(image: ClusterImage, request: ElectLeadersRequest) -> list[tuple[str, Sequence[int]]]:
    if request.topic_partitions is None:
        return [(topic.name, list(topic.partitions)) for topic in image.topics]
    return [(topic.topic, topic.partitions) for topic in request.topic_partitions]


def _elect(
    context: ControllerContext,
    name: str,
    index: int,
    election: Election,
    active: Collection[int],
    records: list[MetadataRecord],
) -> PartitionResult:
    result = PartitionResult(partition_id=index, error_message=None)
    try:
        records.append(_elect_or_refuse(context, name, index, election, active))
    except ApiError as error:
        result.error_code, result.error_message = error.code, error.message
    return result


def _elect_or_refuse(
    context: ControllerContext, name: str, index: int, election: Election, active: Collection[int]
) -> PartitionChangeRecord:
    topic = context.image.topics.get(name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    partition = topic.partitions.get(index)
    if partition is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
    if _has_wanted_leader(partition, election):
        raise ApiError(
            ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition."
        )
    enough = min_isr(context, name, partition)
    record = elect_leader(topic.id, index, partition, election, active, enough)
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
