"""WriteTxnMarkers (number 27). Written by tools/generate_protocol.py.

WriteTxnMarkersRequest 1-2, WriteTxnMarkersResponse 1-2.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class WritableTxnMarkerTopic(Entity):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    NAME = "WritableTxnMarkerTopic"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("name", "string", (1, 2)),
        Field("partition_indexes", "int32", (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: Iterable[int] = (),
    ) -> None:
        self.name: str = name
        self.partition_indexes: list[int] = (
            partition_indexes if isinstance(partition_indexes, list) else list(partition_indexes)
        )


class WritableTxnMarker(Entity):
    __slots__ = (
        "coordinator_epoch",
        "producer_epoch",
        "producer_id",
        "topics",
        "transaction_result",
        "transaction_version",
    )
    NAME = "WritableTxnMarker"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("producer_id", "int64", (1, 2)),
        Field("producer_epoch", "int16", (1, 2)),
        Field("transaction_result", "bool", (1, 2)),
        Field("topics", WritableTxnMarkerTopic, (1, 2), array=True),
        Field("coordinator_epoch", "int32", (1, 2)),
        Field("transaction_version", "int8", (2, 2), ignorable=True),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: Iterable[WritableTxnMarkerTopic] = (),
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.transaction_result: bool = transaction_result
        self.topics: list[WritableTxnMarkerTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )
        self.coordinator_epoch: int = coordinator_epoch
        self.transaction_version: int = transaction_version


class WriteTxnMarkersRequest(Entity):
    __slots__ = ("markers",)
    NAME = "WriteTxnMarkersRequest"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    API_KEY = 27
    SCHEMA = (Field("markers", WritableTxnMarker, (1, 2), array=True),)

    def __init__(
        self,
        *,
        markers: Iterable[WritableTxnMarker] = (),
    ) -> None:
        self.markers: list[WritableTxnMarker] = (
            markers if isinstance(markers, list) else list(markers)
        )


class WritableTxnMarkerPartitionResult(Entity):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    NAME = "WritableTxnMarkerPartitionResult"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("partition_index", "int32", (1, 2)),
        Field("error_code", "int16", (1, 2)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class WritableTxnMarkerTopicResult(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "WritableTxnMarkerTopicResult"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("name", "string", (1, 2)),
        Field("partitions", WritableTxnMarkerPartitionResult, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[WritableTxnMarkerPartitionResult] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[WritableTxnMarkerPartitionResult] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class WritableTxnMarkerResult(Entity):
    __slots__ = (
        "producer_id",
        "topics",
    )
    NAME = "WritableTxnMarkerResult"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    SCHEMA = (
        Field("producer_id", "int64", (1, 2)),
        Field("topics", WritableTxnMarkerTopicResult, (1, 2), array=True),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        topics: Iterable[WritableTxnMarkerTopicResult] = (),
    ) -> None:
        self.producer_id: int = producer_id
        self.topics: list[WritableTxnMarkerTopicResult] = (
            topics if isinstance(topics, list) else list(topics)
        )


class WriteTxnMarkersResponse(Entity):
    __slots__ = ("markers",)
    NAME = "WriteTxnMarkersResponse"
    VERSIONS = (1, 2)
    FLEXIBLE = 1
    API_KEY = 27
    SCHEMA = (Field("markers", WritableTxnMarkerResult, (1, 2), array=True),)

    def __init__(
        self,
        *,
        markers: Iterable[WritableTxnMarkerResult] = (),
    ) -> None:
        self.markers: list[WritableTxnMarkerResult] = (
            markers if isinstance(markers, list) else list(markers)
        )
