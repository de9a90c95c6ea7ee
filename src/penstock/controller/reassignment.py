"""Which brokers hold a partition, changed by an administrator: asked for, called off, listed.

A reassignment begins with a change that names all replicas of before and after; those added catch
up, and the change of the partition that shows them in sync ends it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.controller.assignment import check_replicas, invalid_assignment
from penstock.controller.config import ControllerContext
from penstock.controller.leader_rules import LeaderRules
from penstock.controller.outcome import Outcome, conclude
from penstock.controller.partition_change import PartitionChange
from penstock.controller.partition_index import PartitionKey
from penstock.controller.reassigned_replicas import (
    begun,
    is_moving,
    original_replicas,
    target_count,
)
from penstock.machine.decision import Decision
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.metadata.record import MetadataRecord
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
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord


def decide_alter_reassignments(
    context: ControllerContext, request: AlterPartitionReassignmentsRequest
) -> Outcome[AlterPartitionReassignmentsResponse]:
    step = _Reassignments(context, request.allow_replication_factor_change)
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[step.alter(topic.name, wanted) for wanted in topic.partitions],
            )
            for topic in request.topics
        ],
    )
    return conclude(context.config, step.records, response)


class _Reassignments:
    """One request under way: what it has brought about so far."""

    def __init__(self, context: ControllerContext, may_change_count: bool) -> None:
        self.records: list[MetadataRecord] = []
        self._context = context
        self._rules = LeaderRules(context)
        self._may_change_count = may_change_count
        self._altered: set[PartitionKey] = set()

    def alter(self, name: str, wanted: ReassignablePartition) -> ReassignablePartitionResponse:
        result = ReassignablePartitionResponse(
            partition_index=wanted.partition_index, error_message=None
        )
        try:
            record = self._alter(name, wanted.partition_index, wanted.replicas)
            self.records += [] if record is None else [record]
        except ApiError as error:
            result.error_code, result.error_message = error.code, error.message
        return result

    def _alter(
        self, name: str, index: int, replicas: Sequence[int] | None
    ) -> PartitionChangeRecord | None:
        topic = self._context.image.topics.get(name)
        if topic is None:
            raise _unknown(f"Unable to find a topic named {name}.")
        partition = topic.partitions.get(index)
        if partition is None:
            raise _unknown(f"Unable to find partition {name}:{index}.")
        if (topic.id, index) in self._altered:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"{name}:{index} is named more than once.")
        change = PartitionChange(self._rules, topic, index, partition)
        if replicas is None:
            record = self._call_off(topic, index, partition, change)
        else:
            record = self._begin(partition, replicas, change)
        self._altered.add((topic.id, index))
        return record

    def _begin(
        self, partition: PartitionImage, wanted: Sequence[int], change: PartitionChange
    ) -> PartitionChangeRecord | None:
        check_replicas(self._context.image, wanted, None)
        count = target_count(partition)
        if not self._may_change_count and len(wanted) != count:
            raise ApiError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"The replication factor is changed from {count} to {len(wanted)}",
            )
        change.replicas, change.adding, change.removing = begun(partition, wanted)
        return change.record()

    def _call_off(
        self, topic: TopicImage, index: int, partition: PartitionImage, change: PartitionChange
    ) -> PartitionChangeRecord | None:
        if not is_moving(partition):
            raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        change.replicas, change.adding, change.removing = original_replicas(partition), (), ()
        change.isr = [one for one in partition.isr if one in change.replicas]
        is_unclean = bool(partition.isr) and not change.isr
        record = None if is_unclean and not self._rules.allows_unclean(topic) else change.record()
        if is_unclean and (record is None or record.leader == NO_LEADER):
            # Nobody of before has all of it.
            raise invalid_assignment(
                f"Unable to revert partition assignment for {topic.name}:{index} because it would "
                "require an unclean leader election."
            )
        return record


def _unknown(message: str) -> ApiError:
    return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)


def decide_list_reassignments(
    context: ControllerContext, request: ListPartitionReassignmentsRequest
) -> Outcome[ListPartitionReassignmentsResponse]:
    listed = [
        OngoingTopicReassignment(name=topic.name, partitions=moving)
        for topic, indexes in _asked(context, request)
        if (moving := [_moving(topic, index) for index in indexes if _is_moving(topic, index)])
    ]
    return Decision((), ListPartitionReassignmentsResponse(error_message=None, topics=listed))


def _asked(
    context: ControllerContext, request: ListPartitionReassignmentsRequest
) -> Iterator[tuple[TopicImage, Sequence[int]]]:
    topics = context.image.topics
    if request.topics is None:
        by_topic: dict[bytes, list[int]] = {}
        for topic_id, index in context.index.moving():
            by_topic.setdefault(topic_id, []).append(index)
        for topic_id, indexes in by_topic.items():
            yield topics.require(topic_id), indexes
        return
    for asked in request.topics:
        found = topics.get(asked.name)
        if found is not None:
            yield found, asked.partition_indexes


def _is_moving(topic: TopicImage, index: int) -> bool:
    partition = topic.partitions.get(index)
    return partition is not None and is_moving(partition)


def _moving(topic: TopicImage, index: int) -> OngoingPartitionReassignment:
    partition = topic.partitions[index]
    return OngoingPartitionReassignment(
        partition_index=index,
        replicas=partition.replicas,
        adding_replicas=partition.adding_replicas,
        removing_replicas=partition.removing_replicas,
    )
