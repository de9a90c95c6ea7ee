"""What handlers may use: the node as seen from an API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.coordinator.election import elections
from penstock.coordinator.topic import CONSUMER_OFFSETS, SHARE_STATE, TRANSACTION_STATE
from penstock.handlers.authorization.setup import new_authorizer
from penstock.handlers.fetch_sessions import FetchSessions
from penstock.handlers.parked_produce import ParkedProduces
from penstock.handlers.throttle import Throttle
from penstock.model.acl import CLUSTER_NAME, Operation, ResourceType
from penstock.model.clock import Clock
from penstock.replication.lost_leaders import LostLeaders
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig
from penstock.telemetry.metric import BrokerMetrics

if TYPE_CHECKING:
    from penstock.audit.trail import Trail
    from penstock.coordinator.group_host import GroupHost
    from penstock.coordinator.producer_id import ProducerIds
    from penstock.coordinator.transaction_host import TransactionHost
    from penstock.coordinator.transaction_peers import TransactionPeers
    from penstock.handlers.call import ClientState
    from penstock.handlers.controller_link import ControllerLink
    from penstock.handlers.replica_state import ReplicaStates
    from penstock.handlers.share.side import ShareSide
    from penstock.handlers.streams_topics import StreamsTopics
    from penstock.metadata.delta import MetadataDelta
    from penstock.metadata.image import ClusterImage
    from penstock.quorum.host import Quorum
    from penstock.replication.log_dir_moves import LogDirMoves
    from penstock.security.authorizer import Authorizer
    from penstock.storage.log_dirs import LogDirs


@dataclass(slots=True)
class Broker:
    """One for all listeners; what is built late is built by who asks first."""

    node_id: int
    cluster_id: str
    config: BrokerConfig
    clock: Clock
    loop: asyncio.AbstractEventLoop
    image: ClusterImage
    partitions: PartitionSet
    lost_leaders: LostLeaders
    controller: ControllerLink
    build_groups: Callable[[], GroupHost]
    build_transactions: Callable[[], TransactionHost]
    build_share: Callable[[], ShareSide]
    build_transaction_peers: Callable[[], TransactionPeers]
    producer_ids: ProducerIds
    fetch_sessions: FetchSessions
    metrics: BrokerMetrics
    log_dirs: LogDirs
    log_dir_moves: LogDirMoves
    quorum: Quorum
    controller_listeners: frozenset[str]
    answer_embedded: Callable[[ClientState, bytes], Awaitable[bytes]]
    """Of a request that another broker sent on."""
    parked: ParkedProduces
    throttle: Throttle
    slow_reading: asyncio.Lock
    """Held while a thread looks into a batch that takes long to read."""
    check_security: Callable[[BrokerConfig], None] = lambda config: None
    """SettingError where listeners could not be secured by these settings here."""
    audit: Trail | None = None
    replica_states: dict[str, ReplicaStates] = field(default_factory=dict)
    """By listener, as clients were told last."""
    authorizer: Authorizer | None = field(init=False)
    """None where everybody may do everything."""
    _groups: GroupHost | None = None
    _transactions: TransactionHost | None = None
    _share: ShareSide | None = None
    _transaction_peers: TransactionPeers | None = None
    _streams_topics: StreamsTopics | None = None

    def __post_init__(self) -> None:
        self.authorizer = new_authorizer(self.config, self.image)
        if self.authorizer is not None:
            self.throttle.is_broker = self._is_broker

    def _is_broker(self, client: ClientState) -> bool:
        from penstock.handlers.authorization.access import access_of

        access = access_of(self, client)
        return access.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME)

    @property
    def groups(self) -> GroupHost:
        """Built when the first group is asked for: a node without groups does not load them."""
        if self._groups is None:
            self._groups = self.build_groups()
        return self._groups

    @property
    def transactions(self) -> TransactionHost:
        if self._transactions is None:
            self._transactions = self.build_transactions()
        return self._transactions

    @property
    def share(self) -> ShareSide:
        if self._share is None:
            self._share = self.build_share()
        return self._share

    @property
    def transaction_peers(self) -> TransactionPeers:
        if self._transaction_peers is None:
            self._transaction_peers = self.build_transaction_peers()
        return self._transaction_peers

    @property
    def streams_topics(self) -> StreamsTopics:
        """Built when a streams group misses its first topic."""
        if self._streams_topics is None:
            from penstock.handlers.streams_topics import StreamsTopics

            self._streams_topics = StreamsTopics(self.controller, self.clock)
        return self._streams_topics

    def tell_coordinators(self, delta: MetadataDelta) -> None:
        """After partitions have taken their new roles. One that is left ends by itself."""
        if delta.features_changed and self._transactions is not None:
            self._transactions.refresh()
        for name, index, leader_epoch in elections(delta, self.image, self.node_id):
            if name == CONSUMER_OFFSETS:
                self.groups.on_led(index, leader_epoch)
            elif name == TRANSACTION_STATE:
                self.transactions.on_led(index, leader_epoch)
            else:
                self.share.host.on_led(index, leader_epoch)

    def load_coordinators(self) -> None:
        """Timeouts run and transactions that were ending end, whether anybody asks or not."""
        if CONSUMER_OFFSETS in self.image.topics:
            self.groups.load_led()
        if TRANSACTION_STATE in self.image.topics:
            self.transactions.load_led()
        if SHARE_STATE in self.image.topics:
            self.share.host.load_led()

    def on_connection_ended(self, client: ClientState) -> None:
        if self._share is not None:
            self._share.partitions.on_connection_ended(client)

    async def close(self) -> None:
        self.parked.close()
        if self._share is not None:
            await self._share.close()
        if self._transactions is not None:
            await self._transactions.close()
        if self._groups is not None:
            await self._groups.close()
        if self._transaction_peers is not None:
            await self._transaction_peers.close()
