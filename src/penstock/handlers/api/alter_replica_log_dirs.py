"""AlterReplicaLogDirs: in which of the node's directories replicas are wanted.

Answered when a move has begun, or is not needed; DescribeLogDirs shows how far it is."""

from __future__ import annotations

from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.id import TopicPartition
from penstock.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


def handle(broker: Broker, request: AlterReplicaLogDirsRequest, call: Call) -> Answer:
    # Named in two directories, a replica is wanted in the last of them.
    wanted = {
        TopicPartition(topic.name, index): each.path
        for each in request.dirs
        for topic in each.topics
        for index in topic.partitions
    }
    topics: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for key, path in wanted.items():
        error_code = broker.log_dir_moves.alter(path, key)
        topics.setdefault(key.topic, []).append(
            AlterReplicaLogDirPartitionResult(partition_index=key.partition, error_code=error_code)
        )
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(topic_name=name, partitions=partitions)
            for name, partitions in topics.items()
        ]
    )
