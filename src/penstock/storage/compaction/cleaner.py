"""The cleaner: compacts the dirtiest log, one at a time.

Owns the order of things: pick a log and describe the work on the event loop, have it done
elsewhere, put each new segment in place on the event loop again, remember how far it went. The
log goes on living meanwhile; if it was cut, deleted or trimmed under the work, the rest of the
work is dropped. The rules of compaction are in `compaction_filter`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from errno import ECHILD

from penstock.model.clock import Clock
from penstock.model.error import ApiError, StorageError
from penstock.model.id import TopicPartition
from penstock.storage.compaction.config import CleanerSettings, is_compacted
from penstock.storage.compaction.job import (
    CleanedGroup,
    CompactionDone,
    CompactionFailed,
    CompactionJob,
    Progress,
)
from penstock.storage.compaction.offset import CleanerOffsets
from penstock.storage.compaction.pick import Candidate, roll_if_overdue, weigh
from penstock.storage.compaction.process import run_in_child
from penstock.storage.compaction.round import Round, describe
from penstock.storage.compaction.stats import CleanerStats, CleaningReport
from penstock.storage.compaction.swap import discard_cleaned, swap_in
from penstock.storage.disk import Disk
from penstock.storage.failure import OUT_OF_FILES, OUT_OF_SPACE, is_full, shortage, sync_directory
from penstock.storage.log import Log

_logger = logging.getLogger(__name__)

REST_MS = 60_000
"""How long a log is left alone after its compaction could not be finished."""

_LOGS_PER_STEP = 8

_PASSING = OUT_OF_SPACE | OUT_OF_FILES | {ECHILD}
"""Failures that say nothing about the log: a full disk, a process that somebody has ended."""

Runner = Callable[[CompactionJob], AsyncGenerator[Progress, None]]


class Cleaner:
    def __init__(
        self,
        disk: Disk,
        directory: str,
        logs: Callable[[], Iterable[Log]],
        clock: Clock,
        settings: Callable[[], CleanerSettings] = CleanerSettings,
        runner: Runner = run_in_child,
    ) -> None:
        """`directory` is the data directory, in which the checkpoint stands; `logs` gives the
        logs in it, whatever their settings. It may open them one by one as it is asked: other
        work gets its turn in between."""
        self._disk = disk
        self._logs = logs
        self._clock = clock
        self._settings = settings
        self._runner = runner
        self.offsets = CleanerOffsets(disk, directory)
        self.stats = CleanerStats()
        self.uncleanable: dict[TopicPartition, Log] = {}
        self._resting: dict[TopicPartition, int] = {}
        self._warned: set[tuple[TopicPartition, int]] = set()

    def load(self, known: Iterable[TopicPartition] | None = None) -> None:
        """Read the checkpoint; of the partitions that are not among the known ones, nothing."""
        self.offsets.load()
        if known is not None:
            self.offsets.keep_only(set(known))

    def forget(self, partition: TopicPartition) -> None:
        """The log is deleted: another one of that name begins anew."""
        self.offsets.forget(partition)
        self.uncleanable.pop(partition, None)
        self._resting.pop(partition, None)

    # --- one round ------------------------------------------------------------------------

    async def clean_next(self) -> CleaningReport | None:
        """Compact the dirtiest log in a child process; None if no log needs it, or if it could
        not be finished. StorageError means that the directory can no longer be trusted. Not to
        be called again before it has returned."""
        if self._forget_closed():
            await asyncio.to_thread(self._write_offsets, self.offsets.snapshot())
        candidates: list[Candidate] = []
        for count, log in enumerate(self._logs(), 1):
            self._add_candidate(candidates, log, self._clock.now_ms())
            if count % _LOGS_PER_STEP == 0:
                await asyncio.sleep(0)
        round_ = self._begin(candidates, self._clock.now_ms())
        if round_ is None:
            return None
        try:
            async with aclosing(self._runner(round_.job)) as steps:
                async for progress in steps:
                    if isinstance(progress, CompactionDone):
                        report = self._finish(round_, progress)
                        await asyncio.to_thread(self._write_offsets, self.offsets.snapshot())
                        return report
                    if isinstance(progress, CompactionFailed):
                        self._fail(round_, progress)
                    elif self._swap(round_, progress):
                        await asyncio.to_thread(self._sync_directory, round_)
                    else:
                        break
        finally:
            discard_cleaned(round_.log)
        return None

    def run_once(self, now_ms: int) -> CleaningReport | None:
        """The same at once and in this thread: for tests and simulations."""
        # A broker never loads it: the work is done in the child.
        from penstock.storage.compaction.run import Compaction

        candidates: list[Candidate] = []
        for log in list(self._logs()):
            self._add_candidate(candidates, log, now_ms)
        round_ = self._begin(candidates, now_ms)
        if round_ is None:
            return None
        try:
            for progress in Compaction(round_.job, self._disk).run():
                if isinstance(progress, CompactionDone):
                    report = self._finish(round_, progress)
                    self._write_offsets(self.offsets.snapshot())
                    return report
                if not self._swap(round_, progress):
                    return None
                self._sync_directory(round_)
        except (ApiError, OSError) as error:
            code = error.errno if isinstance(error, OSError) else 0
            self._fail(round_, CompactionFailed(str(error), code or 0))
        finally:
            discard_cleaned(round_.log)
        return None

    def _forget_closed(self) -> bool:
        """Only a deleted log is closed while the cleaner runs; whether there was any."""
        gone = [log.partition for log in self.offsets.logs() if log.closed]
        for partition in gone:
            self.forget(partition)
        return bool(gone)

    # --- picking --------------------------------------------------------------------------

    def _add_candidate(self, candidates: list[Candidate], log: Log, now_ms: int) -> None:
        if log.closed or not is_compacted(log) or not self._may_clean(log, now_ms):
            return
        try:
            roll_if_overdue(log, now_ms)
            candidates.append(weigh(log, self.offsets.first_dirty(log), now_ms))
        except (ApiError, OSError) as error:
            self._put_off(log, now_ms, error)

    def _may_clean(self, log: Log, now_ms: int) -> bool:
        if self.uncleanable.get(log.partition) is log:
            return False
        return self._resting.get(log.partition, 0) <= now_ms

    def _choose(self, candidates: list[Candidate]) -> Candidate | None:
        self.stats.dirty_ratio_max = max((c.dirty_ratio for c in candidates), default=0.0)
        self.stats.last_run_ms = self._clock.now_ms()
        due = [candidate for candidate in candidates if candidate.is_due]
        return max(due, key=lambda candidate: candidate.dirty_ratio, default=None)

    def _begin(self, candidates: list[Candidate], now_ms: int) -> Round | None:
        """Describe the work on the dirtiest of them."""
        chosen = self._choose(candidates)
        if chosen is None or chosen.log.closed:
            return None
        log = chosen.log
        try:
            discard_cleaned(log)
            # Once more: it may have changed while the others were looked at.
            chosen = weigh(log, self.offsets.first_dirty(log), now_ms)
            return describe(chosen, self._settings(), now_ms, self._clock.monotonic())
        except (ApiError, OSError) as error:
            self._put_off(log, now_ms, error)
            return None

    # --- results --------------------------------------------------------------------------

    def _swap(self, round_: Round, group: CleanedGroup) -> bool:
        """False if the log is no longer what was compacted."""
        old = round_.find(group.bases)
        if old is None:
            self._abandon(round_)
            return False
        swap_in(round_.log, old, group)
        round_.replaced(group)
        return True

    def _finish(self, round_: Round, done: CompactionDone) -> CleaningReport:
        log = round_.log
        if log.generation == round_.generation and not log.closed:
            self.offsets.move(log.partition, done.end_offset)
        report = CleaningReport(
            log.partition,
            round_.job.first_dirty,
            done.end_offset,
            round_.swapped,
            self._clock.monotonic() - round_.started,
            done.stats,
        )
        self.stats.add(report)
        self._warn_of_malformed(report)
        _logger.info("compacted %s", report.describe())
        return report

    def _sync_directory(self, round_: Round) -> None:
        try:
            sync_directory(self._disk, round_.job.directory)
        except OSError as error:
            if not round_.log.closed:  # else it is deleted, and the directory with it
                raise StorageError(f"cannot sync {round_.job.directory}: {error}") from error

    def _write_offsets(self, offsets: dict[TopicPartition, int]) -> None:
        try:
            self.offsets.write(offsets)
        except OSError as error:
            if not is_full(error):
                raise StorageError(f"cannot write the cleaner's checkpoint: {error}") from error
            _logger.warning("%s: the cleaner's checkpoint is put off", shortage(error))

    def _abandon(self, round_: Round) -> None:
        self._resting[round_.log.partition] = self._clock.now_ms() + REST_MS
        _logger.info("%s changed while it was compacted: put off", round_.log.directory)

    def _fail(self, round_: Round, failed: CompactionFailed) -> None:
        log = round_.log
        if round_.is_stale():
            self._abandon(round_)
        elif failed.errno in _PASSING:
            self._put_off(log, self._clock.now_ms(), failed.message)
        else:
            self.uncleanable[log.partition] = log
            self.stats.uncleanable_count = len(self.uncleanable)
            _logger.error("%s is not compacted any more: %s", log.directory, failed.message)

    def _put_off(self, log: Log, now_ms: int, reason: object) -> None:
        self._resting[log.partition] = now_ms + REST_MS
        _logger.warning("compaction of %s put off: %s", log.directory, reason)

    def _warn_of_malformed(self, report: CleaningReport) -> None:
        stats = report.stats
        known = (report.partition, stats.malformed_offset)
        if stats.malformed_batches and known not in self._warned:
            self._warned.add(known)
            _logger.warning(
                "%d batches of %s cannot be read and are kept as they are, the first at offset "
                "%d: %s",
                stats.malformed_batches,
                report.partition,
                stats.malformed_offset,
                stats.malformed_reason,
            )
