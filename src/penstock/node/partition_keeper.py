"""Keeps this node's partitions and logs in step with the cluster image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from penstock.metadata.config import ResourceType
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.metadata.topic import TopicImage
from penstock.model.clock import Clock
from penstock.model.error import StorageError
from penstock.model.id import TopicPartition
from penstock.node.metadata_plane import METADATA_PARTITION
from penstock.quorum.log_config import MetadataLogConfig
from penstock.replication.context import ReplicaContext
from penstock.replication.isr_change import IsrChange
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.replication.tally import ReplicaTally
from penstock.replication.throttle import ReplicationThrottles
from penstock.settings.config import BrokerConfig
from penstock.settings.resolve import TopicConfig, resolve_topic
from penstock.storage.config import LogConfig
from penstock.storage.damage import DamagedLog
from penstock.storage.flush.flusher import Flusher
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.telemetry.log import get_logger

log = get_logger("partition")

_METADATA_LOG_CONFIG = MetadataLogConfig()


class ClusterLink(Protocol):
    """Other brokers and the controller, as far as this node's replicas need them."""

    def broker_epoch(self) -> int: ...

    def is_in_touch(self) -> bool: ...

    def alter_isr(self, partition: Partition, change: IsrChange) -> None: ...

    def follow(self, partition: Partition) -> None:
        """Fetch from the partition's leader, from now on and in its present epoch."""
        ...

    def unfollow(self, partition: Partition) -> None: ...


class PartitionKeeper:
    def __init__(
        self,
        node_id: int,
        image: ClusterImage,
        config: Callable[[], BrokerConfig],
        log_dir: LogDir,
        flusher: Flusher,
        partitions: PartitionSet,
        clock: Clock,
        cluster: ClusterLink,
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._config = config
        self._log_dir = log_dir
        self._partitions = partitions
        self._cluster = cluster
        self._clock = clock
        self._throttles = ReplicationThrottles(
            node_id, float(config().get("replication.quota.window.size.seconds"))
        )
        self._context = ReplicaContext(
            node_id,
            clock,
            self._open_log,
            flusher.request,
            image.brokers.get,
            cluster.broker_epoch,
            cluster.is_in_touch,
            lambda: int(config().get("replica.lag.time.max.ms")),
            log_dir.checkpoint,
            cluster.alter_isr,
        )

    @property
    def tally(self) -> ReplicaTally:
        return self._context.tally

    # What a log is told about its settings, also before its partition is known here.

    def log_config(self, partition: TopicPartition) -> LogConfig:
        if partition == METADATA_PARTITION:
            return _METADATA_LOG_CONFIG
        return self._topic_config(partition.topic)

    def _topic_config(self, topic: str) -> TopicConfig:
        return resolve_topic(self._config(), self._image.configs.topic(topic))

    def adopt_image(self) -> None:
        """At start: every replica that this node has. Those that it leads alone are not opened."""
        for topic in self._image.topics:
            for index in topic.partitions:
                self._put(topic, index)
        self._set_strays_aside()

    def apply(self, delta: MetadataDelta) -> None:
        for topic in delta.topics_deleted.values():
            self._remove(topic)
        for topic_id, indexes in delta.partitions_created.items():
            topic = self._image.topics.require(topic_id)
            for index in sorted(indexes):
                self._put(topic, index)
        for topic_id, indexes in delta.partitions_changed.items():
            topic = self._image.topics.require(topic_id)
            for index in indexes:
                self._put(topic, index)
        for resource in delta.configs_changed:
            if resource.type == ResourceType.TOPIC:
                self.refresh_topic(resource.name)

    def refresh_topic(self, topic: str) -> None:
        for partition in self._partitions.of_topic(topic).values():
            self._refresh(partition)

    def refresh_all(self) -> None:
        """The broker's own settings changed, and with them the defaults of every topic."""
        config, now_s = self._config(), self._clock.monotonic()
        throttles = self._throttles
        throttles.leading.set_rate(int(config.get("leader.replication.throttled.rate")), now_s)
        throttles.following.set_rate(int(config.get("follower.replication.throttled.rate")), now_s)
        for partition in self._partitions:
            self._refresh(partition)

    def _refresh(self, partition: Partition) -> None:
        config = self._topic_config(partition.topic)
        self._throttle(partition, config)
        if partition.is_open:
            partition.log.update_config(config)
            partition.on_config(config.min_insync_replicas)

    def _throttle(self, partition: Partition, config: TopicConfig) -> None:
        partition.throttle = self._throttles.of(
            partition.index,
            config.leader_replication_throttled_replicas,
            config.follower_replication_throttled_replicas,
        )

    def on_flush_failed(self, failed: Log, error: DamagedLog | StorageError) -> None:
        if isinstance(error, StorageError):
            self._log_dir.fail(error)
            return
        if self._log_dir.logs.get(failed.partition) is failed:
            self._log_dir.fail_log(failed.partition, str(error))
            partition = self._partitions.get(*failed.partition)
            if partition is not None:
                # Its fetcher would wait for ever until it is safe, and with it all others.
                self._cluster.unfollow(partition)
                partition.end(error)

    def take_offline(self, error: StorageError) -> None:
        """Nothing is written, read or acknowledged any more; who waits is told."""
        for partition in self._partitions:
            partition.end(error)

    def _put(self, topic: TopicImage, index: int) -> None:
        image = topic.partitions[index]
        partition = self._partitions.get(topic.name, index)
        if self._node_id not in image.replicas:
            if partition is not None:
                self._move_away(partition)
            return
        config = self._topic_config(topic.name)
        if partition is None or partition.topic_id != topic.id:
            partition = Partition(topic.name, topic.id, index, self._context)
            self._throttle(partition, config)
            self._partitions.add(partition)
        if image.leader == self._node_id:
            self._cluster.unfollow(partition)
            partition.lead(image, config.min_insync_replicas)
        else:
            partition.follow(image)
            self._cluster.follow(partition)

    def _move_away(self, partition: Partition) -> None:
        """Other nodes have it now."""
        self._cluster.unfollow(partition)
        self._partitions.remove(partition)
        partition.end()
        self._log_dir.delete_log(TopicPartition(partition.topic, partition.index))

    def _open_log(self, partition: Partition) -> Log:
        self._log_dir.check_online()
        key = TopicPartition(partition.topic, partition.index)
        if key in self._log_dir and key not in self._log_dir.damaged:
            self._check_topic_id(key, partition.topic_id)
        opened = self._log_dir.create_log(key, partition.topic_id)
        opened.advance_high_watermark(min(self._log_dir.high_watermark(key), opened.end_offset))
        return opened

    def _check_topic_id(self, key: TopicPartition, topic_id: bytes) -> None:
        stored_id = self._log_dir.topic_id(key)
        if stored_id == topic_id:
            return
        if (
            stored_id is None
            or stored_id in self._image.topics.by_id
            or _is_nearly(stored_id, topic_id)
        ):
            # Metadata knows better: the id of a topic of another name, or what is left of the
            # right one, is no trace of an earlier topic of this name.
            log.warning("partition.metadata written anew", partition=key)
            self._log_dir.write_topic_id(key, topic_id)
        else:
            # An earlier topic of that name, deleted while its directory could not be.
            path = self._log_dir.set_aside(key)
            log.warning("directory of an earlier topic set aside", partition=key, path=path)

    def _remove(self, topic: TopicImage) -> None:
        for partition in self._partitions.remove_topic(topic.name):
            self._cluster.unfollow(partition)
            partition.end()
        for index in topic.partitions:
            self._log_dir.delete_log(TopicPartition(topic.name, index))

    def _set_strays_aside(self) -> None:
        """Directories of partitions that the metadata log does not know, or not as this node's,
        are kept, but not used."""
        strays = [
            key
            for key in self._log_dir.partitions()
            if key != METADATA_PARTITION and not self._is_assigned(key)
        ]
        for key in strays:
            path = self._log_dir.set_aside(key)
            log.warning("directory of an unknown partition set aside", partition=key, path=path)

    def _is_assigned(self, key: TopicPartition) -> bool:
        image = self._image.topics.partition(*key)
        return image is not None and self._node_id in image.replicas


def _is_nearly(stored: bytes, wanted: bytes) -> bool:
    """Ids are random: two of them share four bytes once in millions of times."""
    return sum(one == other for one, other in zip(stored, wanted, strict=True)) >= 4
