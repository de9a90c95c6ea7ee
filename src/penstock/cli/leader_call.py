"""Requests that only the leaders of partitions answer: where logs begin and end, and their batches.

It finds the leaders and asks each once for all of its partitions. What a leader refuses is left
out of an answer; whoever needs it looks up the leaders again.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from penstock.cli.operator.link import Link
from penstock.cli.wire_call import BrokerConnection, Unreachable
from penstock.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from penstock.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

LATEST: Final = -1
EARLIEST: Final = -2
READ_UNCOMMITTED: Final = 0
READ_COMMITTED: Final = 1
FETCH_VERSION: Final = 12
"""The last that calls topics by name: a topic that is deleted and made again stays the same."""

Place = tuple[str, int]
T = TypeVar("T")


class Address(NamedTuple):
    host: str
    port: int


class Leaders:
    def __init__(self, by_place: Mapping[Place, Address], without: Iterable[Place] = ()) -> None:
        self.by_place = by_place
        self.without = frozenset(without)
        """Partitions that nobody leads."""

    def places(self, topic: str) -> list[Place]:
        return sorted(each for each in self.by_place if each[0] == topic)


def leaders_of(metadata: MetadataResponse) -> Leaders:
    nodes = {each.node_id: Address(each.host, each.port) for each in metadata.brokers}
    led = {
        (topic.name or "", each.partition_index): nodes.get(each.leader_id)
        for topic in metadata.topics
        for each in topic.partitions
    }
    return Leaders(
        {place: address for place, address in led.items() if address is not None},
        without=(place for place, address in led.items() if address is None),
    )


def read_metadata(link: Link, topics: Iterable[str] | None = None) -> MetadataResponse:
    """Of these topics, or of all."""
    named = None if topics is None else [MetadataRequestTopic(name=each) for each in topics]
    request = MetadataRequest(topics=named, allow_auto_topic_creation=False)
    return link.call(request, MetadataResponse)


def list_offsets(
    link: Link,
    leaders: Leaders,
    places: Iterable[Place],
    timestamp: int,
    isolation: int = READ_UNCOMMITTED,
) -> dict[Place, int]:
    """LATEST, EARLIEST, or the first offset with a record of that time or later; -1 for none."""
    found: dict[Place, int] = {}
    for address, meant in _by_leader(leaders, dict.fromkeys(places, timestamp)).items():
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=isolation,
            timeout_ms=link.timeout_ms,
            topics=[
                ListOffsetsTopic(
                    name=topic,
                    partitions=[
                        ListOffsetsPartition(partition_index=each, timestamp=at)
                        for each, at in parts
                    ],
                )
                for topic, parts in meant.items()
            ],
        )
        try:
            answer = link.call_at(*address, request, ListOffsetsResponse)
        except Unreachable:
            continue
        for topic in answer.topics:
            for each in topic.partitions:
                if not each.error_code:
                    found[(topic.name, each.partition_index)] = each.offset
    return found


def fetch(
    connection: BrokerConnection,
    offsets: Mapping[Place, int],
    *,
    bytes_max: int,
    partition_bytes_max: int,
    isolation: int = READ_COMMITTED,
    wait_ms: int = 0,
    pause: Callable[[float], object] = time.sleep,
) -> dict[Place, PartitionData]:
    """From these offsets on, as much as there is at once; of the first at least one batch.

    A client over its quota is given nothing for a while: `pause` waits so many seconds, and
    returns something true if nobody wants the answer any more.
    """
    by_topic: dict[str, list[FetchPartition]] = defaultdict(list)
    for (topic, partition), offset in offsets.items():
        by_topic[topic].append(
            FetchPartition(
                partition=partition, fetch_offset=offset, partition_max_bytes=partition_bytes_max
            )
        )
    request = FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1 if wait_ms else 0,
        max_bytes=bytes_max,
        isolation_level=isolation,
        topics=[FetchTopic(topic=name, partitions=parts) for name, parts in by_topic.items()],
    )
    answer = connection.call(request, FetchResponse, FETCH_VERSION)
    while not answer.responses and answer.throttle_time_ms:
        if pause(answer.throttle_time_ms / 1000):
            break
        answer = connection.call(request, FetchResponse, FETCH_VERSION)
    return {
        (topic.topic, each.partition_index): each
        for topic in answer.responses
        for each in topic.partitions
    }


def _by_leader(
    leaders: Leaders, wanted: Mapping[Place, T]
) -> dict[Address, dict[str, list[tuple[int, T]]]]:
    grouped: dict[Address, dict[str, list[tuple[int, T]]]] = {}
    for (topic, partition), value in wanted.items():
        address = leaders.by_place.get((topic, partition))
        if address is not None:
            grouped.setdefault(address, {}).setdefault(topic, []).append((partition, value))
    return grouped
