"""Moving a replica to another directory of its broker, over the protocol."""

from __future__ import annotations

import time

from penstock.cli.cluster import Cluster
from penstock.cli.failure import Failure, UsageFailure
from penstock.cli.log_dir import LogDir, PartitionSize, describe_log_dirs
from penstock.cli.operator.place import parse_place
from penstock.cli.operator.state import TopicPartition
from penstock.cli.operator.status_line import StatusLine
from penstock.cli.output import human_bytes
from penstock.cli.wire_call import call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)

LOOK_S = 0.2

_REASONS = {
    ErrorCode.LOG_DIR_NOT_FOUND: "it has no such log directory; see `penstock log-dirs`",
    ErrorCode.REPLICA_NOT_AVAILABLE: "it has no replica of it; should it get one, then there",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "there is no such partition",
    ErrorCode.INVALID_REPLICA_ASSIGNMENT: "that directory is cordoned: it takes no new ones",
    ErrorCode.KAFKA_STORAGE_ERROR: "one of its log directories is offline",
}


def one_partition(text: str) -> TopicPartition:
    topic, number = parse_place(text)
    if number is None:
        raise UsageFailure(f"a partition is TOPIC:NUMBER, such as {topic}:0")
    return TopicPartition(topic, number)


def begin_move(cluster: Cluster, where: TopicPartition, broker: int, path: str) -> None:
    node = cluster.metadata().brokers.get(broker)
    if node is None:
        raise Failure(f"there is no broker {broker}")
    topic = AlterReplicaLogDirTopic(name=where.topic, partitions=[where.partition])
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[topic])])
    answer = call(cluster.connect, node.host, node.port, request, AlterReplicaLogDirsResponse)
    code = ErrorCode(answer.results[0].partitions[0].error_code)
    if code is not ErrorCode.NONE:
        raise Failure(f"broker {broker} does not move {where}: {_REASONS.get(code, code.name)}")


def wait_moved(cluster: Cluster, where: TopicPartition, broker: int, path: str) -> None:
    """Failure if the move was called off, or a disk has failed."""
    line = StatusLine()
    while True:
        found = _find(describe_log_dirs(cluster, {where.topic}, {broker}), where, path)
        if found is None:
            raise Failure(f"{where} of broker {broker} moves no longer; see `penstock log-dirs`")
        if not found.future:
            line.clear()
            return
        copied = human_bytes(found.size_bytes)
        line.show("copy", f"{copied} copied, {found.offset_lag:,} records left")
        time.sleep(LOOK_S)


def _find(directories: list[LogDir], where: TopicPartition, path: str) -> PartitionSize | None:
    for directory in directories:
        for each in directory.partitions:
            if directory.path == path and (each.topic, each.partition) == where:
                return each
    return None
