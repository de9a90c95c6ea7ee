"""What a keyed pipeline needs before it runs: its topics, and where each partition continues.

The pipeline's own position, written with the states, is the truth. The consumer group shows it to
others; when somebody has moved the group meanwhile, a start says so, and follows it only if told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaException,
    Producer,
    TopicPartition,
)

from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import (
    CALL_TIMEOUT_S,
    admin,
    consumer_settings,
    end_offsets,
    ensure_partitions,
    partition_count,
    producer_settings,
)
from penstock.pipelines.keyed.group import group_metadata
from penstock.pipelines.keyed.state import (
    POSITION_KEY,
    Position,
    encode_position,
    read_position,
)
from penstock.pipelines.topic_making import ensure_topic
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run_settings import RunSettings

_log = get_logger("pipelines.keyed")
_FROM_SPARK = {-2: OFFSET_BEGINNING, -1: OFFSET_END}


def ensure_topics(pipeline: KeyedPipeline, settings: RunSettings) -> int:
    """Make the topics that are missing, all but the source; the source's partitions."""
    client = admin(settings.client())
    try:
        count = partition_count(client, pipeline.topic)
        if not count:
            raise RunError(
                f"there is no topic {pipeline.topic} at {settings.bootstrap_servers}: create it"
                f" with `penstock topics create {pipeline.topic}`, or start what writes it"
            )
        for topic in (*pipeline.outputs.values(), pipeline.dead_letters):
            ensure_topic(client, topic, count)
        for table in pipeline.tables.values():
            ensure_topic(client, table.topic, 1, compacted=True)
        if pipeline.state_in == "topic" and not ensure_topic(
            client, pipeline.state, count, compacted=True
        ):
            ensure_partitions(client, pipeline.state, count)
    except KafkaException as error:
        raise RunError(
            f"the topics of {pipeline.name} cannot be made ready at {settings.bootstrap_servers}:"
            f" {error.args[0].str()}"
        ) from error
    return count


def ends_if_grown(
    pipeline: KeyedPipeline, settings: RunSettings, count: int
) -> dict[int, int] | None:
    """Where the first `count` partitions end, if there are more by now; None if there are not."""
    client = admin(settings.client())
    try:
        if partition_count(client, pipeline.topic) <= count:
            return None
        ends = end_offsets(client, [(pipeline.topic, each) for each in range(count)])
    except KafkaException:
        return None  # the broker is away; there is another look
    return {partition: end for (_, partition), end in ends.items()}


def positions(pipeline: KeyedPipeline, settings: RunSettings, count: int) -> dict[int, Position]:
    """Where each partition goes on; those that were never read are not named."""
    client = settings.client()
    consumer = Consumer(consumer_settings(client, f"{pipeline.name}.restore"))
    try:
        found = {each: read_position(consumer, pipeline.state, each) for each in range(count)}
    except KafkaException as error:
        raise RunError(
            f"the positions in {pipeline.state} cannot be read: {error.args[0].str()}"
        ) from error
    finally:
        consumer.close()
    return {partition: each for partition, each in found.items() if each is not None}


def starting_offsets(pipeline: KeyedPipeline, settings: RunSettings, count: int) -> dict[int, int]:
    """Where partitions begin that were never read, as the settings say; those not named begin at
    their beginning.

    The end is looked up now, and not when a worker begins: what comes between is to be read.
    """
    places = [(pipeline.topic, each) for each in range(count)]
    if settings.starting == "earliest":
        return {}
    if settings.starting == "latest":
        asked = dict.fromkeys(range(count), OFFSET_END)
    else:
        said = json.loads(settings.starting).get(pipeline.topic, {})
        asked = {int(partition): _FROM_SPARK.get(at, at) for partition, at in said.items()}
    try:
        ends = end_offsets(admin(settings.client()), places)
    except KafkaException as error:
        raise RunError(
            f"the end of {pipeline.topic} is not known: {error.args[0].str()}"
        ) from error
    return {
        partition: ends.get((pipeline.topic, partition), 0) if at == OFFSET_END else at
        for partition, at in asked.items()
    }


def follow_group(
    pipeline: KeyedPipeline,
    settings: RunSettings,
    own: dict[int, int],
    group: Mapping[tuple[str, int], int],
    run_ms: int,
    count: int,
) -> dict[int, int]:
    """The positions to begin at, after a look at where the group stands."""
    moved = {
        partition: offset
        for (topic, partition), offset in group.items()
        if topic == pipeline.topic and own.get(partition, offset) != offset
    }
    if not moved:
        return own
    if not settings.from_group:
        _log.warning(
            "the group was moved; going on from the pipeline's own position"
            " (--from-group follows the group)",
            pipeline=pipeline.name,
            group=moved,
            own={each: own[each] for each in moved},
        )
        return own
    for partition, offset in moved.items():
        write_position(pipeline, settings.client(), partition, Position(offset, run_ms, count))
    return {**own, **moved}


def write_position(
    pipeline: KeyedPipeline, client: Mapping[str, Any], partition: int, position: Position
) -> None:
    """Move a partition's position; its states stay what they are."""
    producer = Producer(producer_settings(client, f"penstock.{pipeline.name}.{partition}"))
    producer.init_transactions(CALL_TIMEOUT_S)
    producer.begin_transaction()
    value = encode_position(position)
    producer.produce(pipeline.state, value, POSITION_KEY, partition=partition)
    producer.send_offsets_to_transaction(
        [TopicPartition(pipeline.topic, partition, position.offset)],
        group_metadata(client, pipeline.name),
        CALL_TIMEOUT_S,
    )
    producer.commit_transaction(CALL_TIMEOUT_S)


def end_transactions(pipeline: KeyedPipeline, client: Mapping[str, Any], count: int) -> None:
    """End what a cut-off task left open, so that no reader waits for it to time out."""

    def end(partition: int) -> None:
        producer = Producer(producer_settings(client, f"penstock.{pipeline.name}.{partition}"))
        try:
            producer.init_transactions(CALL_TIMEOUT_S)
        except KafkaException as error:
            _log.debug("transaction left open", partition=partition, error=str(error))

    with ThreadPoolExecutor(max_workers=8) as threads:
        list(threads.map(end, range(count)))
