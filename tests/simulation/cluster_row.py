"""A writer with several batches on their way at once, as clients of Kafka have them."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.peer.error import PeerError
from penstock.testing.history import Outcome
from tests.simulation.cluster_kit import Refused
from tests.simulation.cluster_work import IdempotentWriter

IN_FLIGHT = 5


class Batch(NamedTuple):
    sequence: int
    contents: list[bytes]
    began_s: float


class RowWriter(IdempotentWriter):
    """Whatever of a row was not answered is sent again, from the first that was not and in order,
    when all of it was answered or failed."""

    async def _write(self, where: TopicPartition, contents: list[bytes]) -> None:
        rows = [contents, *(self._new_contents() for _ in range(IN_FLIGHT - 1))]
        left: list[Batch] = []
        for each in rows:
            began_s = self._client.cluster.now_s
            left.append(Batch(self._sequences[where], each, began_s))
            self._sequences[where] += len(each)
            self._note(where, each, began_s, Outcome.UNKNOWN)
        while left:
            try:
                await self._client.leader(where)
            except PeerError:
                await asyncio.sleep(0.1)
                continue
            answers = await asyncio.gather(
                *(self._try(where, each) for each in left), return_exceptions=True
            )
            left = self._take(where, left, answers)
            if left:
                self._client.forget_leader(where)
                await asyncio.sleep(0.1)

    async def _try(self, where: TopicPartition, batch: Batch) -> int:
        return await self._client.send(
            where,
            *batch.contents,
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            base_sequence=batch.sequence,
        )

    def _take(
        self, where: TopicPartition, row: list[Batch], answers: list[int | BaseException]
    ) -> list[Batch]:
        """Those that have to be sent again."""
        left: list[Batch] = []
        first: BaseException | None = None
        for batch, answer in zip(row, answers, strict=True):
            if isinstance(answer, int):
                self.acked += 1
                self._note(where, batch.contents, batch.began_s, Outcome.OK, answer)
                self._on_acked(where, answer, batch.contents[0])
                continue
            assert isinstance(answer, PeerError), repr(answer)
            self._check(where, batch, answer, first)
            first = first or answer
            left.append(batch)
        return left

    def _check(
        self, where: TopicPartition, batch: Batch, error: PeerError, first: BaseException | None
    ) -> None:
        """Out of order is what lies behind a batch that did not arrive, and nothing else: a client
        would give up, or begin anew and write some of it twice."""
        if isinstance(error, Refused) and error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            arrived = first is None or isinstance(first, Refused)
            assert not arrived, f"{self._name} at {where}, sequence {batch.sequence} after {first}"
