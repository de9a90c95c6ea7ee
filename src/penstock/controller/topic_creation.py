"""CreateTopics: every topic of the request stands or falls by itself."""

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
from penstock.controller.policy import check_policy
from penstock.controller.tenant import TenantLimits
from penstock.controller.topic_name import METADATA_TOPIC, check_topic_name
from penstock.metadata.config import ResourceType
from penstock.metadata.partition import PartitionImage
from penstock.metadata.record import MetadataRecord
from penstock.metadata.snapshot import partition_record
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.topic_record import TopicRecord

Described = dict[frozenset[tuple[str, str]], list[CreatableTopicConfigs]]
"""Settings in effect by what is overridden: topics of one request mostly share them."""

_DEFAULT = -1


def decide_create_topics(
    context: ControllerContext,
    request: CreateTopicsRequest,
    charge: ChargePartitions = charge_nobody,
) -> Outcome[CreateTopicsResponse]:
    _check_total(context, request)
    counts = Counter(topic.name for topic in request.topics)
    records: list[MetadataRecord] = []
    results: dict[str, CreatableTopicResult] = {}
    described: Described = {}
    limits = TenantLimits(context)
    for topic in request.topics:
        try:
            _check_mentioned(topic.name, counts[topic.name])
            results[topic.name] = _create_topic(context, topic, charge, records, described, limits)
        except ApiError as error:
            results[topic.name] = _failure(topic.name, error)
    response = CreateTopicsResponse(topics=list(results.values()))
    return conclude(context.config, [] if request.validate_only else records, response)


def _check_total(context: ControllerContext, request: CreateTopicsRequest) -> None:
    default = context.config.num_partitions
    check_partition_count(
        context.config,
        sum(
            len(topic.assignments)
            or (default if topic.num_partitions == _DEFAULT else max(topic.num_partitions, 0))
            for topic in request.topics
        ),
    )


def _check_mentioned(name: str, count: int) -> None:
    if count > 1:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    if name == METADATA_TOPIC:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"Creation of internal topic {name} is prohibited."
        )


def _failure(name: str, error: ApiError) -> CreatableTopicResult:
    if isinstance(error, RequestTooLarge):
        raise error
    return CreatableTopicResult(name=name, error_code=error.code, error_message=error.message)


def _create_topic(
    context: ControllerContext,
    topic: CreatableTopic,
    charge: ChargePartitions,
    records: list[MetadataRecord],
    described: Described,
    limits: TenantLimits,
) -> CreatableTopicResult:
    """Adds to `records` only once everything about the topic is known to be right."""
    _check_name_is_free(context, topic.name)
    overrides = {**limits.defaults(topic.name), **_overrides(topic)}
    if overrides:
        context.schema.check_topic(overrides)
    topic_id = context.new_id()
    partitions = _partitions(context, topic, topic_id)
    limits.check_new(topic.name, len(partitions), overrides)
    check_policy(
        context.config.create_topic_policy,
        topic=topic.name,
        partitions=len(partitions),
        replication_factor=len(partitions[0].replicas),
        configs=dict(overrides),
    )
    charge(len(partitions))
    records.append(TopicRecord(name=topic.name, topic_id=topic_id))
    records += _config_records(topic.name, overrides)
    records += (partition_record(topic_id, index, one) for index, one in enumerate(partitions))
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=len(partitions),
        replication_factor=len(partitions[0].replicas),
        configs=_describe(context, overrides, described),
    )


def _check_name_is_free(context: ControllerContext, name: str) -> None:
    topics = context.image.topics
    if name in topics:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    check_topic_name(name)
    colliding = topics.colliding_with(name)
    if colliding is not None:
        raise ApiError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {colliding}",
        )


def _overrides(topic: CreatableTopic) -> dict[str, str]:
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"Null value not supported for topic configs: {','.join(nulls)}",
        )
    return {config.name: config.value for config in topic.configs if config.value is not None}


def _config_records(name: str, overrides: dict[str, str]) -> list[ConfigRecord]:
    return [
        ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=name, name=key, value=value)
        for key, value in overrides.items()
    ]


def _partitions(
    context: ControllerContext, topic: CreatableTopic, topic_id: TopicId
) -> list[PartitionImage]:
    if topic.assignments:
        return _assigned_partitions(context, topic)
    _check_counts(topic)
    count = topic.num_partitions
    if count == _DEFAULT:
        count = context.config.num_partitions
    return _placed_partitions(context, topic_id, count, _replication_factor(context, topic))


def _check_counts(topic: CreatableTopic) -> None:
    if topic.replication_factor < _DEFAULT or topic.replication_factor == 0:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if topic.num_partitions < _DEFAULT or topic.num_partitions == 0:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )


def _replication_factor(context: ControllerContext, topic: CreatableTopic) -> int:
    """A caller who names none gets as many as there can be, up to the default."""
    if topic.replication_factor != _DEFAULT:
        return topic.replication_factor
    factor = context.config.default_replication_factor
    if context.config.replication_factor_chosen:
        return factor
    return max(1, min(factor, len(context.image.brokers)))


def _placed_partitions(
    context: ControllerContext, topic_id: TopicId, count: int, replication_factor: int
) -> list[PartitionImage]:
    placed = place_partitions(context.image, topic_id, range(count), replication_factor)
    made: dict[tuple[int, ...], PartitionImage] = {}
    for replicas in placed:
        key = tuple(replicas)
        if key not in made:
            partition = new_partition(context.image, key)
            assert partition is not None, "placement puts an active broker first"
            made[key] = partition
    return [made[tuple(replicas)] for replicas in placed]


def _assigned_partitions(context: ControllerContext, topic: CreatableTopic) -> list[PartitionImage]:
    if topic.replication_factor != _DEFAULT:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set "
            "to -1.",
        )
    if topic.num_partitions != _DEFAULT:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        )
    partitions: dict[int, PartitionImage] = {}
    replication_factor = None
    for assignment in topic.assignments:
        index = assignment.partition_index
        if index in partitions:
            raise invalid_assignment(
                f"Found multiple manual partition assignments for partition {index}"
            )
        partitions[index] = assigned_partition(
            context.image, index, assignment.broker_ids, replication_factor
        )
        replication_factor = len(assignment.broker_ids)
    if sorted(partitions) != list(range(len(partitions))):
        raise invalid_assignment("partitions should be a consecutive 0-based integer sequence")
    return [partitions[index] for index in range(len(partitions))]


def _describe(
    context: ControllerContext, overrides: dict[str, str], described: Described
) -> list[CreatableTopicConfigs]:
    key = frozenset(overrides.items())
    if key not in described:
        described[key] = [
            CreatableTopicConfigs(
                name=entry.name,
                value=None if entry.is_sensitive else entry.value,
                read_only=entry.is_read_only,
                config_source=entry.source,
                is_sensitive=entry.is_sensitive,
            )
            for entry in context.schema.describe_topic(overrides, context.image)
        ]
    return described[key]
