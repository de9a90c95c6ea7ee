"""Several brokers' coordinators in one process and in virtual time.

Every broker has its own image, fed from one list of metadata records, its own logs on disk, the
real hosts and the real handlers. Replicas are copied by the kit, between brokers that hear each
other, and calls between brokers go straight to the other's handler unless a test holds them back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from types import CoroutineType
from typing import Any, TypeVar

from penstock.coordinator.brokers import NoAnswer
from penstock.coordinator.group_host import GroupHost
from penstock.coordinator.producer_id import ProducerIds
from penstock.coordinator.share_host import ShareHost
from penstock.coordinator.topic import CONSUMER_OFFSETS, TRANSACTION_STATE, CoordinatorTopic
from penstock.coordinator.transaction_host import TransactionHost
from penstock.coordinator.transaction_peers import TransactionPeers
from penstock.handlers.broker import Broker
from penstock.handlers.call import Call, ClientState
from penstock.handlers.fetch_sessions import FetchSessions
from penstock.handlers.parked_produce import ParkedProduces
from penstock.handlers.share.side import ShareSide
from penstock.handlers.table import BROKER_MODULES, load
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition import NO_LEADER
from penstock.metadata.record import MetadataRecord
from penstock.model.id import TopicPartition
from penstock.network.held import HeldWrites
from penstock.network.later import Later, future_of
from penstock.node.throttle import new_throttle
from penstock.protocol.entity import Entity
from penstock.protocol.frame import API_BY_KEY
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.records.partition_change_record import PartitionChangeRecord
from penstock.protocol.messages.records.partition_record import PartitionRecord
from penstock.protocol.messages.records.register_broker_record import (
    BrokerEndpoint,
    RegisterBrokerRecord,
)
from penstock.protocol.messages.records.remove_topic_record import RemoveTopicRecord
from penstock.protocol.messages.records.topic_record import TopicRecord
from penstock.replication.context import ReplicaContext
from penstock.replication.lost_leaders import LostLeaders
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.settings.config import BrokerConfig
from penstock.settings.resolve import resolve_topic
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.log_dirs import LogDirs
from penstock.storage.trim import truncate_to
from penstock.telemetry.metric import BrokerMetrics
from penstock.testing.simulation.clock import HostClock
from penstock.testing.simulation.loop import VirtualLoop

T = TypeVar("T")

DATA = "t"
SETTINGS = {
    "log.flush.interval.messages": str(2**63 - 1),
    "group.initial.rebalance.delay.ms": "0",
}
REPLICATION_S = 0.002
TIMEOUT_S = 100.0
"""Of virtual time: far more than any story takes."""


async def _is_gone(broker_id: int) -> bool:
    return False


class KitNode:
    def __init__(self, cluster: KitCluster, node_id: int, home: Path) -> None:
        self.id = node_id
        self.cluster = cluster
        self.is_deaf = False
        """Hears of no metadata, and its replicas fetch nothing and are fetched by nobody."""
        self.clock = HostClock(cluster.loop)
        self.config = BrokerConfig(SETTINGS)
        self.image = ClusterImage()
        self.partitions = PartitionSet(self.image)
        self.applied = 0
        home.mkdir()
        self.log_dir = LogDir(
            str(home),
            self.clock,
            lambda key: resolve_topic(self.config, self.image.configs.topic(key.topic)),
        )
        self.log_dir.open()
        self._context = ReplicaContext(
            node_id,
            self.clock,
            self._open_log,
            lambda log: log.flush(),
            self.image.brokers.get,
            lambda: node_id,
            lambda: True,
            lambda: 10_000,
            lambda _: self.log_dir.checkpoint(),
            lambda *_: None,
        )
        metrics = BrokerMetrics()
        self.broker = Broker(
            throttle=new_throttle(self.config, self.clock),
            node_id=node_id,
            cluster_id="kit",
            config=self.config,
            clock=self.clock,
            loop=cluster.loop,
            image=self.image,
            lost_leaders=LostLeaders({}, _is_gone),
            partitions=self.partitions,
            controller=cluster,  # type: ignore[arg-type]
            build_groups=lambda: GroupHost(
                node_id,
                lambda: self.config,
                self.clock,
                self.image,
                self.partitions,
                cluster,
                metrics,
                cluster.new_uuid,
                HeldWrites(),
            ),
            build_transactions=lambda: TransactionHost(
                node_id,
                lambda: self.config,
                self.clock,
                self.image,
                self.partitions,
                cluster,
                metrics,
                self.broker.producer_ids,
                self.broker.transaction_peers.marker_sender,
            ),
            build_transaction_peers=lambda: TransactionPeers(
                node_id,
                self.clock,
                self.image,
                self.partitions,
                lambda: self.broker.groups,
                cluster,
            ),
            build_share=self._new_share_side,
            producer_ids=ProducerIds(cluster.allocate_producer_ids),
            fetch_sessions=FetchSessions(10),
            metrics=metrics,
            log_dirs=LogDirs([self.log_dir]),
            log_dir_moves=None,  # type: ignore[arg-type]
            quorum=None,  # type: ignore[arg-type]
            controller_listeners=frozenset(),
            answer_embedded=None,  # type: ignore[arg-type]
            parked=ParkedProduces(1 << 20),
            slow_reading=asyncio.Lock(),
        )
        self.client = ClientState("127.0.0.1:1")

    def _new_share_side(self) -> ShareSide:
        host = ShareHost(
            self.id,
            lambda: self.config,
            self.clock,
            self.image,
            self.partitions,
            self.cluster,
            self.broker.metrics,
        )
        return ShareSide(self.broker, host, self.cluster)

    def _open_log(self, partition: Partition) -> Log:
        key = TopicPartition(partition.topic, partition.index)
        return self.log_dir.create_log(key, partition.topic_id)

    # Metadata

    def catch_up(self) -> None:
        """What a node does with a stretch of the metadata log."""
        while self.applied < len(self.cluster.records):
            self.image.replay(self.cluster.records[self.applied], self.applied)
            self.applied += 1
        delta = self.image.take_delta()
        for topic in delta.topics_deleted.values():
            for partition in self.partitions.remove_topic(topic.name):
                partition.end()
        for changed in (delta.partitions_created, delta.partitions_changed):
            for topic_id, indexes in changed.items():
                for index in sorted(indexes):
                    self._take_role(topic_id, index)
        self.broker.tell_coordinators(delta)

    def _take_role(self, topic_id: bytes, index: int) -> None:
        topic = self.image.topics.require(topic_id)
        state = topic.partitions[index]
        if self.id not in state.replicas:
            return
        partition = self.partitions.get(topic.name, index)
        if partition is None:
            partition = Partition(topic.name, topic.id, index, self._context)
            self.partitions.add(partition)
        if state.leader == self.id:
            config = resolve_topic(self.config, self.image.configs.topic(topic.name))
            partition.lead(state, config.min_insync_replicas)
        else:
            partition.follow(state)

    # Requests

    async def ask(
        self, request: Entity, version: int | None = None, client: ClientState | None = None
    ) -> Any:
        """As if over a connection of the client's."""
        key = type(request).API_KEY
        assert key is not None
        version = API_BY_KEY[key].max_stable_version if version is None else version
        answer = load(BROKER_MODULES[key])(
            self.broker, request, Call(client or self.client, version)
        )
        if type(answer) is Later:
            return await future_of(answer)
        return await answer if type(answer) is CoroutineType else answer

    def partition(self, topic: str, index: int = 0) -> Partition:
        found = self.partitions.get(topic, index)
        assert found is not None
        return found

    async def close(self) -> None:
        await self.broker.close()
        self.log_dir.abandon()


class KitCluster:
    """A controller, a network and replication for them all. Partition 0 of the coordinators'
    topics is led by node 1 at first, of the data topic by node 2."""

    def __init__(self, home: Path, count: int = 3, transaction_version: int = 2) -> None:
        self.loop = VirtualLoop(Random(1))  # type: ignore[abstract]
        self.records: list[MetadataRecord] = []
        self.calls: list[tuple[int, Entity]] = []
        self.before_call: Callable[[int, Entity], Coroutine[Any, Any, None]] | None = None
        """May wait, or raise NoAnswer, before the other broker hears of a request."""
        self.after_call: Callable[[int, Entity], Coroutine[Any, Any, None]] | None = None
        """The same, before the answer comes back."""
        self._uuids = 0
        self._producer_ids = 1000
        self._home = home
        self._transaction_version = transaction_version
        self._count = count
        self.nodes: dict[int, KitNode] = {}
        self.stopped_replicas: set[str] = set()
        """Topics whose followers fetch nothing."""

    def run(self, story: Callable[[KitCluster], Coroutine[Any, Any, T]]) -> T:
        async def whole() -> T:
            self._begin()
            replicating = asyncio.create_task(self._replicate())
            try:
                result = await asyncio.wait_for(story(self), TIMEOUT_S)
            except BaseException:
                # What waits for a commit would wait for ever.
                for node in self.nodes.values():
                    node.log_dir.abandon()
                raise
            finally:
                replicating.cancel()
            for node in self.nodes.values():
                await node.close()
            return result

        result: T = self.loop.run_until_complete(whole())
        assert self.loop.unexpected == []
        return result

    def _begin(self) -> None:
        ids = range(1, self._count + 1)
        self.nodes = {one: KitNode(self, one, self._home / str(one)) for one in ids}
        for one in ids:
            point = BrokerEndpoint(name="PLAINTEXT", host=f"host{one}", port=9092)
            self.records.append(
                RegisterBrokerRecord(
                    broker_id=one, broker_epoch=one, end_points=[point], fenced=False
                )
            )
        version = self._transaction_version
        self.records.append(FeatureLevelRecord(name="transaction.version", feature_level=version))
        for name, leader in ((CONSUMER_OFFSETS, 1), (TRANSACTION_STATE, 1), (DATA, 2)):
            self.create(name, leader)
        self.tell()

    # Metadata

    def create(self, name: str, *leaders: int) -> None:
        topic_id = bytes([len(self.records)]) * 16
        self.records.append(TopicRecord(name=name, topic_id=topic_id))
        everybody = sorted(self.nodes)
        for index, leader in enumerate(leaders):
            self.records.append(
                PartitionRecord(
                    topic_id=topic_id,
                    partition_id=index,
                    replicas=everybody,
                    isr=everybody,
                    leader=leader,
                    leader_epoch=0,
                    partition_epoch=0,
                )
            )

    def move(self, topic: str, leader: int, index: int = 0, isr: list[int] | None = None) -> None:
        """Everybody who hears of it acts on it at once."""
        topic_id = self._topic_id(topic)
        self.records.append(
            PartitionChangeRecord(topic_id=topic_id, partition_id=index, leader=leader, isr=isr)
        )
        self.tell()

    def delete(self, topic: str) -> None:
        self.records.append(RemoveTopicRecord(topic_id=self._topic_id(topic)))
        self.tell()

    def _topic_id(self, topic: str) -> bytes:
        ids = [
            one.topic_id
            for one in self.records
            if isinstance(one, TopicRecord) and one.name == topic
        ]
        return ids[-1]

    def tell(self) -> None:
        for node in self.nodes.values():
            if not node.is_deaf:
                node.catch_up()

    def wake(self, node_id: int) -> None:
        self.nodes[node_id].is_deaf = False
        self.nodes[node_id].catch_up()

    async def create_internal_topic(self, topic: CoordinatorTopic) -> None:
        self.create(topic.name, 1)
        self.tell()

    async def allocate_producer_ids(self) -> range:
        self._producer_ids += 1000
        return range(self._producer_ids, self._producer_ids + 1000)

    def new_uuid(self) -> str:
        self._uuids += 1
        return str(self._uuids)

    # Between brokers

    async def call(self, node_id: int, request: Entity, min_version: int) -> Entity:
        self.calls.append((node_id, request))
        if self.before_call is not None:
            await self.before_call(node_id, request)
        await asyncio.sleep(0.001)
        if self.nodes[node_id].is_deaf:
            raise NoAnswer("deaf")
        response: Entity = await self.nodes[node_id].ask(request)
        if self.after_call is not None:
            await self.after_call(node_id, request)
        return response

    async def _replicate(self) -> None:
        while True:
            await asyncio.sleep(REPLICATION_S)
            for node in self.nodes.values():
                if not node.is_deaf:
                    for partition in node.partitions:
                        if partition.is_led and partition.topic not in self.stopped_replicas:
                            self._copy(node, partition)

    def _copy(self, node: KitNode, partition: Partition) -> None:
        for other in self.nodes.values():
            replica = other.partitions.get(partition.topic, partition.index)
            if other is node or other.is_deaf or replica is None or replica.is_led:
                continue
            copy(partition.log, replica.log, other.clock.now_ms())
            partition.on_replica_fetch(other.id, other.id, replica.log.end_offset, 0)


def copy(source: Log, target: Log, now_ms: int) -> None:
    """What a follower does in many fetches. What it has beyond what is committed may never have
    been: the whole tail is fetched anew."""
    if target.end_offset > target.high_watermark and not _is_prefix(source, target):
        truncate_to(target, target.high_watermark)
    while target.end_offset < source.end_offset:
        read = source.read(target.end_offset, 1 << 20, source.end_offset)
        for part in read.slices:
            target.append_replica(bytearray(part.read()), now_ms)
    target.advance_high_watermark(min(source.high_watermark, target.end_offset))


def _is_prefix(source: Log, target: Log) -> bool:
    latest = target.epochs.latest
    return target.end_offset <= source.end_offset and latest == source.epochs.latest


def leader_of(cluster: KitCluster, topic: str, index: int = 0) -> KitNode:
    image = cluster.nodes[max(cluster.nodes, key=lambda one: cluster.nodes[one].applied)].image
    state = image.topics.partition(topic, index)
    assert state is not None and state.leader != NO_LEADER
    return cluster.nodes[state.leader]
