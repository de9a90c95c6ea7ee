"""WriteTxnMarkers between its wire form and markers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.coordinator.marker import Marker
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

_CODES = {int(code): code for code in ErrorCode}


def markers_request(
    markers: Iterable[tuple[Marker, Iterable[TopicPartition]]],
) -> WriteTxnMarkersRequest:
    return WriteTxnMarkersRequest(
        markers=[
            WritableTxnMarker(
                producer_id=marker.producer_id,
                producer_epoch=marker.producer_epoch,
                transaction_result=marker.committed,
                topics=[
                    WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
                    for name, indexes in _by_topic(partitions).items()
                ],
                coordinator_epoch=marker.coordinator_epoch,
                transaction_version=marker.transaction_version,
            )
            for marker, partitions in markers
        ]
    )


def requested_markers(
    request: WriteTxnMarkersRequest,
) -> list[tuple[Marker, list[TopicPartition]]]:
    return [
        (
            Marker(
                one.producer_id,
                one.producer_epoch,
                one.transaction_result,
                one.coordinator_epoch,
                one.transaction_version,
            ),
            [
                TopicPartition(topic.name, index)
                for topic in one.topics
                for index in topic.partition_indexes
            ],
        )
        for one in request.markers
    ]


def markers_response(
    results: Iterable[tuple[int, Mapping[TopicPartition, ErrorCode]]],
) -> WriteTxnMarkersResponse:
    """From a producer id and its results for each marker: a sender looks for every producer id
    that it named, also where there is nothing to tell of it (KAFKA-17877)."""
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(
                                partition_index=index,
                                error_code=result[TopicPartition(name, index)],
                            )
                            for index in indexes
                        ],
                    )
                    for name, indexes in _by_topic(result).items()
                ],
            )
            for producer_id, result in results
        ]
    )


def markers_results(
    response: WriteTxnMarkersResponse,
) -> dict[int, dict[TopicPartition, ErrorCode]]:
    """By producer id, in whatever order they were answered."""
    found: dict[int, dict[TopicPartition, ErrorCode]] = {}
    for one in response.markers:
        result = found.setdefault(one.producer_id, {})
        for topic in one.topics:
            for partition in topic.partitions:
                code = _CODES.get(partition.error_code, ErrorCode.UNKNOWN_SERVER_ERROR)
                result[TopicPartition(topic.name, partition.partition_index)] = code
    return found


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    by_topic: dict[str, list[int]] = {}
    for topic, index in partitions:
        by_topic.setdefault(topic, []).append(index)
    return by_topic
