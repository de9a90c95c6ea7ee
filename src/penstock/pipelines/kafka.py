"""Settings and small calls of the Kafka clients that keyed pipelines and tables use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, OffsetSpec

from penstock.client.steady import STEADY, STEADY_TRANSACTIONS
from penstock.pipelines.silent import SILENT
from penstock.pipelines.topic_making import wait_known

CALL_TIMEOUT_S = 15.0
_QUIET: dict[str, Any] = {"log_level": 0, "logger": SILENT}
_QUICKLY_BACK: dict[str, Any] = {"reconnect.backoff.max.ms": 500}


def producer_settings(client: Mapping[str, Any], transactional_id: str) -> dict[str, Any]:
    return {
        **_QUIET,
        **_QUICKLY_BACK,
        **STEADY_TRANSACTIONS,
        "linger.ms": 2,
        "partitioner": "murmur2_random",
        "queue.buffering.max.messages": 2_000_000,
        # The broker decides what is too large, by its own or its topic's max.message.bytes.
        "message.max.bytes": 100_000_000,
        "message.timeout.ms": 15_000,
        "transaction.timeout.ms": 20_000,
        **client,
        "transactional.id": transactional_id,
    }


def consumer_settings(client: Mapping[str, Any], group: str) -> dict[str, Any]:
    """For a consumer that is assigned its partitions and commits nothing by itself."""
    return {
        **_QUIET,
        **_QUICKLY_BACK,
        **STEADY,
        "fetch.wait.max.ms": 100,
        # A full queue is otherwise looked at once a second.
        "fetch.queue.backoff.ms": 20,
        **client,
        "group.id": group,
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
    }


def admin(client: Mapping[str, Any]) -> AdminClient:
    """Its futures are waited for without a time of their own: the request's ends them, as an error
    that says what it is."""
    return AdminClient({**_QUIET, **_QUICKLY_BACK, **STEADY, **client})


def partition_count(client: AdminClient, topic: str) -> int:
    """How many partitions the topic has; 0 where there is none of that name."""
    description = client.describe_topics(TopicCollection([topic]), request_timeout=CALL_TIMEOUT_S)
    try:
        return len(description[topic].result().partitions)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return 0
        raise


def ensure_partitions(client: AdminClient, topic: str, partitions: int) -> None:
    """Grow the topic to at least so many partitions."""
    if partition_count(client, topic) >= partitions:
        return
    wanted = [NewPartitions(topic, partitions)]
    future = client.create_partitions(wanted, request_timeout=CALL_TIMEOUT_S)[topic]
    try:
        future.result()
    except KafkaException as error:
        # Another worker may have been first.
        if error.args[0].code() != KafkaError.INVALID_PARTITIONS:
            raise
    wait_known(client, topic, partitions)


def end_offsets(
    client: AdminClient, places: Collection[tuple[str, int]], timeout_s: float = CALL_TIMEOUT_S
) -> dict[tuple[str, int], int]:
    """Where committed records of these partitions end now, asked in one request."""
    return _offsets(client, places, OffsetSpec.latest(), timeout_s)  # type: ignore[no-untyped-call]


def first_offsets(
    client: AdminClient, places: Collection[tuple[str, int]], timeout_s: float = CALL_TIMEOUT_S
) -> dict[tuple[str, int], int]:
    """Where the records of these partitions begin now, asked in one request."""
    return _offsets(client, places, OffsetSpec.earliest(), timeout_s)  # type: ignore[no-untyped-call]


def time_offsets(
    client: AdminClient, places: Collection[tuple[str, int]], time_ms: int
) -> dict[tuple[str, int], int]:
    """The first record of each partition that is not older; -1 where all are."""
    which = OffsetSpec.for_timestamp(time_ms)
    return _offsets(client, places, which, CALL_TIMEOUT_S)


def _offsets(
    client: AdminClient, places: Collection[tuple[str, int]], which: Any, timeout_s: float
) -> dict[tuple[str, int], int]:
    answers = client.list_offsets(
        {TopicPartition(*each): which for each in places},
        isolation_level=IsolationLevel.READ_COMMITTED,
        request_timeout=timeout_s,
    )
    return {
        (place.topic, place.partition): int(answer.result().offset)
        for place, answer in answers.items()
    }


def cleanup_policy(client: AdminClient, topic: str) -> str:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    described = client.describe_configs([resource], request_timeout=CALL_TIMEOUT_S)
    found = described[resource].result()
    return str(found["cleanup.policy"].value)


def produce_all(
    producer: Producer, topic: str, messages: list[dict[str, Any]], partition: int = -1
) -> None:
    """Hand over every message, waiting where the queue is full."""
    while True:
        taken = producer.produce_batch(topic, messages, partition=partition)
        if taken == len(messages):
            producer.poll(0)
            return
        messages = _left(producer, messages)


def _left(producer: Producer, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for error in failures(messages):
        if error.code() != KafkaError._QUEUE_FULL:
            raise KafkaException(error)
    producer.poll(0.05)
    return [{"key": each["key"], "value": each["value"]} for each in messages if "_error" in each]


def failures(messages: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Why messages of a `produce_batch` were not taken."""
    return [each["_error"] for each in messages if "_error" in each]
