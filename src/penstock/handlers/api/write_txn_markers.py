"""WriteTxnMarkers: the end of a transaction, from its coordinator or from an admin who ends one
that hangs."""

from __future__ import annotations

from penstock.coordinator.marker_writer import Marker
from penstock.handlers.broker import Broker
from penstock.handlers.call import Answer, Call
from penstock.model.id import TopicPartition
from penstock.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def handle(broker: Broker, request: WriteTxnMarkersRequest, call: Call) -> Answer:
    return _write_all(broker, request)


async def _write_all(broker: Broker, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(markers=[await _write(broker, one) for one in request.markers])


async def _write(broker: Broker, asked: WritableTxnMarker) -> WritableTxnMarkerResult:
    marker = Marker(
        asked.producer_id,
        asked.producer_epoch,
        asked.transaction_result,
        asked.coordinator_epoch,
        asked.transaction_version,
    )
    partitions = [
        TopicPartition(topic.name, index)
        for topic in asked.topics
        for index in topic.partition_indexes
    ]
    results = await broker.markers.write(marker, partitions)
    return WritableTxnMarkerResult(
        producer_id=asked.producer_id,
        topics=[
            WritableTxnMarkerTopicResult(
                name=topic.name,
                partitions=[
                    WritableTxnMarkerPartitionResult(
                        partition_index=index,
                        error_code=results[TopicPartition(topic.name, index)],
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in asked.topics
        ],
    )
