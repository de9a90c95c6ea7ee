"""What this node's replicas ask of others: records of leaders; of the controller in-sync sets, and
to know the directories they are in.

Built when the first partition with several replicas comes: a node alone never needs it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from penstock.metadata.broker import BrokerImage
from penstock.model.clock import Clock
from penstock.protocol.entity import Entity
from penstock.replication.isr_change import IsrChange
from penstock.replication.lost_leaders import LostLeaders
from penstock.replication.partition import Partition
from penstock.settings.config import BrokerConfig

if TYPE_CHECKING:
    from penstock.node.directory_assignments import DirectoryAssignments
    from penstock.replication.fetcher import FetchLimits
    from penstock.replication.fetchers import Fetchers
    from penstock.replication.isr_changes import IsrChanges

WAIT_MS = 100
"""Unless the setting says otherwise: a partition that a fetcher is given while it waits is asked
for after that. Kafka waits for half a second, as does a node here that follows many others."""
BACKOFF_MS = 100


class ReplicaPeers(Protocol):
    """Other brokers, as far as replicas need them."""

    on_lost: Callable[[int], None]
    """Told of a broker whose connection broke, in the turn of the loop in which that is seen."""

    async def call(self, node_id: int, request: Entity) -> Any: ...

    async def is_gone(self, node_id: int) -> bool: ...


class ReplicaLink:
    """`ask_controller` sends a request and waits for its answer."""

    def __init__(
        self,
        node_id: int,
        clock: Clock,
        config: Callable[[], BrokerConfig],
        broker_epoch: Callable[[], int],
        is_in_touch: Callable[[], bool],
        peers: ReplicaPeers,
        brokers: Mapping[int, BrokerImage],
        ask_controller: Callable[[Entity], Awaitable[Any]],
    ) -> None:
        self._node_id = node_id
        self._clock = clock
        self._config = config
        self.broker_epoch = broker_epoch
        self.is_in_touch = is_in_touch
        self._peers = peers
        self.lost_leaders = LostLeaders(brokers, peers.is_gone)
        peers.on_lost = self.lost_leaders.suspect
        self._ask_controller = ask_controller
        self._fetchers: Fetchers | None = None
        self._isr_changes: IsrChanges | None = None
        self._assignments: DirectoryAssignments | None = None

    def follow(self, partition: Partition) -> None:
        if self._fetchers is None:
            self._fetchers = self._new_fetchers()
        self._fetchers.follow(partition)

    def unfollow(self, partition: Partition) -> None:
        if self._fetchers is not None:
            self._fetchers.unfollow(partition)

    def alter_isr(self, partition: Partition, change: IsrChange) -> None:
        if self._isr_changes is None:
            from penstock.replication.isr_changes import IsrChanges

            self._isr_changes = IsrChanges(self._node_id, self.broker_epoch, self._ask_controller)
        self._isr_changes.add(partition, change)

    def assign(self, partition: Partition, directory_id: bytes) -> None:
        if self._assignments is None:
            from penstock.node.directory_assignments import DirectoryAssignments

            self._assignments = DirectoryAssignments(
                self._node_id, self.broker_epoch, self._ask_controller
            )
        self._assignments.add((partition.topic_id, partition.index), directory_id)

    async def close(self) -> None:
        if self._fetchers is not None:
            await self._fetchers.close()
        if self._isr_changes is not None:
            await self._isr_changes.close()
        if self._assignments is not None:
            await self._assignments.close()
        await self.lost_leaders.close()

    def _new_fetchers(self) -> Fetchers:
        from penstock.replication.fetchers import Fetchers

        def link(leader_id: int) -> Callable[[Entity], Awaitable[Any]]:
            return lambda request: self._peers.call(leader_id, request)

        return Fetchers(self._node_id, link, self._clock, self.broker_epoch, self._limits)

    def _limits(self) -> FetchLimits:
        from penstock.replication.fetcher import FetchLimits

        config = self._config()

        def or_own(key: str, own: int) -> int:
            return int(config.get(key)) if config.is_set(key) else own

        return FetchLimits(
            wait_ms=or_own("replica.fetch.wait.max.ms", WAIT_MS),
            wait_ms_max=int(config.get("replica.fetch.wait.max.ms")),
            min_bytes=int(config.get("replica.fetch.min.bytes")),
            answer_bytes=int(config.get("replica.fetch.response.max.bytes")),
            partition_bytes=int(config.get("replica.fetch.max.bytes")),
            backoff_ms=or_own("replica.fetch.backoff.ms", BACKOFF_MS),
        )
