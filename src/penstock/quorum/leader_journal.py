"""The metadata log as the active controller's journal, for as long as this node leads one epoch.

Owns how records become batches of that epoch, and who waits for their commit. When the leadership
is lost, what was not committed may never be: everybody who waits is told NOT_CONTROLLER, and the
next leadership has a journal of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from penstock.metadata.record import MetadataRecord, RecordKind
from penstock.metadata.version import METADATA_VERSION
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.quorum.committed import CommittedRecords
from penstock.quorum.metadata_batch import encode_values, pack_batches
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.space_reserve import SpaceReserve
from penstock.records.header import Buffer


class LeaderJournal:
    """A `machine.Journal`. `on_appended` hears of every append, after it."""

    def __init__(
        self,
        epoch: int,
        log: MetadataLog,
        committed: CommittedRecords,
        clock: Clock,
        reserve: SpaceReserve | None,
        on_appended: Callable[[], None],
    ) -> None:
        self.epoch = epoch
        self._log = log
        self._committed = committed
        self._clock = clock
        self._reserve = reserve
        self._on_appended = on_appended
        self._level = committed.level
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._failure: Exception | None = None

    def load(self) -> Iterator[tuple[int, MetadataRecord]]:
        """Nothing: a controller begins with the image of what is committed."""
        return iter(())

    @property
    def end_offset(self) -> int:
        return self._log.end_offset

    def append(self, records: Sequence[MetadataRecord]) -> int:
        self._check()
        base_offset = self._log.end_offset
        now_ms = self._clock.now_ms()
        level = _level_after(self._level, records)
        values = encode_values(records, level)
        batches = list(pack_batches(values, base_offset, self.epoch, now_ms))
        if len(batches) > 1 and records[0].API_KEY != RecordKind.BEGIN_TRANSACTION:
            raise ApiError(
                ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
            )
        data = batches[0] if len(batches) == 1 else b"".join(batches)
        frees_space = all(_frees_space(one) for one in records)
        write_or_free(self._log, data, now_ms, self._reserve if frees_space else None)
        self._level = level
        self._committed.keep(base_offset, records, len(data))
        self._on_appended()
        return base_offset

    def is_committed(self, end_offset: int) -> bool:
        return end_offset <= self._committed.next_offset

    async def wait_committed(self, end_offset: int) -> None:
        self._check()
        if self.is_committed(end_offset):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((end_offset, future))
        await future

    def note_committed(self) -> None:
        """More has been committed, and told to whoever is told of it."""
        reached = [one for one in self._waiting if self.is_committed(one[0])]
        if reached:
            self._waiting = [one for one in self._waiting if not self.is_committed(one[0])]
        for _, future in reached:
            if not future.done():
                future.set_result(None)

    def end(self, error: Exception | None = None) -> None:
        """Nothing more is written in this epoch."""
        if self._failure is not None:
            return
        self._failure = error or ApiError(
            ErrorCode.NOT_CONTROLLER, "this node is not the active controller any more"
        )
        waiting, self._waiting = self._waiting, []
        for _, future in waiting:
            if not future.done():
                future.set_exception(self._failure)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure


def write_or_free(
    log: MetadataLog, data: Buffer, now_ms: int, reserve: SpaceReserve | None
) -> None:
    """What frees space is written even if there is none, as long as the reserve lasts."""
    while True:
        try:
            log.append(data, now_ms)
            return
        except ApiError as error:
            is_full = error.code == ErrorCode.KAFKA_STORAGE_ERROR
            if not is_full or reserve is None or not reserve.give():
                raise


def _frees_space(record: MetadataRecord) -> bool:
    """Deleting a topic does, and so does a shorter retention."""
    return record.API_KEY in (RecordKind.REMOVE_TOPIC, RecordKind.CONFIG)


def _level_after(level: int, records: Sequence[MetadataRecord]) -> int:
    for record in records:
        if isinstance(record, FeatureLevelRecord) and record.name == METADATA_VERSION:
            level = record.feature_level
    return level
