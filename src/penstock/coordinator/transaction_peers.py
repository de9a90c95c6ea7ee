"""What a broker does for transactions beside hosting them: it writes their ends where it leads, has
them written elsewhere, and asks their coordinators to add partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.coordinator.addition_sender import AdditionSender
from penstock.coordinator.brokers import Brokers
from penstock.coordinator.marker_sender import MarkerSender
from penstock.coordinator.marker_writer import MarkerWriter
from penstock.metadata.image import ClusterImage
from penstock.model.clock import Clock
from penstock.replication.partition_set import PartitionSet

if TYPE_CHECKING:
    from penstock.coordinator.group_host import GroupHost


class TransactionPeers:
    def __init__(
        self,
        node_id: int,
        clock: Clock,
        image: ClusterImage,
        partitions: PartitionSet,
        groups: Callable[[], GroupHost],
        brokers: Brokers,
    ) -> None:
        self.markers = MarkerWriter(clock, partitions, groups)
        self.marker_sender = MarkerSender(node_id, image, self.markers, brokers)
        self.additions = AdditionSender(brokers)

    async def close(self) -> None:
        await self.marker_sender.close()
        await self.additions.close()
