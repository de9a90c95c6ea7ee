"""Changes of in-sync sets on their way to the controller: one request in flight, with thousands.

A change is sent until it is answered for good. Which answer means what is the leader's to know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import islice

from penstock.model.error import ErrorCode, PenstockError
from penstock.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.replication.isr_change import IsrAnswer, IsrChange, Outcome
from penstock.replication.partition import Partition
from penstock.telemetry.log import get_logger

RETRY_S = 0.05
CHANGES_MAX = 4_000
"""In one request: a controller takes only so many elements, and each is several."""

log = get_logger("isr")

Ask = Callable[[AlterPartitionRequest], Awaitable[AlterPartitionResponse]]


class IsrChanges:
    def __init__(self, node_id: int, broker_epoch: Callable[[], int], ask: Ask) -> None:
        self._node_id = node_id
        self._broker_epoch = broker_epoch
        self._ask = ask
        self._asked: dict[Partition, IsrChange] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, partition: Partition, change: IsrChange) -> None:
        self._asked[partition] = change
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="isr-changes")

    async def close(self) -> None:
        self._asked.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            while self._asked:
                asked = dict(islice(self._asked.items(), CHANGES_MAX))
                try:
                    response = await self._ask(self._request(asked))
                except PenstockError as error:
                    log.info("controller does not answer", reason=str(error))
                    await asyncio.sleep(RETRY_S)
                    continue
                except Exception as error:
                    # A mistake of our own must not leave changes that nobody sends.
                    log.error("in-sync sets not told", exc_info=error)
                    await asyncio.sleep(1.0)
                    continue
                if self._settle(asked, response):
                    self._put_behind(asked)
                    await asyncio.sleep(RETRY_S)
        finally:
            self._task = None

    def _put_behind(self, asked: dict[Partition, IsrChange]) -> None:
        """What is sent again holds up nobody else."""
        for partition in asked:
            if partition in self._asked:
                self._asked[partition] = self._asked.pop(partition)

    def _request(self, asked: dict[Partition, IsrChange]) -> AlterPartitionRequest:
        topics: dict[bytes, RequestTopicData] = {}
        for partition, change in asked.items():
            topic = topics.get(partition.topic_id)
            if topic is None:
                topic = topics[partition.topic_id] = RequestTopicData(topic_id=partition.topic_id)
            topic.partitions.append(
                RequestPartitionData(
                    partition_index=partition.index,
                    leader_epoch=change.leader_epoch,
                    new_isr_with_epochs=[
                        BrokerState(broker_id=one.replica_id, broker_epoch=one.broker_epoch)
                        for one in change.isr
                    ],
                    leader_recovery_state=change.leader_recovery_state,
                    partition_epoch=change.partition_epoch,
                )
            )
        return AlterPartitionRequest(
            broker_id=self._node_id,
            broker_epoch=self._broker_epoch(),
            topics=list(topics.values()),
        )

    def _settle(self, asked: dict[Partition, IsrChange], response: AlterPartitionResponse) -> bool:
        """Whether something has to be sent again."""
        answers = {
            (topic.topic_id, one.partition_index): one
            for topic in response.topics
            for one in topic.partitions
        }
        again = False
        for partition, change in asked.items():
            answer = answers.get((partition.topic_id, partition.index))
            code = response.error_code
            found: IsrAnswer | None = None
            if not code and answer is None:
                again = True  # left out
                continue
            if answer is not None:
                code = code or answer.error_code
                found = IsrAnswer(
                    answer.leader_epoch,
                    answer.partition_epoch,
                    tuple(answer.isr),
                    answer.leader_recovery_state,
                )
            outcome = partition.on_isr_answer(change, code, None if code else found)
            if outcome is Outcome.RETRY:
                again = True
                continue
            if self._asked.get(partition) is change:
                del self._asked[partition]
            if code:
                log.info(
                    "in-sync set not changed",
                    partition=f"{partition.topic}-{partition.index}",
                    error=ErrorCode(code).name,
                )
        return again
