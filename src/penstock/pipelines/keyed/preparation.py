"""What a keyed pipeline needs before it runs: its topics, and where each partition continues.

The pipeline's own position, written with the states, is the truth. The consumer group shows it to
others; when somebody has moved the group meanwhile, a start says so, and follows it only if told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaException
from confluent_kafka.admin import AdminClient

from penstock.client.letter_size import letter_config
from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import (
    CALL_TIMEOUT_S,
    admin,
    cleanup_policy,
    consumer_settings,
    end_offsets,
    ensure_partitions,
    first_offsets,
    partition_count,
)
from penstock.pipelines.keyed.judging import StepSpec
from penstock.pipelines.keyed.state import Position, read_position
from penstock.pipelines.sources.table import portable
from penstock.pipelines.topic_making import ensure_topic
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run_settings import RunSettings

_log = get_logger("pipelines.keyed")
# As Spark names the beginning and the end in offsets as JSON.
_BEGINNING, _END = -2, -1


def step_spec(pipeline: KeyedPipeline) -> StepSpec:
    """What judging takes of the pipeline, wherever its states are."""
    return StepSpec(
        pipeline=pipeline.name,
        topic=pipeline.topic,
        step=pipeline.step,
        decode=pipeline.decode or portable(pipeline.source.decode).load,
        tombstones=pipeline.tombstones,
        outputs=tuple(pipeline.outputs),
        counters=pipeline.counters,
        encode_state=pipeline.encode_state,
        decode_state=pipeline.decode_state,
        retry=pipeline.retry,
        rules=pipeline.source.expect,
    )


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
        for topic in pipeline.outputs.values():
            ensure_topic(client, topic, count)
        roomy = letter_config(client, [pipeline.topic], CALL_TIMEOUT_S)
        ensure_topic(client, pipeline.dead_letters, count, config=roomy)
        for table in pipeline.tables.values():
            ensure_topic(client, table.topic, 1, compacted=True)
        if pipeline.state_in == "topic":
            _ensure_state_topic(client, pipeline.state, count)
    except KafkaException as error:
        raise RunError(
            f"the topics of {pipeline.name} cannot be made ready at {settings.bootstrap_servers}:"
            f" {error.args[0].str()}"
        ) from error
    return count


def _ensure_state_topic(client: AdminClient, topic: str, count: int) -> None:
    if not ensure_topic(client, topic, count, compacted=True):
        _require_compacted(client, topic)
        ensure_partitions(client, topic, count)


def _require_compacted(client: AdminClient, topic: str) -> None:
    policy = cleanup_policy(client, topic)
    if policy != "compact":
        raise RunError(
            f"{topic} is there with cleanup.policy={policy}, and would lose states: set it with"
            f" `penstock topics alter {topic} --set cleanup.policy=compact`, or name another topic"
        )


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


def starts(
    pipeline: KeyedPipeline,
    settings: RunSettings,
    known: Mapping[int, int],
    count: int,
    begin: Mapping[int, int],
) -> dict[int, int]:
    """Where each partition is read from: its position, or for one that was never read where the
    run begins; a partition that came up since the last run is read from its beginning."""
    client, places = admin(settings.client()), [(pipeline.topic, each) for each in range(count)]
    try:
        first, end = first_offsets(client, places), end_offsets(client, places)
    except KafkaException as error:
        raise RunError(
            f"the offsets of {pipeline.topic} are not known: {error.args[0].str()}"
        ) from error
    asked = {} if known else begin or _asked(pipeline.topic, settings.starting, count)
    found = {}
    for place in places:
        partition = place[1]
        offset = known.get(partition, asked.get(partition, _BEGINNING))
        named = {_BEGINNING: first[place], _END: end[place]}
        found[partition] = named.get(offset, offset)
        if found[partition] < first[place]:
            raise RunError(data_loss(pipeline, f"{partition} begins at offset {first[place]}"))
    return found


def _asked(topic: str, starting: str, count: int) -> dict[int, int]:
    if starting in ("earliest", "latest"):
        return dict.fromkeys(range(count), _END if starting == "latest" else _BEGINNING)
    said = json.loads(starting).get(topic, {})
    return {each: int(said.get(str(each), _BEGINNING)) for each in range(count)}


def data_loss(pipeline: KeyedPipeline, what: str) -> str:
    return (
        f"records of {pipeline.topic} are gone that were not read yet (data loss): {what};"
        " --from-group goes on where the group is set to, with new state"
    )


def moved_group(
    pipeline: KeyedPipeline,
    settings: RunSettings,
    own: Mapping[int, int],
    group: Mapping[tuple[str, int], int],
) -> dict[int, int]:
    """The group's offsets where they are to be followed: when it was moved, and that was asked."""
    of_topic = {each: offset for (topic, each), offset in group.items() if topic == pipeline.topic}
    moved = {each: at for each, at in of_topic.items() if own.get(each, at) != at}
    if settings.from_group and of_topic and (moved or not own):
        return of_topic
    if moved:
        _log.warning(
            "the group was moved; going on from the pipeline's own position"
            " (--from-group follows the group, with new state)",
            pipeline=pipeline.name,
            group=moved,
            own={each: own[each] for each in moved},
        )
    return {}
