"""DescribeLogDirs: how much room each partition takes, and how much is left."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
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
    if log_dir.is_offline:
        return DescribeLogDirsResponse(
            results=[
                DescribeLogDirsResult(
                    log_dir=str(log_dir.path), error_code=ErrorCode.KAFKA_STORAGE_ERROR
                )
            ]
        )
    total_bytes, usable_bytes = log_dir.space()
    return DescribeLogDirsResponse(
        results=[
            DescribeLogDirsResult(
                log_dir=str(log_dir.path),
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
            _partition(partition)
            for index, partition in broker.partitions.of_topic(name).items()
            if indexes is None or index in indexes
        ]
        if found:
            topics.append(DescribeLogDirsTopic(name=name, partitions=found))
    return topics


def _partition(partition: Partition) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(
        partition_index=partition.index, partition_size=partition.log.size_bytes, offset_lag=0
    )
