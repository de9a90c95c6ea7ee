"""Partitions that this node has no replica of: their ends, and times of records, asked of leaders.

One question at a time to each leader. Whoever does not answer leaves what was known before.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from penstock.coordinator.brokers import NoAnswer, NotSpoken
from penstock.metadata.image import ClusterImage
from penstock.model.error import ApiError
from penstock.model.id import TopicPartition
from penstock.protocol.entity import Entity
from penstock.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from penstock.records.header import iter_batches
from penstock.records.time_search import time_at

PATIENCE_S: Final = 3.0
TIMES_MAX: Final = 200
"""Asked of one leader in one look: each is a request of its own."""
_LATEST: Final = -1
_LIST_OFFSETS_MIN: Final = 1
_FETCH_MIN: Final = 4


class Brokers(Protocol):
    async def call(self, node_id: int, request: Entity, min_version: int) -> Entity: ...


class RemoteEnds:
    def __init__(self, image: ClusterImage, brokers: Brokers) -> None:
        self._image = image
        self._brokers = brokers

    async def ends(self, places: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        found: dict[TopicPartition, int] = {}
        asked = [
            self._ends_at(leader, theirs) for leader, theirs in self._by_leader(places).items()
        ]
        for answer in await asyncio.gather(*asked):
            found |= answer
        return found

    async def times(
        self, offsets: Mapping[TopicPartition, Iterable[int]]
    ) -> dict[tuple[TopicPartition, int], int | None]:
        """Of the first record at or behind each offset."""
        found: dict[tuple[TopicPartition, int], int | None] = {}

        async def ask(leader: int, places: list[TopicPartition]) -> None:
            asked = [(place, offset) for place in places for offset in offsets[place]]
            for place, offset in asked[:TIMES_MAX]:
                answer = await self._call(leader, self._fetch(place, offset), _FETCH_MIN)
                if answer is None:
                    return
                assert isinstance(answer, FetchResponse)
                found[place, offset] = _first_time(answer, offset)

        await asyncio.gather(*(ask(*each) for each in self._by_leader(offsets).items()))
        return found

    async def records(self, place: TopicPartition, offset: int, max_bytes: int) -> bytes:
        """What a consumer would be given; nothing where nobody answers."""
        leader = next(iter(self._by_leader((place,))), None)
        if leader is None:
            return b""
        answer = await self._call(leader, self._fetch(place, offset, max_bytes), _FETCH_MIN)
        assert answer is None or isinstance(answer, FetchResponse)
        return b"" if answer is None else b"".join(_records(answer))

    def _by_leader(self, places: Iterable[TopicPartition]) -> dict[int, list[TopicPartition]]:
        by_leader: dict[int, list[TopicPartition]] = defaultdict(list)
        for place in places:
            known = self._image.topics.partition(*place)
            if known is not None and known.leader >= 0:
                by_leader[known.leader].append(place)
        return by_leader

    async def _ends_at(
        self, leader: int, places: Iterable[TopicPartition]
    ) -> dict[TopicPartition, int]:
        topics: dict[str, ListOffsetsTopic] = {}
        for place in places:
            topic = topics.setdefault(place.topic, ListOffsetsTopic(name=place.topic))
            topic.partitions.append(
                ListOffsetsPartition(partition_index=place.partition, timestamp=_LATEST)
            )
        request = ListOffsetsRequest(replica_id=-1, topics=list(topics.values()))
        answer = await self._call(leader, request, _LIST_OFFSETS_MIN)
        if answer is None:
            return {}
        assert isinstance(answer, ListOffsetsResponse)
        return {
            TopicPartition(topic.name, each.partition_index): each.offset
            for topic in answer.topics
            for each in topic.partitions
            if not each.error_code
        }

    def _fetch(self, place: TopicPartition, offset: int, max_bytes: int = 1) -> FetchRequest:
        """At least one batch, whatever the limit."""
        known = self._image.topics.get(place.topic)
        part = FetchPartition(
            partition=place.partition, fetch_offset=offset, partition_max_bytes=max_bytes
        )
        topic = FetchTopic(topic=place.topic, partitions=[part])
        if known is not None:
            topic.topic_id = known.id
        return FetchRequest(
            replica_id=-1, max_wait_ms=0, min_bytes=0, max_bytes=max_bytes, topics=[topic]
        )

    async def _call(self, leader: int, request: Entity, min_version: int) -> Entity | None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._brokers.call(leader, request, min_version)
        except (NoAnswer, NotSpoken, TimeoutError):
            return None


def _records(answer: FetchResponse) -> Iterator[bytes]:
    for topic in answer.responses:
        for each in topic.partitions:
            if not each.error_code and isinstance(each.records, bytes | memoryview):
                yield bytes(each.records)


def _first_time(answer: FetchResponse, offset: int) -> int | None:
    for data in _records(answer):
        try:
            for position, header in iter_batches(data, 0, len(data)):
                if header.last_offset >= offset and not header.is_control:
                    batch = memoryview(data)[position : position + header.size]
                    return time_at(batch, offset)
        except ApiError:
            return None
    return None
