"""TransactionLog (number 0). Written by tools/generate_protocol.py.

TransactionLogKey 0-0, TransactionLogValue 0-1.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class TransactionLogKey(Entity):
    __slots__ = ("transactional_id",)
    NAME = "TransactionLogKey"
    VERSIONS = (0, 0)
    FLEXIBLE = None
    API_KEY = 0
    SCHEMA = (Field("transactional_id", "string", (0, 0)),)

    def __init__(
        self,
        *,
        transactional_id: str = "",
    ) -> None:
        self.transactional_id: str = transactional_id


class PartitionsSchema(Entity):
    __slots__ = (
        "partition_ids",
        "topic",
    )
    NAME = "PartitionsSchema"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    SCHEMA = (
        Field("topic", "string", (0, 1)),
        Field("partition_ids", "int32", (0, 1), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partition_ids: Iterable[int] = (),
    ) -> None:
        self.topic: str = topic
        self.partition_ids: list[int] = (
            partition_ids if isinstance(partition_ids, list) else list(partition_ids)
        )


class TransactionLogValue(Entity):
    __slots__ = (
        "client_transaction_version",
        "next_producer_epoch",
        "next_producer_id",
        "previous_producer_id",
        "producer_epoch",
        "producer_id",
        "transaction_last_update_timestamp_ms",
        "transaction_partitions",
        "transaction_start_timestamp_ms",
        "transaction_status",
        "transaction_timeout_ms",
    )
    NAME = "TransactionLogValue"
    VERSIONS = (0, 1)
    FLEXIBLE = 1
    API_KEY = 0
    SCHEMA = (
        Field("producer_id", "int64", (0, 1)),
        Field("previous_producer_id", "int64", (1, 1), tag=0, tagged=(1, 1), default=-1),
        Field("next_producer_id", "int64", (1, 1), tag=1, tagged=(1, 1), default=-1),
        Field("producer_epoch", "int16", (0, 1)),
        Field("next_producer_epoch", "int16", (1, 1), tag=3, tagged=(1, 1), default=-1),
        Field("transaction_timeout_ms", "int32", (0, 1)),
        Field("transaction_status", "int8", (0, 1)),
        Field("transaction_partitions", PartitionsSchema, (0, 1), array=True, nullable=(0, 1)),
        Field("transaction_last_update_timestamp_ms", "int64", (0, 1)),
        Field("transaction_start_timestamp_ms", "int64", (0, 1)),
        Field("client_transaction_version", "int16", (1, 1), tag=2, tagged=(1, 1)),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: Iterable[PartitionsSchema] | None = (),
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
    ) -> None:
        self.producer_id: int = producer_id
        self.previous_producer_id: int = previous_producer_id
        self.next_producer_id: int = next_producer_id
        self.producer_epoch: int = producer_epoch
        self.next_producer_epoch: int = next_producer_epoch
        self.transaction_timeout_ms: int = transaction_timeout_ms
        self.transaction_status: int = transaction_status
        self.transaction_partitions: list[PartitionsSchema] | None = (
            transaction_partitions
            if transaction_partitions is None or isinstance(transaction_partitions, list)
            else list(transaction_partitions)
        )
        self.transaction_last_update_timestamp_ms: int = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms: int = transaction_start_timestamp_ms
        self.client_transaction_version: int = client_transaction_version
