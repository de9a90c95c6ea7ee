"""DescribeTopicPartitions: topics in pages, so that huge ones fit in small answers (KIP-966)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.handlers import authorized
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.handlers.replica_state import ReplicaStates, replica_states
from penstock.handlers.topic_page import refuse_cursor
from penstock.handlers.topology import INTERNAL_TOPICS
from penstock.metadata.partition import NO_LEADER, PartitionImage
from penstock.metadata.topic import TopicImage
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)


def handle(broker: Broker, request: DescribeTopicPartitionsRequest, call: Call) -> Answer:
    refused = refuse_cursor(request)
    if refused is not None:
        return refused
    limit = max(1, min(request.response_partition_limit, _limit_of(broker)))
    states = replica_states(broker, call.client.listener)
    response = DescribeTopicPartitionsResponse()
    for name, first in _pages(broker, request):
        if limit == 0:
            response.next_cursor = ResponseCursor(topic_name=name, partition_index=first)
            break
        topic = broker.image.topics.get(name)
        if topic is None:
            response.topics.append(_unknown(broker, name))
            continue
        indexes = [index for index in sorted(topic.partitions) if index >= first]
        response.topics.append(_described(states, topic, indexes[:limit]))
        if len(indexes) > limit:
            response.next_cursor = ResponseCursor(topic_name=name, partition_index=indexes[limit])
            break
        limit -= len(indexes)
    return response


def _limit_of(broker: Broker) -> int:
    return int(broker.config.get("max.request.partition.size.limit"))


def _pages(broker: Broker, request: DescribeTopicPartitionsRequest) -> Iterator[tuple[str, int]]:
    """Topic names in order from the cursor on, each with the first partition to tell."""
    cursor = request.cursor
    if request.topics:
        names = sorted({topic.name for topic in request.topics})
    else:
        names = sorted(topic.name for topic in broker.image.topics)
    for name in names:
        if cursor is None or name > cursor.topic_name:
            yield name, 0
        elif name == cursor.topic_name:
            yield name, cursor.partition_index


def _unknown(broker: Broker, name: str) -> DescribeTopicPartitionsResponseTopic:
    code = broker.controller.name_error(name) or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DescribeTopicPartitionsResponseTopic(
        error_code=code, name=name, topic_authorized_operations=authorized.TOPIC
    )


def _described(
    states: ReplicaStates, topic: TopicImage, indexes: list[int]
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL_TOPICS,
        topic_authorized_operations=authorized.TOPIC,
        partitions=[_partition(states, index, topic.partitions[index]) for index in indexes],
    )


def _partition(
    states: ReplicaStates, index: int, partition: PartitionImage
) -> DescribeTopicPartitionsResponsePartition:
    error = states.leader_error(partition, tells_listeners=True)
    return DescribeTopicPartitionsResponsePartition(
        error_code=error,
        partition_index=index,
        leader_id=NO_LEADER if error else partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replicas,
        isr_nodes=partition.isr,
        eligible_leader_replicas=partition.elr,
        last_known_elr=partition.last_known_elr,
        offline_replicas=states.offline(partition),
    )
