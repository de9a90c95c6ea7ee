"""The fetchers of a node: one for each broker that leads a partition followed here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from penstock.model.clock import Clock
from penstock.replication.fetcher import Ask, Fetcher, FetchLimits
from penstock.replication.partition import Partition


class Fetchers:
    """`link` gives the way to ask the broker of an id."""

    def __init__(
        self,
        node_id: int,
        link: Callable[[int], Ask],
        clock: Clock,
        broker_epoch: Callable[[], int],
        limits: Callable[[], FetchLimits],
    ) -> None:
        self._node_id = node_id
        self._link = link
        self._clock = clock
        self._broker_epoch = broker_epoch
        self._limits = limits
        self._by_leader: dict[int, Fetcher] = {}
        self._of: dict[Partition, tuple[int, int]] = {}

    def follow(self, partition: Partition) -> None:
        """Fetch from the partition's leader in its present epoch; nothing if that is so already."""
        wanted = (partition.leader_id, partition.leader_epoch)
        if self._of.get(partition) == wanted:
            return
        self.unfollow(partition)
        if partition.leader_id < 0:
            return
        fetcher = self._by_leader.get(partition.leader_id)
        if fetcher is None:
            fetcher = self._by_leader[partition.leader_id] = Fetcher(
                self._node_id,
                partition.leader_id,
                self._link(partition.leader_id),
                self._clock,
                self._broker_epoch,
                self._limits(),
                lambda: len(self._by_leader),
            )
        fetcher.add(partition)
        self._of[partition] = wanted

    def unfollow(self, partition: Partition) -> None:
        found = self._of.pop(partition, None)
        if found is not None:
            self._by_leader[found[0]].remove(partition)

    async def close(self) -> None:
        await asyncio.gather(*(one.close() for one in self._by_leader.values()))
        self._by_leader.clear()
        self._of.clear()
