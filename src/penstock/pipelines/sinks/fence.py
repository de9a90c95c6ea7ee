"""The fence: how far each task of an output has been written, kept by the broker.

A fence is a committed offset of the group `penstock.fence.<pipeline>.<output>`: for partition i of
the output topic it says the first batch that task i has not written, and its metadata says for
which checkpoint (Spark's query id). It moves in the transaction that writes the batch, so neither
can be there without the other. A fence of another checkpoint says nothing about this one: there
the batches are numbered anew.

Nothing here knows rows; it is used in Python workers and at the start of a query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from penstock.client.patience import NO_COORDINATOR_YET, patiently
from penstock.client.steady import STEADY
from penstock.pipelines.silent import SILENT

_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Target:
    """Where an output goes: all that a task needs to know, small enough to travel with it."""

    pipeline: str
    output: str
    topic: str
    kafka: dict[str, Any] = field(hash=False)
    """librdkafka's settings, `bootstrap.servers` among them."""
    transaction_timeout_ms: int = 600_000

    @property
    def group(self) -> str:
        return f"penstock.fence.{self.pipeline}.{self.output}"

    def transactional_id(self, task: int) -> str:
        return f"penstock.{self.pipeline}.{self.output}.{task}"

    def fence(self, task: int, next_batch: int, query_id: str) -> TopicPartition:
        return TopicPartition(self.topic, task, next_batch, query_id)


class FenceReader:
    """Reads the fences of one output; a member of the group it never is."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._consumer = Consumer(
            {
                **STEADY,
                **target.kafka,
                "group.id": target.group,
                "enable.auto.commit": False,
                # Asks for stable offsets: a fence in an open transaction is waited for.
                "isolation.level": "read_committed",
            },
            logger=SILENT,
        )

    @property
    def group_metadata(self) -> Any:
        """Without member or generation, as a commit by no member has it."""
        return self._consumer.consumer_group_metadata()

    def read(self, tasks: Sequence[int], query_id: str) -> list[int]:
        """Per task, the first batch of this checkpoint that it has not written."""
        asked = [TopicPartition(self._target.topic, task) for task in tasks]
        found = patiently(
            lambda: self._consumer.committed(asked, timeout=_TIMEOUT_S),
            NO_COORDINATOR_YET,
            _TIMEOUT_S,
        )
        by_task = {each.partition: _position(each, query_id) for each in found}
        return [by_task[task] for task in tasks]

    def close(self) -> None:
        self._consumer.close()


def _position(fence: TopicPartition, query_id: str) -> int:
    if fence.error is not None:
        raise RuntimeError(f"the fence of {fence.topic}-{fence.partition}: {fence.error}")
    return fence.offset if fence.offset >= 0 and fence.metadata == query_id else 0
