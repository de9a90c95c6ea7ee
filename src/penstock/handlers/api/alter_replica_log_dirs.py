"""AlterReplicaLogDirs: a node has one log directory, so that every replica is there already."""

from __future__ import annotations

from pathlib import PurePath

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.error import ErrorCode
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
    if PurePath(path) != PurePath(broker.log_dir.path):
        return ErrorCode.LOG_DIR_NOT_FOUND
    if broker.log_dir.offline is not None:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if broker.partitions.get(topic, index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE
