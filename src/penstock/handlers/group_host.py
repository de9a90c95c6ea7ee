"""Hosts the group machines: one per partition of `__consumer_offsets` that this node leads.

A machine is loaded when first needed; who asks meanwhile waits for that one load.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from penstock.group import GroupConfig, GroupEntry, GroupShard
from penstock.handlers.controller_link import ControllerLink
from penstock.handlers.coordinator_topic import CONSUMER_OFFSETS, consumer_offsets, partition_of
from penstock.handlers.group_journal import decode_entries, encode_entries
from penstock.handlers.partition_journal import PartitionJournal
from penstock.metadata.image import ClusterImage
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicId
from penstock.replication.partition_set import PartitionSet
from penstock.runtime.driver import Runtime
from penstock.settings.config import BrokerConfig
from penstock.telemetry.log import get_logger

GroupRuntime = Runtime[GroupShard, GroupEntry]

log = get_logger("group")


class GroupHost:
    def __init__(
        self,
        config: Callable[[], BrokerConfig],
        clock: Clock,
        image: ClusterImage,
        partitions: PartitionSet,
        controller: ControllerLink,
        new_uuid: Callable[[], str],
    ) -> None:
        self._config = config
        self._clock = clock
        self._image = image
        self._partitions = partitions
        self._controller = controller
        self._new_uuid = new_uuid
        self._loaded: dict[int, GroupRuntime] = {}
        self._loading: dict[int, asyncio.Task[GroupRuntime]] = {}

    def loaded_of(self, group_id: str) -> GroupRuntime | None:
        """The machine of a group if it is there already: the way of every heartbeat."""
        topic = self._image.topics.get(CONSUMER_OFFSETS)
        if topic is None:
            return None
        return self._loaded.get(partition_of(group_id, len(topic.partitions)))

    async def wait_topic(self) -> int:
        """Makes `__consumer_offsets` if this is the first group ever; its partition count."""
        topic = self._image.topics.get(CONSUMER_OFFSETS)
        if topic is None:
            await self._controller.create_internal_topic(consumer_offsets(self._config()))
            topic = self._image.topics.get(CONSUMER_OFFSETS)
        if topic is None:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return len(topic.partitions)

    async def wait_runtime(self, group_id: str) -> GroupRuntime:
        count = await self.wait_topic()
        return await self._wait_partition(partition_of(group_id, count))

    async def wait_all(self) -> list[GroupRuntime]:
        """Every machine of this node: for questions that name no group."""
        owned = self._partitions.of_topic(CONSUMER_OFFSETS)
        return [await self._wait_partition(index) for index in sorted(owned)]

    async def forget_topics(self, topics: dict[str, TopicId]) -> None:
        """Offsets of deleted topics go with them."""
        for runtime in await self.wait_all():
            while await runtime.submit(lambda shard: shard.offsets.decide_topics_deleted(topics)):
                pass

    async def close(self) -> None:
        for task in self._loading.values():
            task.cancel()
        for runtime in self._loaded.values():
            await runtime.close()

    async def _wait_partition(self, index: int) -> GroupRuntime:
        runtime = self._loaded.get(index)
        if runtime is not None and runtime.failure is None:
            return runtime
        task = self._loading.get(index)
        if task is None:
            self._loaded.pop(index, None)
            task = self._loading[index] = asyncio.create_task(self._load(index))
            task.add_done_callback(lambda _: self._loading.pop(index, None))
        return await asyncio.shield(task)

    async def _load(self, index: int) -> GroupRuntime:
        partition = self._partitions.get(CONSUMER_OFFSETS, index)
        if partition is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        shard = GroupShard(group_config(self._config()), self._new_uuid)
        journal = PartitionJournal(partition, self._clock, encode_entries, decode_entries)
        runtime: GroupRuntime = Runtime(shard, journal, self._clock)
        if partition.log.end_offset > partition.log.log_start_offset:
            count = await asyncio.to_thread(runtime.load)
            log.info("groups loaded", partition=index, records=count)
        await runtime.submit(lambda shard: shard.decide_loaded(self._clock.now_ms()))
        self._loaded[index] = runtime
        return runtime


def group_config(config: BrokerConfig) -> GroupConfig:
    return GroupConfig(
        group_initial_rebalance_delay_ms=int(config.get("group.initial.rebalance.delay.ms")),
        group_max_size=int(config.get("group.max.size")),
        group_min_session_timeout_ms=int(config.get("group.min.session.timeout.ms")),
        group_max_session_timeout_ms=int(config.get("group.max.session.timeout.ms")),
        offset_metadata_max_bytes=int(config.get("offset.metadata.max.bytes")),
        offsets_retention_ms=int(config.get("offsets.retention.minutes")) * 60_000,
        offsets_retention_check_interval_ms=int(config.get("offsets.retention.check.interval.ms")),
    )


def names_of(image: ClusterImage, topic_ids: Iterable[TopicId]) -> dict[TopicId, str]:
    found = ((topic_id, image.topics.get_by_id(topic_id)) for topic_id in topic_ids)
    return {topic_id: topic.name for topic_id, topic in found if topic is not None}
