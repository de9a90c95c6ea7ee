"""Brings the markers of a transaction to the leaders of its partitions, here or elsewhere.

Who leads is looked up anew with every try. A partition without a leader gets its marker when it has
one; only one that the metadata log has deleted needs none. Trying again is the caller's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NamedTuple, cast

from penstock.coordinator.brokers import Brokers, NoAnswer, NotSpoken
from penstock.coordinator.marker import UNANSWERED, Marker
from penstock.coordinator.marker_form import markers_request, markers_results
from penstock.coordinator.marker_writer import MarkerResult, MarkerWriter
from penstock.coordinator.outbox import Outbox
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import NO_LEADER
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.write_txn_markers import WriteTxnMarkersResponse

VERSION_MIN = 1


class Outgoing(NamedTuple):
    marker: Marker
    partitions: list[TopicPartition]


class MarkerSender:
    def __init__(
        self, node_id: int, image: ClusterImage, writer: MarkerWriter, brokers: Brokers
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._writer = writer
        self._brokers = brokers
        self._outbox: Outbox[Outgoing, MarkerResult] = Outbox(
            self._send_to, lambda one: one.marker.producer_id
        )

    async def send(self, marker: Marker, partitions: Iterable[TopicPartition]) -> MarkerResult:
        """What became of each. UNKNOWN_TOPIC_OR_PARTITION is said of deleted ones alone."""
        here: list[TopicPartition] = []
        elsewhere: dict[int, list[TopicPartition]] = {}
        result: MarkerResult = {}
        for key in partitions:
            image = self._image.topics.partition(*key)
            if image is None:
                result[key] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            elif image.leader == self._node_id:
                here.append(key)
            elif image.leader == NO_LEADER:
                result[key] = ErrorCode.LEADER_NOT_AVAILABLE
            else:
                elsewhere.setdefault(image.leader, []).append(key)
        sent = [
            (keys, self._outbox.put(node_id, Outgoing(marker, keys)))
            for node_id, keys in elsewhere.items()
        ]
        if here:
            result |= await self._writer.write(marker, here)
        for keys, future in sent:
            result |= await _answer(keys, future)
        return result

    async def close(self) -> None:
        await self._outbox.close()

    async def _send_to(self, node_id: int, outgoing: list[Outgoing]) -> list[MarkerResult]:
        try:
            response = await self._brokers.call(node_id, markers_request(outgoing), VERSION_MIN)
        except NoAnswer:
            return [dict.fromkeys(one.partitions, UNANSWERED) for one in outgoing]
        except NotSpoken:
            return [
                dict.fromkeys(one.partitions, ErrorCode.BROKER_NOT_AVAILABLE) for one in outgoing
            ]
        found = markers_results(cast("WriteTxnMarkersResponse", response))
        return [
            {
                key: self._as_known_here(
                    key, found.get(one.marker.producer_id, {}).get(key, UNANSWERED)
                )
                for key in one.partitions
            }
            for one in outgoing
        ]

    def _as_known_here(self, key: TopicPartition, code: ErrorCode) -> ErrorCode:
        """A broker that does not know the topic may be behind: it is asked again, as long as the
        topic is not gone here too."""
        is_unknown = code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if is_unknown and self._image.topics.partition(*key) is not None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return code


async def _answer(keys: list[TopicPartition], future: asyncio.Future[MarkerResult]) -> MarkerResult:
    try:
        return await future
    except NoAnswer:
        return dict.fromkeys(keys, UNANSWERED)
