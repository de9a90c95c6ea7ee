"""Hosts the group machines, over the partitions of `__consumer_offsets`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Coroutine
from typing import Any, TypeVar

from penstock.coordinator.gathering_journal import GatheringJournal
from penstock.coordinator.group_codec import decode_entries, encode_commits, encode_entries
from penstock.coordinator.group_topic import ImageTopics, changed_topics
from penstock.coordinator.host import CoordinatorHost, TopicMaker
from penstock.coordinator.leadership import Leadership
from penstock.coordinator.topic import (
    CONSUMER_OFFSETS,
    CoordinatorTopic,
    consumer_offsets,
)
from penstock.group import GroupConfig, GroupEntry, GroupShard
from penstock.machine.decision import Decision
from penstock.metadata.config import ResourceType
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.model.clock import Clock
from penstock.model.error import ApiError, StorageError
from penstock.model.id import TopicId
from penstock.network.held import HeldWrites
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.runtime.driver import Runtime
from penstock.settings.config import BrokerConfig
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import BrokerMetrics

RETRY_S = 1.0

ReplyT = TypeVar("ReplyT")

GroupRuntime = Runtime[GroupShard, GroupEntry]

log = get_logger("group")


class GroupHost(CoordinatorHost[GroupShard, GroupEntry]):
    topic_name = CONSUMER_OFFSETS

    def __init__(
        self,
        node_id: int,
        config: Callable[[], BrokerConfig],
        clock: Clock,
        image: ClusterImage,
        partitions: PartitionSet,
        controller: TopicMaker,
        metrics: BrokerMetrics,
        new_uuid: Callable[[], str],
        held: HeldWrites,
    ) -> None:
        limit_s = int(config().get("offsets.commit.timeout.ms")) / 1000
        super().__init__(node_id, image, partitions, controller, metrics, limit_s)
        self._config = config
        self._clock = clock
        self._new_uuid = new_uuid
        self._held = held

    def apply(self, delta: MetadataDelta) -> Coroutine[Any, Any, None]:
        """To be awaited: groups learn of topics that came, went or grew."""
        gone = {topic.name: topic.id for topic in delta.topics_deleted.values()}
        return self._tell(changed_topics(delta, self._image), gone)

    async def _tell(self, names: set[str], gone: dict[str, TopicId]) -> None:
        for index in list(self._loaded):
            await self._ask_patiently(index, lambda shard: shard.decide_topics_changed(names))
            await self._ask_patiently(index, lambda shard: shard.share.decide_topics_changed(names))
        if gone:
            await self.forget_topics(gone)

    async def forget_topics(self, topics: dict[str, TopicId]) -> None:
        """Offsets of deleted topics go with them."""
        topic_ids = frozenset(topics.values())
        for index in sorted(self._partitions.led_of_topic(self.topic_name)):
            await self._ask_patiently(
                index, lambda shard: shard.share.decide_topics_deleted(topic_ids)
            )
            while await self._ask_patiently(
                index, lambda shard: shard.offsets.decide_topics_deleted(topics)
            ):
                pass

    async def _ask_patiently(
        self, index: int, decide: Callable[[GroupShard], Decision[GroupEntry, ReplyT]]
    ) -> ReplyT | None:
        """Until it is written: the disk may be full just now, or the machine has to be loaded
        anew. None once the partition is gone, or led elsewhere."""
        while index in self._partitions.led_of_topic(self.topic_name):
            try:
                return await (await self._wait_loaded(index)).submit(decide)
            except (ApiError, StorageError) as error:
                log.warning("groups not told of a changed topic yet", reason=str(error))
                await asyncio.sleep(RETRY_S)
        return None

    def _topic(self) -> CoordinatorTopic:
        return consumer_offsets(self._config())

    def _build(
        self, partition: Partition, doubtful: Container[bytes]
    ) -> tuple[GroupRuntime, GatheringJournal[GroupEntry]]:
        shard = GroupShard(
            group_config(self._config()),
            self._new_uuid,
            ImageTopics(self._image),
            lambda group_id: self._image.configs.of(ResourceType.GROUP, group_id),
        )
        journal = GatheringJournal(
            partition,
            self._clock,
            encode_entries,
            decode_entries,
            self._held,
            encode_commits,
            doubtful,
        )
        runtime = Runtime(shard, journal, self._clock)
        journal.on_lost = runtime.fail
        return runtime, journal

    async def _begin(self, led: Leadership[GroupShard, GroupEntry]) -> None:
        assert led.runtime is not None
        await led.runtime.submit(lambda shard: shard.decide_loaded(self._clock.now_ms()))


_MEMBER_NUMBERS = (
    "group.consumer.session.timeout.ms",
    "group.consumer.min.session.timeout.ms",
    "group.consumer.max.session.timeout.ms",
    "group.consumer.heartbeat.interval.ms",
    "group.consumer.min.heartbeat.interval.ms",
    "group.consumer.max.heartbeat.interval.ms",
    "group.consumer.assignment.interval.ms",
    "group.consumer.min.assignment.interval.ms",
    "group.consumer.max.assignment.interval.ms",
    "group.consumer.max.size",
    "group.share.session.timeout.ms",
    "group.share.min.session.timeout.ms",
    "group.share.max.session.timeout.ms",
    "group.share.heartbeat.interval.ms",
    "group.share.min.heartbeat.interval.ms",
    "group.share.max.heartbeat.interval.ms",
    "group.share.assignment.interval.ms",
    "group.share.min.assignment.interval.ms",
    "group.share.max.assignment.interval.ms",
    "group.share.max.size",
    "group.streams.session.timeout.ms",
    "group.streams.min.session.timeout.ms",
    "group.streams.max.session.timeout.ms",
    "group.streams.heartbeat.interval.ms",
    "group.streams.min.heartbeat.interval.ms",
    "group.streams.max.heartbeat.interval.ms",
    "group.streams.assignment.interval.ms",
    "group.streams.min.assignment.interval.ms",
    "group.streams.max.assignment.interval.ms",
    "group.streams.initial.rebalance.delay.ms",
    "group.streams.num.standby.replicas",
    "group.streams.max.standby.replicas",
    "group.streams.max.size",
)


def group_config(config: BrokerConfig) -> GroupConfig:
    return GroupConfig(
        group_initial_rebalance_delay_ms=int(config.get("group.initial.rebalance.delay.ms")),
        group_max_size=int(config.get("group.max.size")),
        group_min_session_timeout_ms=int(config.get("group.min.session.timeout.ms")),
        group_max_session_timeout_ms=int(config.get("group.max.session.timeout.ms")),
        offset_metadata_max_bytes=int(config.get("offset.metadata.max.bytes")),
        offsets_retention_ms=int(config.get("offsets.retention.minutes")) * 60_000,
        offsets_retention_check_interval_ms=int(config.get("offsets.retention.check.interval.ms")),
        group_coordinator_rebalance_protocols=tuple(
            config.get("group.coordinator.rebalance.protocols")
        ),
        group_consumer_assignors=tuple(config.get("group.consumer.assignors")),
        group_consumer_migration_policy=str(config.get("group.consumer.migration.policy")),
        **{name.replace(".", "_"): int(config.get(name)) for name in _MEMBER_NUMBERS},
    )
