"""Builds what hosts groups, transactions and share state on a node, each when it is first asked
for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.coordinator.brokers import Brokers
from penstock.handlers.controller_link import ControllerLink
from penstock.metadata.image import ClusterImage
from penstock.model.clock import Clock
from penstock.network.held import HeldWrites
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig
from penstock.telemetry.metric import BrokerMetrics

if TYPE_CHECKING:
    from penstock.coordinator.group_host import GroupHost
    from penstock.coordinator.marker_sender import MarkerSender
    from penstock.coordinator.producer_id import ProducerIds
    from penstock.coordinator.share_host import ShareHost
    from penstock.coordinator.transaction_host import TransactionHost
    from penstock.coordinator.transaction_peers import TransactionPeers


@dataclass(frozen=True, slots=True)
class CoordinatorHosts:
    """Has what they all are made of."""

    node_id: int
    config: Callable[[], BrokerConfig]
    clock: Clock
    image: ClusterImage
    partitions: PartitionSet
    controller: ControllerLink
    metrics: BrokerMetrics
    new_member_id: Callable[[], str]
    held: HeldWrites
    brokers: Brokers

    def groups(self) -> GroupHost:
        from penstock.coordinator.group_host import GroupHost

        return GroupHost(
            self.node_id,
            self.config,
            self.clock,
            self.image,
            self.partitions,
            self.controller,
            self.metrics,
            self.new_member_id,
            self.held,
        )

    def transactions(
        self, producer_ids: ProducerIds, marker_sender: MarkerSender
    ) -> TransactionHost:
        from penstock.coordinator.transaction_host import TransactionHost

        return TransactionHost(
            self.node_id,
            self.config,
            self.clock,
            self.image,
            self.partitions,
            self.controller,
            self.metrics,
            producer_ids,
            marker_sender,
        )

    def share(self) -> ShareHost:
        from penstock.coordinator.share_host import ShareHost

        return ShareHost(
            self.node_id,
            self.config,
            self.clock,
            self.image,
            self.partitions,
            self.controller,
            self.metrics,
        )

    def transaction_peers(self, groups: Callable[[], GroupHost]) -> TransactionPeers:
        from penstock.coordinator.transaction_peers import TransactionPeers

        return TransactionPeers(
            self.node_id, self.clock, self.image, self.partitions, groups, self.brokers
        )
