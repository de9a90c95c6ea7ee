"""Taking the partitions of a pipeline for a run, so that no earlier run can write any more.

A run has a name that no other ever has, and writes it beside the position of every partition, in a
transaction of that partition's lane. To do so it takes the lane's producer over, which ends what an
earlier run had under way there; only then the position is read that it goes on from. A lane that
finds another name gives up, so whoever was taken over cannot come back.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaException, Producer, TopicPartition

from penstock.pipelines.error import RunError
from penstock.pipelines.kafka import CALL_TIMEOUT_S, produce_all
from penstock.pipelines.keyed.group import group_metadata
from penstock.pipelines.keyed.lane import encode_report, lane_producer
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

_log = get_logger("pipelines.keyed")
_SIDE_BY_SIDE = 16


class Claim:
    """The partitions 0 to count - 1 for a new run; made, it has fenced out all others."""

    def __init__(self, pipeline: KeyedPipeline, client: Mapping[str, Any], count: int) -> None:
        self.run = uuid.uuid4().hex
        self._pipeline = pipeline
        self._client = client
        self._producers: list[Producer] = self._each(self._take, range(count))

    def write(self, starts: Mapping[int, int], *, forget: bool = False) -> None:
        """This run's name beside every position; `forget` empties the states as well. Partitions
        that are not named are taken, and not read yet."""

        def write(partition: int) -> None:
            position = Position(starts[partition], self.run, len(starts))
            self._write(partition, position, forget=forget)

        self._each(write, starts)

    def _each(self, call: Any, partitions: Iterable[int]) -> list[Any]:
        try:
            with ThreadPoolExecutor(max_workers=_SIDE_BY_SIDE) as threads:
                return list(threads.map(call, partitions))
        except KafkaException as error:
            raise RunError(
                f"the partitions of {self._pipeline.name} cannot be taken over:"
                f" {error.args[0].str()}"
            ) from error

    def _take(self, partition: int) -> Producer:
        producer = lane_producer(self._client, self._pipeline.name, partition)
        producer.init_transactions(CALL_TIMEOUT_S)
        return producer

    def _write(self, partition: int, position: Position, *, forget: bool) -> None:
        pipeline, producer = self._pipeline, self._producers[partition]
        messages: list[dict[str, Any]] = []
        if forget:
            state = PartitionState(pipeline.state, partition)
            state.restore(self._client, f"{pipeline.name}.restore")
            messages += [{"key": state_key(key), "value": None} for key in state.states]
        messages.append({"key": POSITION_KEY, "value": encode_position(position)})
        producer.begin_transaction()
        produce_all(producer, pipeline.state, messages, partition)
        report = encode_report(self.run, (), (0, 0))
        producer.send_offsets_to_transaction(
            [TopicPartition(pipeline.topic, partition, position.offset, report)],
            group_metadata(self._client, pipeline.name),
            CALL_TIMEOUT_S,
        )
        producer.commit_transaction(CALL_TIMEOUT_S)


def end_transactions(pipeline: KeyedPipeline, client: Mapping[str, Any], count: int) -> None:
    """End what a cut-off task left open, so that no reader waits for it to time out."""
    try:
        Claim(pipeline, client, count)
    except RunError as error:
        _log.debug("transactions left open", pipeline=pipeline.name, error=str(error))
