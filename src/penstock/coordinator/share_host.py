"""Hosts the machines that keep the state of share partitions, over `__share_group_state`.

Cuts off the beginning of a log whose records are of no use any more.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from penstock.coordinator.host import CoordinatorHost, TopicMaker
from penstock.coordinator.journal import PartitionJournal
from penstock.coordinator.leadership import Leadership
from penstock.coordinator.share_codec import decode_records, encode_records
from penstock.coordinator.topic import SHARE_STATE, CoordinatorTopic, share_state
from penstock.metadata.delta import MetadataDelta
from penstock.metadata.image import ClusterImage
from penstock.model.clock import Clock
from penstock.model.error import ApiError, StorageError
from penstock.model.id import TopicId
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.runtime.driver import Runtime
from penstock.settings.config import BrokerConfig
from penstock.share import ShareRecord, ShareShard
from penstock.storage.trim import delete_records_before
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import BrokerMetrics

CUT_MIN = 1_000
"""Records between two looks."""

ShareRuntime = Runtime[ShareShard, ShareRecord]

log = get_logger("share")


class ShareHost(CoordinatorHost[ShareShard, ShareRecord]):
    topic_name = SHARE_STATE

    def __init__(
        self,
        node_id: int,
        config: Callable[[], BrokerConfig],
        clock: Clock,
        image: ClusterImage,
        partitions: PartitionSet,
        controller: TopicMaker,
        metrics: BrokerMetrics,
    ) -> None:
        limit_s = int(config().get("share.coordinator.write.timeout.ms")) / 1000
        super().__init__(node_id, image, partitions, controller, metrics, limit_s)
        self._config = config
        self._clock = clock

    async def forget_topics(self, delta: MetadataDelta) -> None:
        """What was kept of deleted topics goes with them."""
        gone: set[TopicId] = {topic.id for topic in delta.topics_deleted.values()}
        for index in sorted(self._partitions.led_of_topic(self.topic_name)):
            try:
                runtime = await self._wait_loaded(index)
                await runtime.submit(lambda shard: shard.decide_topics_deleted(gone))
            except (ApiError, StorageError) as error:
                # It costs a few bytes: nobody asks for a topic id again.
                log.warning("share state of deleted topics is kept", reason=str(error))

    def _topic(self) -> CoordinatorTopic:
        return share_state(self._config())

    def _build(
        self, partition: Partition, doubtful: Container[bytes]
    ) -> tuple[ShareRuntime, PartitionJournal[ShareRecord]]:
        config = self._config()
        shard = ShareShard(
            int(config.get("share.coordinator.snapshot.update.records.per.snapshot")),
            int(config.get("share.coordinator.cold.partition.snapshot.interval.ms")),
        )
        journal = PartitionJournal(partition, self._clock, encode_records, decode_records, doubtful)

        cut = LogCut(partition, shard)
        return Runtime(shard, journal, self._clock, cut.on_commit), journal

    async def _begin(self, led: Leadership[ShareShard, ShareRecord]) -> None:
        assert led.runtime is not None
        await led.runtime.submit(lambda shard: shard.decide_loaded(self._clock.now_ms()))


class LogCut:
    """Takes away the beginning of the log, now and then: to look how much of it is of no use takes
    a walk over all that the shard has."""

    __slots__ = ("_partition", "_shard", "_since")

    def __init__(self, partition: Partition, shard: ShareShard) -> None:
        self._partition = partition
        self._shard = shard
        self._since = 0

    def on_commit(self, records: Sequence[ShareRecord], base_offset: int) -> None:
        self._since += len(records)
        # A snapshot that could still be lost is no reason to forget the one before it.
        is_all = self._shard.end_offset == base_offset + len(records)
        if self._since >= CUT_MIN and is_all and self._partition.is_led:
            self._since = 0
            delete_records_before(self._partition.log, self._shard.redundant_before)
