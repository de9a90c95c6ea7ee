"""Hosts the transaction machines, over the partitions of `__transaction_state`.

Carries out what they decide: the markers of a transaction that is to end are written into its
partitions, however long that takes, and the machine is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Sequence

from penstock.coordinator.host import CoordinatorHost, TopicMaker
from penstock.coordinator.journal import PartitionJournal
from penstock.coordinator.marker_writer import Marker, MarkerWriter
from penstock.coordinator.producer_id import ProducerIds
from penstock.coordinator.topic import (
    TRANSACTION_STATE,
    CoordinatorTopic,
    transaction_state,
)
from penstock.coordinator.transaction_codec import decode_records, encode_records
from penstock.metadata.image import ClusterImage
from penstock.model.clock import Clock
from penstock.model.error import RETRIABLE, ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.replication.partition import Partition
from penstock.replication.partition_set import PartitionSet
from penstock.runtime.driver import Runtime
from penstock.settings.config import BrokerConfig
from penstock.telemetry.log import get_logger
from penstock.telemetry.metric import BrokerMetrics
from penstock.transaction import (
    MarkerTask,
    TransactionConfig,
    TransactionRecord,
    TransactionShard,
    marker_task,
)

RETRY_S = 0.1
RETRY_S_MAX = 5.0
COMPLETION_WAIT_S = 5.0
"""Longer than markers take on a disk that works. Who waits for more is told to try again."""
GONE = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_PRODUCER_EPOCH})
"""A deleted topic needs no marker, and a partition that knows a later epoch has had its own."""

WRITTEN = GONE | {ErrorCode.NONE}

TransactionRuntime = Runtime[TransactionShard, TransactionRecord]

log = get_logger("transaction")


class TransactionHost(CoordinatorHost[TransactionShard, TransactionRecord]):
    topic_name = TRANSACTION_STATE

    def __init__(
        self,
        config: Callable[[], BrokerConfig],
        clock: Clock,
        image: ClusterImage,
        partitions: PartitionSet,
        controller: TopicMaker,
        metrics: BrokerMetrics,
        producer_ids: ProducerIds,
        markers: MarkerWriter,
    ) -> None:
        super().__init__(image, partitions, controller, metrics)
        self._config = config
        self._clock = clock
        self._producer_ids = producer_ids
        self._markers = markers
        self._completing: dict[str, asyncio.Task[None]] = {}

    async def wait_completed(self, transactional_id: str) -> None:
        """Until the markers of a transaction that is ending are written: the producer's next one
        then finds nothing in its way."""
        task = self._completing.get(transactional_id)
        if task is not None:
            await asyncio.wait([task], timeout=COMPLETION_WAIT_S)

    async def close(self) -> None:
        for task in list(self._completing.values()):
            task.cancel()
        await asyncio.gather(*self._completing.values(), return_exceptions=True)
        await super().close()

    def _topic(self) -> CoordinatorTopic:
        return transaction_state(self._config())

    def _build(
        self, partition: Partition, doubtful: Container[bytes]
    ) -> tuple[TransactionRuntime, PartitionJournal[TransactionRecord]]:
        shard = TransactionShard(self._machine_config(), self._producer_ids.take)
        journal = PartitionJournal(partition, self._clock, encode_records, decode_records, doubtful)
        runtime: TransactionRuntime = Runtime(
            shard, journal, self._clock, lambda records, _: self._on_commit(runtime, records)
        )
        return runtime, journal

    async def _begin(self, runtime: TransactionRuntime) -> None:
        await runtime.submit(lambda shard: shard.decide_loaded(self._clock.now_ms()))
        for task in runtime.machine.pending_markers():
            self._complete(runtime, task)

    def _on_commit(self, runtime: TransactionRuntime, records: Sequence[TransactionRecord]) -> None:
        for record in records:
            task = marker_task(record)
            if task is not None:
                self._complete(runtime, task)

    def _complete(self, runtime: TransactionRuntime, task: MarkerTask) -> None:
        name = task.transactional_id
        running = asyncio.create_task(self._write_markers(runtime, task))
        self._completing[name] = running

        def forget(done: asyncio.Task[None]) -> None:
            if self._completing.get(name) is done:
                del self._completing[name]
            if not done.cancelled() and done.exception() is not None:
                log.error("transaction not completed", id=name, exc_info=done.exception())

        running.add_done_callback(forget)

    async def _write_markers(self, runtime: TransactionRuntime, task: MarkerTask) -> None:
        identity = task.identity
        marker = Marker(
            identity.producer_id,
            identity.producer_epoch,
            task.committed,
            transaction_version=task.transaction_version,
        )
        left = set(task.partitions)
        retry_s = RETRY_S
        while left and runtime.failure is None:
            results = await self._markers.write(marker, sorted(left))
            ended = {one for one, code in results.items() if code not in RETRIABLE or code in GONE}
            _log_refused(task, {one: code for one, code in results.items() if code not in WRITTEN})
            left -= ended
            if ended:
                await self._report(runtime, task, ended)
            if left:
                codes = sorted({results[one].name for one in left})
                log.warning(
                    "markers to be written again",
                    id=task.transactional_id,
                    left=len(left),
                    reason=",".join(codes),
                )
                await asyncio.sleep(retry_s)
                retry_s = min(2 * retry_s, RETRY_S_MAX)

    async def _report(
        self, runtime: TransactionRuntime, task: MarkerTask, written: set[TopicPartition]
    ) -> None:
        while True:
            try:
                await runtime.submit(
                    lambda shard: shard.decide_markers_written(
                        task.transactional_id, task.identity, written, self._clock.now_ms()
                    )
                )
                return
            except ApiError as error:
                # A full disk: the transaction has ended, only its own log does not know yet.
                log.warning("end of transaction not noted yet", error=str(error))
                await asyncio.sleep(RETRY_S)
            except StorageError:
                log.warning("transaction completes after the next load", id=task.transactional_id)
                return

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


def _log_refused(task: MarkerTask, refused: dict[TopicPartition, ErrorCode]) -> None:
    """A marker that a partition will never take, as of a transaction that was forged: trying for
    ever would keep the transaction open for ever."""
    for one, code in refused.items():
        if code not in RETRIABLE:
            log.error(
                "marker refused", id=task.transactional_id, partition=str(one), error=code.name
            )
