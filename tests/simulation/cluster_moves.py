"""Replicas that move between the nodes of a cluster while everything else happens to it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.peer.error import PeerError
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest
from penstock.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from tests.simulation.cluster_chaos import EVERY, GROUPS, QUICK, Run
from tests.simulation.cluster_kit import REPLICAS, ClusterClient

MOVED = [*EVERY, *GROUPS]
PAUSE_S_MAX = 1.5
SETTLED_S_MAX = 180.0
PREFERRED = 0


class Mover:
    """Moves a partition, or calls its move off, or has preferred leaders elected."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client
        self._random = client.cluster.random
        self.is_ending = False

    async def run(self) -> None:
        while not self.is_ending:
            await asyncio.sleep(self._random.uniform(0, PAUSE_S_MAX))
            with suppress(PeerError):
                await self._act(self._random.choice(MOVED))
        while not await self._is_settled():
            await asyncio.sleep(1)

    async def _act(self, where: TopicPartition) -> None:
        chance = self._random.random()
        if chance < 0.2:
            await self._ask(ElectLeadersRequest(election_type=PREFERRED, topic_partitions=None))
        else:
            await self._move(where, None if chance < 0.35 else self._replicas())

    def _replicas(self) -> list[int]:
        return self._random.sample(range(1, len(self._client.names) + 1), REPLICAS)

    async def _move(self, where: TopicPartition, replicas: list[int] | None) -> None:
        topic, index = where
        wanted = ReassignablePartition(partition_index=index, replicas=replicas)
        request = AlterPartitionReassignmentsRequest(
            timeout_ms=5000, topics=[ReassignableTopic(name=topic, partitions=[wanted])]
        )
        await self._ask(request)

    async def _is_settled(self) -> bool:
        with suppress(PeerError):
            response = await self._ask(ListPartitionReassignmentsRequest(topics=None))
            return not response.error_code and not response.topics
        return False

    async def _ask(self, request: Any) -> Any:
        response = await self._client.any().call(request, timeout_s=10)
        if response.error_code == ErrorCode.NOT_CONTROLLER:
            raise PeerError("no controller")
        return response


class RunWithMoves(Run):
    def _begin(self) -> None:
        super()._begin()
        self._mover = Mover(ClusterClient(self.cluster, self.plan.names))
        self._moving = self.cluster.spawn(self._guard(self._mover.run()))

    def _on_acked(self, where: TopicPartition, offset: int, content: bytes) -> None:
        """Who had it may be no replica any more when the answer is read."""
        if where not in QUICK:
            self.checker.check_durable(where, offset, content, 1)

    def _end(self) -> None:
        self._mover.is_ending = True
        self.faults.mend(wholly=True)
        self.cluster.run_until(self._moving.done, SETTLED_S_MAX)
        super()._end()
