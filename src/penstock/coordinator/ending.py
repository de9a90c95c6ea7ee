"""Transactions between the decision to end them and their last marker.

The decision is committed, so nothing can change it: markers are sent until every partition has its
own, however long that takes, and the machine is told. A coordinator that is one no longer stops;
its successor finds the decision in the log.

Markers are committed before the machine is told. Whoever waits for the end goes on when it has been
told, and not when that is committed: what the machine answers then is held until everything before
it in its log is, so the end of one transaction and the beginning of the next share a flush.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import NamedTuple

from penstock.coordinator.journal import PartitionJournal
from penstock.coordinator.marker import WRITTEN, Marker, is_tried_again
from penstock.coordinator.marker_sender import MarkerSender
from penstock.coordinator.marker_writer import MarkerResult
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.network.later import Later, future_of
from penstock.runtime.driver import Runtime
from penstock.telemetry.log import get_logger
from penstock.transaction import MarkerTask, TransactionRecord, TransactionShard

RETRY_S = 0.05
RETRY_S_MAX = 1.0
COMPLETION_WAIT_S = 5.0
"""Longer than markers take on a disk that works. Who waits for more is told to try again."""

log = get_logger("transaction")


class _Ending(NamedTuple):
    runtime: Runtime[TransactionShard, TransactionRecord]
    task: asyncio.Task[None]
    told: asyncio.Event
    """The machine knows that it is over, or nobody works on it any more."""


class Endings:
    def __init__(self, markers: MarkerSender, clock: Clock) -> None:
        self._markers = markers
        self._clock = clock
        self._under_way: dict[str, _Ending] = {}

    def begin(
        self,
        runtime: Runtime[TransactionShard, TransactionRecord],
        journal: PartitionJournal[TransactionRecord],
        task: MarkerTask,
    ) -> None:
        name = task.transactional_id
        told = asyncio.Event()
        running = asyncio.create_task(self._end(runtime, journal, task, told))
        ending = self._under_way[name] = _Ending(runtime, running, told)

        def forget(done: asyncio.Task[None]) -> None:
            told.set()
            if self._under_way.get(name) is ending:
                del self._under_way[name]
            if not done.cancelled() and done.exception() is not None:
                log.error("transaction not completed", id=name, exc_info=done.exception())

        running.add_done_callback(forget)

    def is_under_way(self, transactional_id: str) -> bool:
        return transactional_id in self._under_way

    async def wait(self, transactional_id: str) -> None:
        ending = self._under_way.get(transactional_id)
        if ending is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(COMPLETION_WAIT_S):
                    await ending.told.wait()

    def drop(self, runtime: Runtime[TransactionShard, TransactionRecord]) -> None:
        """Its coordinator is elsewhere now."""
        for name, ending in list(self._under_way.items()):
            if ending.runtime is runtime:
                del self._under_way[name]
                ending.task.cancel()

    async def close(self) -> None:
        tasks = [ending.task for ending in self._under_way.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _end(
        self,
        runtime: Runtime[TransactionShard, TransactionRecord],
        journal: PartitionJournal[TransactionRecord],
        task: MarkerTask,
        told: asyncio.Event,
    ) -> None:
        left = set(task.partitions)
        retry_s = RETRY_S
        while left and runtime.failure is None:
            epoch = journal.leader_epoch
            result = await self._markers.send(_marker(task, epoch), sorted(left))
            if ErrorCode.TRANSACTION_COORDINATOR_FENCED in result.values():
                if journal.leader_epoch == epoch:
                    # A later coordinator has written there: this one is about to hear of it.
                    log.warning("markers fenced", id=task.transactional_id, coordinator_epoch=epoch)
                    return
                continue
            ended = {one for one, code in result.items() if not is_tried_again(code)}
            _log_refused(task, result)
            left -= ended
            if ended:
                await self._report(runtime, task, ended, told)
            if left:
                codes = sorted({result[one].name for one in left})
                log.warning(
                    "markers to be written again",
                    id=task.transactional_id,
                    left=len(left),
                    reason=",".join(codes),
                )
                await asyncio.sleep(retry_s)
                retry_s = min(2 * retry_s, RETRY_S_MAX)

    async def _report(
        self,
        runtime: Runtime[TransactionShard, TransactionRecord],
        task: MarkerTask,
        written: set[TopicPartition],
        told: asyncio.Event,
    ) -> None:
        while True:
            try:
                answer = runtime.ask(
                    lambda shard: shard.decide_markers_written(
                        task.transactional_id, task.identity, written, self._clock.now_ms()
                    )
                )
                if not runtime.machine.is_completing(task.transactional_id):
                    told.set()
                if isinstance(answer, Later):
                    await future_of(answer)
                return
            except ApiError as error:
                # A full disk, or too few replicas: the transaction has ended, only its own log
                # does not know yet.
                log.warning("end of transaction not noted yet", error=str(error))
                await asyncio.sleep(RETRY_S)
            except StorageError:
                log.warning("transaction completes after the next load", id=task.transactional_id)
                return


def _marker(task: MarkerTask, coordinator_epoch: int) -> Marker:
    return Marker(
        task.identity.producer_id,
        task.identity.producer_epoch,
        task.committed,
        coordinator_epoch,
        task.transaction_version,
    )


def _log_refused(task: MarkerTask, result: MarkerResult) -> None:
    """A marker that a partition will never take, as of a transaction that was forged: trying for
    ever would keep the transaction open for ever."""
    for one, code in result.items():
        if code not in WRITTEN and not is_tried_again(code):
            log.error(
                "marker refused", id=task.transactional_id, partition=str(one), error=code.name
            )
