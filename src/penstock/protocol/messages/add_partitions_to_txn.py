"""AddPartitionsToTxn (number 24). Written by tools/generate_protocol.py.

AddPartitionsToTxnRequest 0-5, AddPartitionsToTxnResponse 0-5.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.protocol.entity import Entity, Field


class AddPartitionsToTxnTopic(Entity):
    __slots__ = (
        "name",
        "partitions",
    )
    NAME = "AddPartitionsToTxnTopic"
    VERSIONS = (4, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("name", "string", (0, 5)),
        Field("partitions", "int32", (0, 5), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: Iterable[int] = (),
    ) -> None:
        self.name: str = name
        self.partitions: list[int] = (
            partitions if isinstance(partitions, list) else list(partitions)
        )


class AddPartitionsToTxnTransaction(Entity):
    __slots__ = (
        "producer_epoch",
        "producer_id",
        "topics",
        "transactional_id",
        "verify_only",
    )
    NAME = "AddPartitionsToTxnTransaction"
    VERSIONS = (4, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("transactional_id", "string", (4, 5)),
        Field("producer_id", "int64", (4, 5)),
        Field("producer_epoch", "int16", (4, 5)),
        Field("verify_only", "bool", (4, 5)),
        Field("topics", AddPartitionsToTxnTopic, (4, 5), array=True),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: Iterable[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactional_id: str = transactional_id
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.verify_only: bool = verify_only
        self.topics: list[AddPartitionsToTxnTopic] = (
            topics if isinstance(topics, list) else list(topics)
        )


class AddPartitionsToTxnRequest(Entity):
    __slots__ = (
        "transactions",
        "v3_and_below_producer_epoch",
        "v3_and_below_producer_id",
        "v3_and_below_topics",
        "v3_and_below_transactional_id",
    )
    NAME = "AddPartitionsToTxnRequest"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    API_KEY = 24
    SCHEMA = (
        Field("transactions", AddPartitionsToTxnTransaction, (4, 5), array=True),
        Field("v3_and_below_transactional_id", "string", (0, 3)),
        Field("v3_and_below_producer_id", "int64", (0, 3)),
        Field("v3_and_below_producer_epoch", "int16", (0, 3)),
        Field("v3_and_below_topics", AddPartitionsToTxnTopic, (0, 3), array=True),
    )

    def __init__(
        self,
        *,
        transactions: Iterable[AddPartitionsToTxnTransaction] = (),
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: Iterable[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactions: list[AddPartitionsToTxnTransaction] = (
            transactions if isinstance(transactions, list) else list(transactions)
        )
        self.v3_and_below_transactional_id: str = v3_and_below_transactional_id
        self.v3_and_below_producer_id: int = v3_and_below_producer_id
        self.v3_and_below_producer_epoch: int = v3_and_below_producer_epoch
        self.v3_and_below_topics: list[AddPartitionsToTxnTopic] = (
            v3_and_below_topics
            if isinstance(v3_and_below_topics, list)
            else list(v3_and_below_topics)
        )


class AddPartitionsToTxnPartitionResult(Entity):
    __slots__ = (
        "partition_error_code",
        "partition_index",
    )
    NAME = "AddPartitionsToTxnPartitionResult"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("partition_index", "int32", (0, 5)),
        Field("partition_error_code", "int16", (0, 5)),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.partition_error_code: int = partition_error_code


class AddPartitionsToTxnTopicResult(Entity):
    __slots__ = (
        "name",
        "results_by_partition",
    )
    NAME = "AddPartitionsToTxnTopicResult"
    VERSIONS = (4, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("name", "string", (0, 5)),
        Field("results_by_partition", AddPartitionsToTxnPartitionResult, (0, 5), array=True),
    )

    def __init__(
        self,
        *,
        name: str = "",
        results_by_partition: Iterable[AddPartitionsToTxnPartitionResult] = (),
    ) -> None:
        self.name: str = name
        self.results_by_partition: list[AddPartitionsToTxnPartitionResult] = (
            results_by_partition
            if isinstance(results_by_partition, list)
            else list(results_by_partition)
        )


class AddPartitionsToTxnResult(Entity):
    __slots__ = (
        "topic_results",
        "transactional_id",
    )
    NAME = "AddPartitionsToTxnResult"
    VERSIONS = (4, 5)
    FLEXIBLE = 3
    SCHEMA = (
        Field("transactional_id", "string", (4, 5)),
        Field("topic_results", AddPartitionsToTxnTopicResult, (4, 5), array=True),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        topic_results: Iterable[AddPartitionsToTxnTopicResult] = (),
    ) -> None:
        self.transactional_id: str = transactional_id
        self.topic_results: list[AddPartitionsToTxnTopicResult] = (
            topic_results if isinstance(topic_results, list) else list(topic_results)
        )


class AddPartitionsToTxnResponse(Entity):
    __slots__ = (
        "error_code",
        "results_by_topic_v3_and_below",
        "results_by_transaction",
        "throttle_time_ms",
    )
    NAME = "AddPartitionsToTxnResponse"
    VERSIONS = (0, 5)
    FLEXIBLE = 3
    API_KEY = 24
    SCHEMA = (
        Field("throttle_time_ms", "int32", (0, 5)),
        Field("error_code", "int16", (4, 5), ignorable=True),
        Field("results_by_transaction", AddPartitionsToTxnResult, (4, 5), array=True),
        Field("results_by_topic_v3_and_below", AddPartitionsToTxnTopicResult, (0, 3), array=True),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: Iterable[AddPartitionsToTxnResult] = (),
        results_by_topic_v3_and_below: Iterable[AddPartitionsToTxnTopicResult] = (),
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.results_by_transaction: list[AddPartitionsToTxnResult] = (
            results_by_transaction
            if isinstance(results_by_transaction, list)
            else list(results_by_transaction)
        )
        self.results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = (
            results_by_topic_v3_and_below
            if isinstance(results_by_topic_v3_and_below, list)
            else list(results_by_topic_v3_and_below)
        )
