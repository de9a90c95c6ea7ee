"""CreatePartitions: a topic only ever grows."""

from __future__ import annotations

from collections import Counter

from penstock.controller.assignment import assigned_partition, invalid_assignment
from penstock.controller.config import ControllerContext
from penstock.controller.outcome import (
    ChargePartitions,
    Outcome,
    RequestTooLarge,
    charge_nobody,
    check_partition_count,
    conclude,
)
from penstock.controller.placement import new_partition, place_partitions
from penstock.controller.tenant import TenantLimits
from penstock.metadata.partition import PartitionImage
from penstock.metadata.record import MetadataRecord
from penstock.metadata.snapshot import partition_record
from penstock.metadata.topic import TopicImage
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


def decide_create_partitions(
    context: ControllerContext,
    request: CreatePartitionsRequest,
    charge: ChargePartitions = charge_nobody,
) -> Outcome[CreatePartitionsResponse]:
    counts = Counter(topic.name for topic in request.topics)
    records: list[MetadataRecord] = []
    results: dict[str, CreatePartitionsTopicResult] = {}
    limits = TenantLimits(context)
    for topic in request.topics:
        result = CreatePartitionsTopicResult(name=topic.name, error_message=None)
        try:
            if counts[topic.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            records += _grow(context, topic, charge, len(records), limits)
        except ApiError as error:
            if isinstance(error, RequestTooLarge):
                raise
            result.error_code, result.error_message = error.code, error.message
        results[topic.name] = result
    response = CreatePartitionsResponse(results=list(results.values()))
    return conclude(context.config, [] if request.validate_only else records, response)


def _grow(
    context: ControllerContext,
    asked: CreatePartitionsTopic,
    charge: ChargePartitions,
    record_count: int,
    limits: TenantLimits,
) -> list[MetadataRecord]:
    topic = context.image.topics.get(asked.name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    present = len(topic.partitions)
    added = range(present, _checked_count(asked, present))
    check_partition_count(context.config, record_count + len(added))
    limits.check_growth(asked.name, present, asked.count)
    charge(len(added))
    replication_factor = len(next(iter(topic.partitions.values())).replicas)
    if asked.assignments is None:
        partitions = _placed(context, topic, added, replication_factor)
    else:
        partitions = _assigned(context, asked, added, replication_factor)
    return [
        partition_record(topic.id, index, partition)
        for index, partition in zip(added, partitions, strict=True)
    ]


def _checked_count(asked: CreatePartitionsTopic, present: int) -> int:
    if asked.count == present:
        raise _invalid(f"Topic already has {present} partition(s).")
    if asked.count < present:
        raise _invalid(
            f"The topic {asked.name} currently has {present} partition(s); "
            f"{asked.count} would not be an increase."
        )
    additional = asked.count - present
    if asked.assignments is not None and len(asked.assignments) != additional:
        raise invalid_assignment(
            f"Attempted to add {additional} additional partition(s), but only "
            f"{len(asked.assignments)} assignment(s) were specified."
        )
    return asked.count


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_PARTITIONS, message)


def _placed(
    context: ControllerContext, topic: TopicImage, added: range, replication_factor: int
) -> list[PartitionImage]:
    partitions = []
    for replicas in place_partitions(context.image, topic.id, added, replication_factor):
        partition = new_partition(context.image, replicas)
        assert partition is not None, "placement puts an active broker first"
        partitions.append(partition)
    return partitions


def _assigned(
    context: ControllerContext, asked: CreatePartitionsTopic, added: range, replication_factor: int
) -> list[PartitionImage]:
    assert asked.assignments is not None
    return [
        assigned_partition(context.image, index, assignment.broker_ids, replication_factor)
        for index, assignment in zip(added, asked.assignments, strict=True)
    ]
