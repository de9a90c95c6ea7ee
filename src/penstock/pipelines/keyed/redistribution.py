"""Dealing the states anew when the source has got more partitions, so that they follow their keys.

Every position says over how many partitions the states were dealt when it was written. When that
is not what the source has now, all states are read, the way that producers place keys is told from
where they stand, and one transaction moves those whose place has changed. Where the states do not
tell it, as those of a single partition never do, the last records of the new partitions may; until
there are some, the states stay, and only the partitions are read that they are of. Events of a
moved key that still wait in its old partition then meet no state: nothing tells them from those
sent since.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaException, Producer

from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import CALL_TIMEOUT_S, produce_all, producer_settings
from penstock.pipelines.keyed.partitioner import Partitioner
from penstock.pipelines.keyed.placement import newest_keys, shown_by, ways_of
from penstock.pipelines.keyed.state import (
    POSITION_KEY,
    PartitionState,
    Position,
    encode_position,
    state_key,
)
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from penstock.pipelines.keyed.declare import KeyedPipeline
    from penstock.pipelines.run_settings import RunSettings

_log = get_logger("pipelines.keyed")
_TRANSACTION_MS = 600_000


def distributed_over(known: Mapping[int, Position]) -> int | None:
    """Over how many partitions the states are dealt; None where there are none yet."""
    return max((each.partitions for each in known.values()), default=None)


def redistribute(
    pipeline: KeyedPipeline,
    settings: RunSettings,
    known: Mapping[int, Position],
    count: int,
    run: str,
) -> dict[int, Position] | None:
    """Move states to where their keys go among `count` partitions; the positions after that, or
    None where it cannot be told yet where that is."""
    before = distributed_over(known)
    if before is None or before == count:
        return dict(known)
    if before > count:
        raise RunError(
            f"{pipeline.topic} has {count} partitions, and the states of {pipeline.name} are those"
            f" of {before}: was it deleted and made anew? Delete {pipeline.state} to begin anew too"
        )
    try:
        states = _read(pipeline, settings, before)
        ways = ways_of(states, before, count)
        if len(ways) > 1:
            newest = newest_keys(pipeline, settings, before, count)
            ways = tuple(each for each in ways if each in shown_by(newest, count))
        if not ways:
            raise RunError(
                f"{pipeline.topic} has grown from {before} to {count} partitions, and where its"
                f" producers put keys cannot be told, so the states of {pipeline.name} cannot"
                f" follow them: copy it to a new topic of {count} partitions and name that, or"
                f" delete {pipeline.state} to begin anew"
            )
        place, *others = ways
        if others:
            _log.warning(
                "the source has more partitions, which are read when a record with a key is there:"
                " until then it cannot be told which states belong to them",
                pipeline=pipeline.name, before=before, now=count,
            )  # fmt: skip
            return None
        after = {
            each: position._replace(partitions=count, run=run) for each, position in known.items()
        }
        moved = _move(pipeline, settings, states, place, after, count)
    except KafkaException as error:
        raise RunError(
            f"the states in {pipeline.state} cannot be dealt anew: {error.args[0].str()}"
        ) from error
    _log.warning(
        "the source has more partitions; states were moved with their keys",
        pipeline=pipeline.name, before=before, now=count, moved=moved,
    )  # fmt: skip
    return after


def _read(
    pipeline: KeyedPipeline, settings: RunSettings, before: int
) -> dict[int, dict[bytes, bytes]]:
    found = {}
    for partition in range(before):
        state = PartitionState(pipeline.state, partition)
        state.restore(settings.client(), f"{pipeline.name}.restore")
        # Events without a key have one state in each partition, which stays where it is.
        found[partition] = {key: value for key, value in state.states.items() if key}
    return found


def _move(
    pipeline: KeyedPipeline,
    settings: RunSettings,
    states: Mapping[int, Mapping[bytes, bytes]],
    place: Partitioner,
    positions: Mapping[int, Position],
    count: int,
) -> int:
    """In one transaction, so that a start that is killed leaves all as it was."""
    records: dict[int, list[dict[str, Any]]] = {each: [] for each in range(count)}
    moved = 0
    for partition, held in states.items():
        for key, value in held.items():
            target = place(key, count)
            if target != partition:
                records[target].append({"key": state_key(key), "value": value})
                records[partition].append({"key": state_key(key), "value": None})
                moved += 1
    for partition, position in positions.items():
        records[partition].append({"key": POSITION_KEY, "value": encode_position(position)})
    own = producer_settings(settings.client(), f"penstock.{pipeline.name}.deal")
    producer = Producer({**own, "transaction.timeout.ms": _TRANSACTION_MS})
    producer.init_transactions(CALL_TIMEOUT_S)
    producer.begin_transaction()
    for partition, messages in records.items():
        if messages:
            produce_all(producer, pipeline.state, messages, partition)
    producer.commit_transaction(_TRANSACTION_MS / 1000)
    return moved
