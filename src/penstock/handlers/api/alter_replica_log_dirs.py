"""AlterReplicaLogDirs: whether a replica is in the directory it is wanted in.

None is moved from one directory to another: that is refused with INVALID_REQUEST."""

from __future__ import annotations

from pathlib import PurePath

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


def handle(broker: Broker, request: AlterReplicaLogDirsRequest, call: Call) -> Answer:
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=topic.name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(
                        partition_index=index,
                        error_code=_error(broker, wanted.path, topic.name, index),
                    )
                    for index in topic.partitions
                ],
            )
            for wanted in request.dirs
            for topic in wanted.topics
        ]
    )


def _error(broker: Broker, path: str, topic: str, index: int) -> ErrorCode:
    wanted = PurePath(path)
    found = [each for each in broker.log_dirs.data if PurePath(each.path) == wanted]
    if not found:
        return ErrorCode.LOG_DIR_NOT_FOUND
    if found[0].offline is not None:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if broker.partitions.get(topic, index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    home = broker.log_dirs.home(TopicPartition(topic, index))
    # A replica that has no log yet can only begin where one is chosen.
    is_there = home is found[0] or (home is None and len(broker.log_dirs.data) == 1)
    return ErrorCode.NONE if is_there else ErrorCode.INVALID_REQUEST
