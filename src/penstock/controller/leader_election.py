"""ElectLeaders: an administrator wants other leaders than there are."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.controller.config import ControllerContext
from penstock.controller.election import Election
from penstock.controller.leader_rules import LeaderRules
from penstock.controller.outcome import Outcome, conclude
from penstock.controller.partition_change import LEADER_UNCHANGED, PartitionChange
from penstock.controller.partition_index import PartitionKey
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


def decide_elect_leaders(
    context: ControllerContext, request: ElectLeadersRequest
) -> Outcome[ElectLeadersResponse]:
    step = _Elections(context, _election(request.election_type))
    results = []
    for name, indexes in _asked(context.image, request):
        partitions = [step.elect(name, index) for index in indexes]
        if request.topic_partitions is None:
            # Asked for everything, only what could or should have changed is worth a line.
            needless = ErrorCode.ELECTION_NOT_NEEDED
            partitions = [one for one in partitions if one.error_code != needless]
        results.append(ReplicaElectionResult(topic=name, partition_result=partitions))
    response = ElectLeadersResponse(replica_election_results=results)
    return conclude(context.config, step.records, response)


def _election(number: int) -> Election:
    if number not in (Election.PREFERRED, Election.UNCLEAN):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown election type {number}")
    return Election(number)


def _asked(image: ClusterImage, request: ElectLeadersRequest) -> list[tuple[str, Sequence[int]]]:
    if request.topic_partitions is None:
        return [(topic.name, list(topic.partitions)) for topic in image.topics]
    return [(topic.topic, topic.partitions) for topic in request.topic_partitions]


class _Elections:
    """One request under way: what it has brought about so far."""

    def __init__(self, context: ControllerContext, election: Election) -> None:
        self.records: list[MetadataRecord] = []
        self._topics = context.image.topics
        self._rules = LeaderRules(context)
        self._election = election
        self._elected: set[PartitionKey] = set()

    def elect(self, name: str, index: int) -> PartitionResult:
        result = PartitionResult(partition_id=index, error_message=None)
        try:
            self._elect(name, index)
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        return result

    def _elect(self, name: str, index: int) -> None:
        topic = self._topics.get(name)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
        partition = topic.partitions.get(index)
        if partition is None:
            raise ApiError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}"
            )
        key = (topic.id, index)
        if key in self._elected or _has_wanted_leader(partition, self._election):
            raise ApiError(
                ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition."
            )
        change = PartitionChange(self._rules, topic, index, partition)
        change.election = self._election
        record = change.record()
        if record is None or record.leader in (LEADER_UNCHANGED, NO_LEADER):
            raise _unavailable(self._election)
        self._elected.add(key)
        self.records.append(record)


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
