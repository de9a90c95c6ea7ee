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
from penstock.node.repairs import Repairs
from penstock.node.replica_logs import ReplicaLogs
from penstock.quorum.log_config import MetadataLogConfig
from penstock.replication.context import ReplicaContext
from penstock.replication.follower import CutAt
from penstock.replication.isr_change import IsrChange
from penstock.replication.log_dir_moves import LogDirMoves
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.replication.tally import ReplicaTally
from penstock.replication.throttle import ReplicationThrottles
from penstock.settings.config import BrokerConfig
from penstock.settings.resolve import TopicConfig, resolve_topic
from penstock.storage.config import LogConfig
from penstock.storage.damage import DamagedLog
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.log_dirs import LogDirs
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

    def assign(self, partition: Partition, directory_id: bytes) -> None:
        """Tell the controller in which directory the replica is."""
        ...


class PartitionKeeper:
    def __init__(
        self,
        node_id: int,
        image: ClusterImage,
        config: Callable[[], BrokerConfig],
        log_dirs: LogDirs,
        flush: Callable[[Log], None],
        partitions: PartitionSet,
        clock: Clock,
        cluster: ClusterLink,
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._config = config
        self._log_dirs = log_dirs
        self._partitions = partitions
        self._cluster = cluster
        self._clock = clock
        self._throttles = ReplicationThrottles(
            node_id, float(config().get("replication.quota.window.size.seconds"))
        )
        self.repairs = Repairs(
            node_id,
            image,
            partitions,
            lambda topic: self._topic_config(topic).min_insync_replicas,
            self,
        )
        self._logs = ReplicaLogs(node_id, image, log_dirs, cluster.assign, self.repairs.note)
        self.moves = LogDirMoves(
            node_id,
            image,
            log_dirs,
            partitions,
            clock,
            flush,
            lambda: int(config().get("replica.alter.log.dirs.io.max.bytes.per.second")),
            self,
        )
        self._context = ReplicaContext(
            node_id,
            clock,
            self._logs.open,
            flush,
            image.brokers.get,
            cluster.broker_epoch,
            cluster.is_in_touch,
            lambda: int(config().get("replica.lag.time.max.ms")),
            log_dirs.checkpoint_of,
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
        """At start: every replica that this node has. Logs are opened later, when needed."""
        for topic in self._image.topics:
            for index in topic.partitions:
                self._put(topic, index)
        self._logs.set_strays_aside()
        self.moves.resume()

    def apply(self, delta: MetadataDelta) -> None:
        for topic in delta.topics_deleted.values():
            self._remove(topic)
        for topic_id, indexes in delta.partitions_created.items():
            topic = self._image.topics.require(topic_id)
            for index in sorted(indexes):
                self._put(topic, index, is_new=True)
        for topic_id, indexes in delta.partitions_changed.items():
            topic = self._image.topics.require(topic_id)
            for index in indexes:
                self._put(topic, index, is_new=self._partitions.get(topic.name, index) is None)
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
        else:
            partition.min_isr = config.min_insync_replicas

    def _throttle(self, partition: Partition, config: TopicConfig) -> None:
        partition.throttle = self._throttles.of(
            partition.index,
            config.leader_replication_throttled_replicas,
            config.follower_replication_throttled_replicas,
        )

    def on_flush_failed(self, failed: Log, error: DamagedLog | StorageError) -> None:
        if isinstance(error, StorageError):
            self._log_dirs.fail_under(failed, error)
            return
        self.moves.on_flush_failed(failed)
        home = self._log_dirs.home(failed.partition)
        if home is not None and home.logs.get(failed.partition) is failed:
            home.fail_log(failed.partition, str(error))
            partition = self._partitions.get(*failed.partition)
            if partition is not None:
                self.end(partition, error)
                self.repairs.note(failed.partition)

    def take_offline(self, directory: LogDir, error: StorageError) -> None:
        """Nothing in it is written, read or acknowledged any more; who waits is told."""
        for partition in list(self._partitions):
            if TopicPartition(partition.topic, partition.index) in directory:
                self.end(partition, error)

    def end(self, partition: Partition, error: Exception) -> None:
        # Its fetcher would wait for ever until it is safe, and with it all others.
        self._cluster.unfollow(partition)
        partition.end(error)

    # What moves between directories ask for

    def assign(self, partition: Partition, directory_id: bytes) -> None:
        self._cluster.assign(partition, directory_id)

    def go_on_with(self, partition: Partition, moved: Log) -> None:
        self._logs.watch(moved)
        partition.go_on_with(moved)
        if not partition.is_led:
            # Its fetcher has the log that it had.
            self._cluster.unfollow(partition)
            self._cluster.follow(partition)

    def _put(self, topic: TopicImage, index: int, is_new: bool = False) -> None:
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
        if is_new:
            self._logs.make(partition)
        if image.leader == self._node_id:
            self._cluster.unfollow(partition)
            partition.lead(image, config.min_insync_replicas)
        else:
            partition.follow(image)
            if partition.ended is None:
                self._cluster.follow(partition)

    def _move_away(self, partition: Partition) -> None:
        """Other nodes have it now."""
        self._cluster.unfollow(partition)
        self._partitions.remove(partition)
        partition.end()
        self._log_dirs.delete_log(TopicPartition(partition.topic, partition.index))

    # What repairs ask for

    def tell_lost(self, partition: Partition) -> None:
        self._logs.tell_lost(partition)

    def tell_home(self, partition: Partition) -> None:
        self._logs.tell_home(partition)

    def cut(self, partition: Partition, action: CutAt) -> None:
        self._cluster.unfollow(partition)
        partition.carry_out(action)
        self._put(self._image.topics.require(partition.topic_id), partition.index)

    def begin_anew(self, partition: Partition) -> None:
        self._move_away(partition)
        self._put(self._image.topics.require(partition.topic_id), partition.index, is_new=True)

    def _remove(self, topic: TopicImage) -> None:
        for partition in self._partitions.remove_topic(topic.name):
            self._cluster.unfollow(partition)
            partition.end()
        for index in topic.partitions:
            self._log_dirs.delete_log(TopicPartition(topic.name, index))
