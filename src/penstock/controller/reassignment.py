"""Which brokers hold a partition, changed by an administrator: asked for, called off, listed.

In a cluster of one there is a single valid list of replicas, so that nothing ever has to move;
a list that would need a move is refused. The list of moves under way is read from the image.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.controller.assignment import check_replicas, invalid_assignment
from penstock.controller.outcome import Outcome
from penstock.machine.decision import Decision
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import PartitionImage
from penstock.metadata.topic import TopicImage
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def decide_alter_reassignments(
    image: ClusterImage, request: AlterPartitionReassignmentsRequest
) -> Outcome[AlterPartitionReassignmentsResponse]:
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[_alter(image, topic.name, wanted) for wanted in topic.partitions],
            )
            for topic in request.topics
        ],
    )
    return Decision((), response)


def _alter(
    image: ClusterImage, name: str, wanted: ReassignablePartition
) -> ReassignablePartitionResponse:
    result = ReassignablePartitionResponse(
        partition_index=wanted.partition_index, error_message=None
    )
    try:
        partition = _found(image, name, wanted.partition_index)
        _check_target(image, partition, wanted.replicas)
    except ApiError as error:
        result.error_code, result.error_message = error.code, error.message
    return result


def _found(image: ClusterImage, name: str, index: int) -> PartitionImage:
    topic = image.topics.get(name)
    if topic is None:
        raise _unknown(f"Unable to find a topic named {name}.")
    partition = topic.partitions.get(index)
    if partition is None:
        raise _unknown(f"Unable to find partition {name}:{index}.")
    return partition


def _unknown(message: str) -> ApiError:
    return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


def _check_target(
    image: ClusterImage, partition: PartitionImage, replicas: Sequence[int] | None
) -> None:
    if replicas is None:
        # To be called off, but none is under way.
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    check_replicas(image, replicas, None)
    if set(replicas) != set(partition.replicas):
        raise invalid_assignment("This cluster of one has no other broker to move replicas from.")


def decide_list_reassignments(
    image: ClusterImage, request: ListPartitionReassignmentsRequest
) -> Outcome[ListPartitionReassignmentsResponse]:
    listed = [
        OngoingTopicReassignment(name=topic.name, partitions=moving)
        for topic, indexes in _asked(image, request)
        if (moving := [_moving(topic, index) for index in indexes if _is_moving(topic, index)])
    ]
    return Decision((), ListPartitionReassignmentsResponse(error_message=None, topics=listed))


def _asked(
    image: ClusterImage, request: ListPartitionReassignmentsRequest
) -> Iterator[tuple[TopicImage, Sequence[int]]]:
    if request.topics is None:
        for topic in image.topics:
            yield topic, sorted(topic.partitions)
        return
    for asked in request.topics:
        found = image.topics.get(asked.name)
        if found is not None:
            yield found, asked.partition_indexes


def _is_moving(topic: TopicImage, index: int) -> bool:
    partition = topic.partitions.get(index)
    return partition is not None and bool(partition.adding_replicas or partition.removing_replicas)


def _moving(topic: TopicImage, index: int) -> OngoingPartitionReassignment:
    partition = topic.partitions[index]
    return OngoingPartitionReassignment(
        partition_index=index,
        replicas=partition.replicas,
        adding_replicas=partition.adding_replicas,
        removing_replicas=partition.removing_replicas,
    )
