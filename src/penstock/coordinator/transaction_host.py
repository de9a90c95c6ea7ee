"""Hosts the transaction machines, over the partitions of `__transaction_state`.

Carries out what they decide: a transaction that is to end gets its markers (`ending`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from penstock.coordinator.ending import Endings
from penstock.coordinator.host import CoordinatorHost, TopicMaker
from penstock.coordinator.journal import PartitionJournal
from penstock.coordinator.leadership import Leadership
from penstock.coordinator.marker_sender import MarkerSender
from penstock.coordinator.producer_id import ProducerIds
from penstock.coordinator.topic import (
    TRANSACTION_STATE,
    CoordinatorTopic,
    transaction_state,
)
from penstock.coordinator.transaction_codec import decode_records, encode_records
from penstock.metadata.image import ClusterImage
from penstock.model.clock import Clock
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.runtime.driver import Runtime
from penstock.settings.config import BrokerConfig
from penstock.telemetry.metric import BrokerMetrics
from penstock.transaction import (
    TransactionConfig,
    TransactionRecord,
    TransactionShard,
    marker_task,
)

TransactionRuntime = Runtime[TransactionShard, TransactionRecord]
TransactionLeadership = Leadership[TransactionShard, TransactionRecord]


class TransactionHost(CoordinatorHost[TransactionShard, TransactionRecord]):
    topic_name = TRANSACTION_STATE

    def __init__(
        self,
        node_id: int,
        config: Callable[[], BrokerConfig],
        clock: Clock,
        image: ClusterImage,
        partitions: PartitionSet,
        controller: TopicMaker,
        metrics: BrokerMetrics,
        producer_ids: ProducerIds,
        markers: MarkerSender,
    ) -> None:
        # Kafka waits as long as the transaction may take, which its clients do not.
        limit_s = int(config().get("request.timeout.ms")) / 1000
        super().__init__(node_id, image, partitions, controller, metrics, limit_s)
        self._config = config
        self._clock = clock
        self._producer_ids = producer_ids
        self._endings = Endings(markers, clock)

    async def wait_completed(self, transactional_id: str) -> None:
        """Until the markers of a transaction that is ending are written: the producer's next one
        then finds nothing in its way."""
        await self._endings.wait(transactional_id)

    def refresh(self) -> None:
        """The cluster has finalized another transaction version."""
        config = self._machine_config()
        for led in self._led.values():
            if led.runtime is not None:
                led.runtime.machine.configure(config)

    async def close(self) -> None:
        await self._endings.close()
        await super().close()

    def _topic(self) -> CoordinatorTopic:
        return transaction_state(self._config())

    def _build(
        self, partition: Partition, doubtful: Container[bytes]
    ) -> tuple[TransactionRuntime, PartitionJournal[TransactionRecord]]:
        shard = TransactionShard(self._machine_config(), self._producer_ids.take)
        journal = PartitionJournal(partition, self._clock, encode_records, decode_records, doubtful)

        def on_commit(records: Sequence[TransactionRecord], _: int) -> None:
            for record in records:
                task = marker_task(record)
                if task is not None:
                    self._endings.begin(runtime, journal, task)

        runtime: TransactionRuntime = Runtime(shard, journal, self._clock, on_commit)
        return runtime, journal

    async def _begin(self, led: TransactionLeadership) -> None:
        assert led.runtime is not None
        await led.runtime.submit(lambda shard: shard.decide_loaded(self._clock.now_ms()))
        self._end_pending(led)

    def _raised(self, led: TransactionLeadership) -> None:
        """Markers that were refused for their coordinator epoch are sent with the new one."""
        if not led.is_loading:
            self._end_pending(led)

    def _end_pending(self, led: TransactionLeadership) -> None:
        runtime, journal = led.runtime, led.journal
        if led.is_over or runtime is None or journal is None:
            return
        # The decision itself may not be committed yet. Its markers follow when it is.
        undecided = {record.transactional_id for record in runtime.uncommitted}
        for task in runtime.machine.pending_markers():
            name = task.transactional_id
            if name not in undecided and not self._endings.is_under_way(name):
                self._endings.begin(runtime, journal, task)

    def _ended(self, led: TransactionLeadership) -> None:
        if led.runtime is not None:
            self._endings.drop(led.runtime)

    def _machine_config(self) -> TransactionConfig:
        config = self._config()
        return TransactionConfig(
            transaction_max_timeout_ms=int(config.get("transaction.max.timeout.ms")),
            transactional_id_expiration_ms=int(config.get("transactional.id.expiration.ms")),
            transaction_remove_expired_transaction_cleanup_interval_ms=int(
                config.get("transaction.remove.expired.transaction.cleanup.interval.ms")
            ),
            transaction_version=self._image.features.get("transaction.version", 0),
        )
