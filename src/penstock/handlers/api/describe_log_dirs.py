"""DescribeLogDirs: how much room each partition takes, what is on its way into a directory, and how
much is left."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from penstock.storage.failure import failure_of
from penstock.storage.log_dir import LogDir

Wanted = list[tuple[str, set[int] | None]]
"""Topics, and which of their partitions; None means all."""


def handle(broker: Broker, request: DescribeLogDirsRequest, call: Call) -> Answer:
    wanted = _wanted(broker, request.topics)
    return DescribeLogDirsResponse(
        results=[_describe(broker, each, wanted) for each in broker.log_dirs.data]
    )


def _describe(broker: Broker, log_dir: LogDir, wanted: Wanted) -> DescribeLogDirsResult:
    failed = DescribeLogDirsResult(log_dir=log_dir.path, error_code=ErrorCode.KAFKA_STORAGE_ERROR)
    if log_dir.offline is not None:
        return failed
    try:
        total_bytes, usable_bytes = log_dir.space()
        topics = _topics(broker, log_dir, wanted)
    except OSError as error:
        failure = failure_of(error, "read", log_dir.path)
        if isinstance(failure, StorageError):
            log_dir.fail(failure)
        return failed
    return DescribeLogDirsResult(
        log_dir=log_dir.path,
        topics=topics,
        total_bytes=total_bytes,
        usable_bytes=usable_bytes,
        is_cordoned=log_dir.path in broker.log_dirs.cordoned,
    )


def _wanted(broker: Broker, asked: list[DescribableLogDirTopic] | None) -> Wanted:
    if asked is None:
        return [(topic.name, None) for topic in broker.image.topics]
    return [(topic.topic, set(topic.partitions)) for topic in asked]


def _topics(broker: Broker, log_dir: LogDir, wanted: Wanted) -> list[DescribeLogDirsTopic]:
    topics = []
    for name, indexes in wanted:
        found = [
            _partition(log_dir, TopicPartition(name, index))
            for index in broker.partitions.of_topic(name)
            if (indexes is None or index in indexes)
            and _is_in(broker, log_dir, TopicPartition(name, index))
        ]
        if log_dir.futures:
            found += _futures(broker, log_dir, name, indexes)
        if found:
            topics.append(DescribeLogDirsTopic(name=name, partitions=found))
    return topics


def _futures(
    broker: Broker, log_dir: LogDir, topic: str, indexes: set[int] | None
) -> list[DescribeLogDirsPartition]:
    found = []
    for key, future in log_dir.futures.items():
        partition = broker.partitions.get(*key)
        if key.topic != topic or (indexes is not None and key.partition not in indexes):
            continue
        lag = -1
        if partition is not None and partition.is_open:
            lag = partition.log.end_offset - future.end_offset
        found.append(
            DescribeLogDirsPartition(
                partition_index=key.partition,
                partition_size=future.size_bytes,
                offset_lag=lag,
                is_future_key=True,
            )
        )
    return found


def _is_in(broker: Broker, log_dir: LogDir, key: TopicPartition) -> bool:
    """One that nobody has used yet is nowhere, and shown where it can only be."""
    return key in log_dir or (len(broker.log_dirs.data) == 1 and key not in broker.log_dirs)


def _partition(log_dir: LogDir, key: TopicPartition) -> DescribeLogDirsPartition:
    size = log_dir.size_bytes(key) if key in log_dir else 0
    return DescribeLogDirsPartition(
        partition_index=key.partition, partition_size=size, offset_lag=0
    )
