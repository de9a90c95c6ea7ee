"""DescribeTransactions (number 65). Written by tools/generate_protocol.py.

DescribeTransactionsRequest 0-0, DescribeTransactionsResponse 0-0.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class DescribeTransactionsRequest(Entity):
    __slots__ = ("transactional_ids",)
    NAME = "DescribeTransactionsRequest"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 65
    SCHEMA = (Field("transactional_ids", "string", (0, 0), array=True),)

    def __init__(
        self,
        *,
        transactional_ids: Iterable[str] = (),
    ) -> None:
        self.transactional_ids: list[str] = (
            transactional_ids if isinstance(transactional_ids, list) else list(transactional_ids)
        )


class TopicData(Entity):
    __slots__ = (
        "partitions",
        "topic",
    )
    NAME = "TopicData"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("topic", "string", (0, 0)),
        Field("partitions", "int32", (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: Iterable[int] = (),
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class TransactionState(Entity):
    __slots__ = (
        "error_code",
        "producer_epoch",
        "producer_id",
        "topics",
        "transaction_start_time_ms",
        "transaction_state",
        "transaction_timeout_ms",
        "transactional_id",
    )
    NAME = "TransactionState"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    SCHEMA = (
        Field("error_code", "int16", (0, 0)),
        Field("transactional_id", "string", (0, 0)),
        Field("transaction_state", "string", (0, 0)),
        Field("transaction_timeout_ms", "int32", (0, 0)),
        Field("transaction_start_time_ms", "int64", (0, 0)),
        Field("producer_id", "int64", (0, 0)),
        Field("producer_epoch", "int16", (0, 0)),
        Field("topics", TopicData, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: Iterable[TopicData] = (),
    ) -> None:
        self.error_code: int = error_code
        self.transactional_id: str = transactional_id
        self.transaction_state: str = transaction_state
        self.transaction_timeout_ms: int = transaction_timeout_ms
        self.transaction_start_time_ms: int = transaction_start_time_ms
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.topics: list[TopicData] = topics if isinstance(topics, list) else list(topics)


class DescribeTransactionsResponse(Entity):
    __slots__ = (
        "throttle_time_ms",
        "transaction_states",
    )
    NAME = "DescribeTransactionsResponse"
    VERSIONS = (0, 0)
    FLEXIBLE = 0
    API_KEY = 65
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 0)),
        Field("transaction_states", TransactionState, (0, 0), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        transaction_states: Iterable[TransactionState] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.transaction_states: list[TransactionState] = (
            transaction_states if isinstance(transaction_states, list) else list(transaction_states)
        )
