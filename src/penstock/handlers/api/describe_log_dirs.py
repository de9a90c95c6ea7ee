"""DescribeLogDirs: how much room each partition takes, and how much is left."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from penstock.replication.partition import Partition


def handle(broker: Broker, request: DescribeLogDirsRequest, call: Call) -> Answer:
    log_dir = broker.log_dir
    if log_dir.offline is not None:
        return DescribeLogDirsResponse(
            results=[
                DescribeLogDirsResult(
                    log_dir=log_dir.path, error_code=ErrorCode.KAFKA_STORAGE_ERROR
                )
            ]
        )
    total_bytes, usable_bytes = log_dir.space()
    return DescribeLogDirsResponse(
        results=[
            DescribeLogDirsResult(
                log_dir=log_dir.path,
                topics=_topics(broker, request.topics),
                total_bytes=total_bytes,
                usable_bytes=usable_bytes,
            )
        ]
    )


def _topics(
    broker: Broker, asked: list[DescribableLogDirTopic] | None
) -> list[DescribeLogDirsTopic]:
    if asked is None:
        wanted = [(topic.name, None) for topic in broker.image.topics]
    else:
        wanted = [(topic.topic, set(topic.partitions)) for topic in asked]  # type: ignore[misc]
    topics = []
    for name, indexes in wanted:
        found = [
            _partition(broker, partition)
            for index, partition in broker.partitions.of_topic(name).items()
            if indexes is None or index in indexes
        ]
        if found:
            topics.append(DescribeLogDirsTopic(name=name, partitions=found))
    return topics


def _partition(broker: Broker, partition: Partition) -> DescribeLogDirsPartition:
    key = TopicPartition(partition.topic, partition.index)
    size = broker.log_dir.size_bytes(key) if key in broker.log_dir else 0
    return DescribeLogDirsPartition(
        partition_index=partition.index, partition_size=size, offset_lag=0
    )
