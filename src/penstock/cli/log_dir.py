"""The brokers' log directories over the protocol. Prints nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from penstock.cli.cluster import Cluster, is_internal, unknown_topic
from penstock.cli.failure import Failure
from penstock.cli.wire_call import call
from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)

if TYPE_CHECKING:
    from penstock.cli.wire_security import Connect


@dataclass(frozen=True, slots=True)
class PartitionSize:
    topic: str
    partition: int
    size_bytes: int
    offset_lag: int
    future: bool
    """A copy on its way into this directory."""


@dataclass(frozen=True, slots=True)
class LogDir:
    broker: int
    path: str
    error: str | None
    cordoned: bool
    """It takes no new replicas."""
    total_bytes: int | None
    usable_bytes: int | None
    partitions: list[PartitionSize]

    def hide_empty_internal(self) -> int:
        """Drop partitions that Kafka made for itself and never wrote to; how many they were."""
        shown = [each for each in self.partitions if each.size_bytes or not is_internal(each.topic)]
        hidden = len(self.partitions) - len(shown)
        self.partitions[:] = shown
        return hidden

    def document(self) -> dict[str, Any]:
        return asdict(self)


def describe_log_dirs(cluster: Cluster, topics: set[str], brokers: set[int]) -> list[LogDir]:
    nodes = dict(sorted(cluster.metadata().brokers.items()))
    missing = sorted(brokers - set(nodes))
    if missing:
        raise Failure(f"there is no broker {missing[0]}; there are {', '.join(map(str, nodes))}")
    # The request wants partition numbers for each topic; asking for all and choosing is shorter.
    request = DescribeLogDirsRequest(topics=None)
    return [
        _log_dir(node.id, result, topics)
        for node in nodes.values()
        if not brokers or node.id in brokers
        for result in _results(node, request, cluster.connect)
    ]


def check_topics(cluster: Cluster, topics: Iterable[str], directories: Iterable[LogDir]) -> None:
    """A topic that is deleted may still be on a disk: what is found there is no mistake."""
    found = {each.topic for one in directories for each in one.partitions}
    for topic in topics:
        if topic not in found and topic not in cluster.metadata().topics:
            raise unknown_topic(topic)


def _results(node: Any, request: DescribeLogDirsRequest, connect: Connect) -> list[Any]:
    answer = call(connect, node.host, node.port, request, DescribeLogDirsResponse)
    if answer.error_code:
        raise Failure(f"broker {node.id}: {ErrorCode(answer.error_code).name}")
    return answer.results


def _log_dir(broker: int, result: Any, topics: set[str]) -> LogDir:
    partitions = [
        PartitionSize(
            topic=topic.name,
            partition=each.partition_index,
            size_bytes=each.partition_size,
            offset_lag=each.offset_lag,
            future=each.is_future_key,
        )
        for topic in result.topics
        if not topics or topic.name in topics
        for each in topic.partitions
    ]
    return LogDir(
        broker=broker,
        path=result.log_dir,
        error=ErrorCode(result.error_code).name if result.error_code else None,
        cordoned=result.is_cordoned,
        total_bytes=_known(result.total_bytes),
        usable_bytes=_known(result.usable_bytes),
        partitions=sorted(partitions, key=lambda each: (each.topic, each.partition)),
    )


def _known(count: int) -> int | None:
    return None if count < 0 else count
