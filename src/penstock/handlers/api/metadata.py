"""Metadata: who the brokers are, which topics there are, who leads what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.handlers import authorized
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.pace import Pace
from penstock.handlers.replica_state import ReplicaStates, replica_states
from penstock.handlers.told_unknown import ToldUnknown
from penstock.handlers.topology import INTERNAL_TOPICS
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.metadata.topic import TopicImage
from penstock.model.error import ErrorCode
from penstock.model.id import ZERO_ID
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

NULL_MEANS_ALL_FROM = 1
TOPIC_ID_ALONE_FROM = 12
LISTENER_ERROR_FROM = 6
AT_ONCE_PARTITIONS_MAX = 2000
"""All topics are told in one go while they have no more partitions than this."""


def handle(broker: Broker, request: MetadataRequest, call: Call) -> Answer:
    if call.version < TOPIC_ID_ALONE_FROM and any(map(_is_by_id, request.topics or ())):
        return _refuse(request)
    if broker.controller.is_making(_names(broker, request, call)):
        return _answer_when_made(broker, request, call)
    if broker.lost_leaders and (lost := _lost_leaders(broker, request, call)):
        return _answer_when_led(broker, request, call, lost)
    if _wants_all(request, call.version) and _are_many(broker):
        return _answer_many(broker, request, call)
    return _answer(broker, request, call)


def _is_by_id(topic: MetadataRequestTopic) -> bool:
    return topic.name is None or topic.topic_id != ZERO_ID


def _refuse(request: MetadataRequest) -> MetadataResponse:
    """Ids were in requests before there was an answer to them."""
    return MetadataResponse(
        topics=[
            MetadataResponseTopic(
                error_code=ErrorCode.INVALID_REQUEST,
                name=topic.name or "",
                topic_id=topic.topic_id,
            )
            for topic in request.topics or ()
        ]
    )


def _lost_leaders(broker: Broker, request: MetadataRequest, call: Call) -> set[int]:
    topics: Iterable[TopicImage | None] = broker.image.topics
    if not _wants_all(request, call.version):
        known = broker.image.topics
        topics = (
            known.get(one.name) if one.name else known.get_by_id(one.topic_id)
            for one in request.topics or ()
        )
    return broker.lost_leaders.among(
        one.leader for topic in topics if topic is not None for one in topic.partitions.values()
    )


async def _answer_when_led(
    broker: Broker, request: MetadataRequest, call: Call, lost: set[int]
) -> MetadataResponse:
    """Who asks because a leader has just died is told of the next one."""
    await broker.lost_leaders.wait_replaced(lost)
    return _answer(broker, request, call)


def _are_many(broker: Broker) -> bool:
    return broker.image.topics.partition_count() > AT_ONCE_PARTITIONS_MAX


async def _answer_many(broker: Broker, request: MetadataRequest, call: Call) -> MetadataResponse:
    """All topics of a large cluster, others served in between: as of the end, each for itself."""
    states = replica_states(broker, call.client.listener)
    pace = Pace(broker.clock.monotonic)
    topics = []
    for name in list(broker.image.topics.by_name):
        topic = broker.image.topics.get(name)
        if topic is not None:
            topics.append(_described(topic, states, call.version))
        await pace.keep()
    return _respond(broker, request, topics, replica_states(broker, call.client.listener))


def _names(broker: Broker, request: MetadataRequest, call: Call) -> Iterator[str]:
    return (
        topic.name
        for topic in request.topics or ()
        if topic.name and not _is_told_unknown(broker, topic.name, call)
    )


def _is_told_unknown(broker: Broker, name: str | None, call: Call) -> bool:
    told = call.client.told_unknown
    return told is not None and told.holds(name, broker.clock.monotonic())


async def _answer_when_made(
    broker: Broker, request: MetadataRequest, call: Call
) -> MetadataResponse:
    """Who asks when somebody else has begun it finds it made."""
    await broker.controller.wait_made(_names(broker, request, call))
    return _answer(broker, request, call)


def _answer(broker: Broker, request: MetadataRequest, call: Call) -> MetadataResponse:
    states = replica_states(broker, call.client.listener)
    if _wants_all(request, call.version):
        everything = [_described(topic, states, call.version) for topic in broker.image.topics]
        return _respond(broker, request, everything, states)
    wanted = _each_once(request.topics or [])
    topics = [_find(broker, topic, call, states) for topic in wanted]
    missing = _to_create(broker, request, topics, call)
    if missing:
        _have_made(broker, missing, call)
    return _respond(broker, request, topics, states)


def _wants_all(request: MetadataRequest, version: int) -> bool:
    return request.topics is None or (version < NULL_MEANS_ALL_FROM and not request.topics)


def _each_once(topics: list[MetadataRequestTopic]) -> list[MetadataRequestTopic]:
    """Where some are asked for by id, those alone, as Kafka has it."""
    if len(topics) < 2:
        return topics
    by_id = [topic for topic in topics if topic.topic_id != ZERO_ID]
    return list({(topic.topic_id, topic.name): topic for topic in by_id or topics}.values())


def _have_made(broker: Broker, missing: list[str], call: Call) -> None:
    client = call.client
    client.told_unknown = client.told_unknown or ToldUnknown()
    client.told_unknown.note(missing, broker.clock.monotonic())
    broker.controller.create_missing_topics(missing, client)


def _to_create(
    broker: Broker, request: MetadataRequest, topics: Iterable[MetadataResponseTopic], call: Call
) -> list[str]:
    if not request.allow_auto_topic_creation or not broker.config.creates_topics:
        return []
    return [
        topic.name
        for topic in topics
        if topic.name
        and topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        and not _is_told_unknown(broker, topic.name, call)
    ]


def _find(
    broker: Broker, wanted: MetadataRequestTopic, call: Call, states: ReplicaStates
) -> MetadataResponseTopic:
    if wanted.topic_id != ZERO_ID:
        topic = broker.image.topics.get_by_id(wanted.topic_id)
        if topic is None:
            return MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_ID,
                topic_id=wanted.topic_id,
                name=None,
            )
        return _described(topic, states, call.version)
    if wanted.name is None:
        return MetadataResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name="")
    topic = broker.image.topics.get(wanted.name)
    if topic is not None and not _is_told_unknown(broker, wanted.name, call):
        return _described(topic, states, call.version)
    return MetadataResponseTopic(
        error_code=broker.controller.name_error(wanted.name)
        or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        name=wanted.name,
        is_internal=wanted.name in INTERNAL_TOPICS,
    )


def _described(topic: TopicImage, states: ReplicaStates, version: int) -> MetadataResponseTopic:
    """As a client of this version is told of it."""
    told = _partition if version else _partition_of_old
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            told(index, partition, states, version)
            for index, partition in sorted(topic.partitions.items())
        ],
    )


def _partition(
    index: int, partition: PartitionImage, states: ReplicaStates, version: int
) -> MetadataResponsePartition:
    error = states.leader_error(partition, version >= LISTENER_ERROR_FROM)
    return MetadataResponsePartition(
        error_code=error,
        partition_index=index,
        leader_id=NO_LEADER if error else partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replicas,
        isr_nodes=partition.isr,
        offline_replicas=states.offline(partition),
    )


def _partition_of_old(
    index: int, partition: PartitionImage, states: ReplicaStates, version: int
) -> MetadataResponsePartition:
    """The first clients cannot do with a broker that has no address: it is left out."""
    told = _partition(index, partition, states, version)
    told.replica_nodes = states.reachable(partition.replicas)
    told.isr_nodes = states.reachable(partition.isr)
    told_count = len(told.replica_nodes) + len(told.isr_nodes)
    lacks_some = told_count < len(partition.replicas) + len(partition.isr)
    if lacks_some and told.error_code == ErrorCode.NONE:
        told.error_code = ErrorCode.REPLICA_NOT_AVAILABLE
    return told


def _brokers(broker: Broker, states: ReplicaStates) -> list[MetadataResponseBroker]:
    """Never nobody: when all start at once none is let in yet, and librdkafka would forget every
    address that it has. Then it is told the one that answers it."""
    known = states.addresses
    if states.has_fenced:
        lost = broker.lost_leaders.still_listed()
        known = [each for each in known if not each[4] or each[0] in lost] or [
            each for each in known if each[0] == broker.node_id
        ]
    return [
        MetadataResponseBroker(node_id=node_id, host=host, port=port, rack=rack)
        for node_id, host, port, rack, _ in known
    ]


def _respond(
    broker: Broker,
    request: MetadataRequest,
    topics: Iterable[MetadataResponseTopic],
    states: ReplicaStates,
) -> MetadataResponse:
    response = MetadataResponse(
        brokers=_brokers(broker, states),
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        topics=topics,
    )
    if request.include_topic_authorized_operations:
        for topic in response.topics:
            if topic.error_code != ErrorCode.UNKNOWN_TOPIC_ID:
                topic.topic_authorized_operations = authorized.TOPIC
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = authorized.CLUSTER
    return response
