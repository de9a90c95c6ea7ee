"""The little a journal asks of a log, and a storage log giving it.

Owns when the log is flushed: one flush at a time, in a thread, for everybody who waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from penstock.model.error import StorageError
from penstock.records.header import (
    BATCH_OVERHEAD,
    BatchHeader,
    Buffer,
    batch_size,
    check_batch,
)
from penstock.storage.log import Log
from penstock.storage.trim import advance_log_start, delete_first_segments

_READ_BYTES = 1 << 20


class LogFile(Protocol):
    @property
    def start_offset(self) -> int: ...

    @property
    def end_offset(self) -> int: ...

    @property
    def latest_epoch(self) -> int:
        """Of the last batch; -1 if there is none."""
        ...

    @property
    def size_bytes(self) -> int: ...

    def append(self, batches: Buffer, now_ms: int) -> None:
        """Write whole batches that carry their offsets and epochs, all or none."""
        ...

    def read(self, offset: int) -> Iterator[tuple[BatchHeader, Buffer]]:
        """Checked batches from the one that holds the offset to the end."""
        ...

    async def wait_flushed(self, end_offset: int) -> None: ...

    def drop_before(self, offset: int) -> None:
        """Records below the offset are needed no longer."""
        ...


@dataclass(frozen=True, slots=True)
class MetadataLogConfig:
    """Settings of the metadata log itself: nothing in it is dropped but behind a snapshot."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    retention_ms: int = -1
    retention_bytes: int = -1
    cleanup_policy: frozenset[str] = frozenset({"delete"})
    max_message_bytes: int = 64 << 20
    message_timestamp_type: str = "CreateTime"
    message_timestamp_before_max_ms: int = (1 << 63) - 1
    message_timestamp_after_max_ms: int = (1 << 63) - 1
    compression_type: str = "producer"
    penstock_record_check: str = "never"
    flush_messages: int = 1
    flush_ms: int = (1 << 63) - 1
    file_delete_delay_ms: int = 0


class StorageLogFile:
    def __init__(self, log: Log) -> None:
        self.log = log
        self._flush: asyncio.Task[None] | None = None

    @property
    def start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def end_offset(self) -> int:
        return self.log.end_offset

    @property
    def latest_epoch(self) -> int:
        return self.log.epochs.latest

    @property
    def size_bytes(self) -> int:
        return self.log.size_bytes

    def append(self, batches: Buffer, now_ms: int) -> None:
        self.log.append_replica(batches, now_ms)

    def read(self, offset: int) -> Iterator[tuple[BatchHeader, Buffer]]:
        while offset < self.log.end_offset:
            result = self.log.read(offset, _READ_BYTES, self.log.end_offset)
            if not result.slices:
                return
            for part in result.slices:
                with part:
                    data = memoryview(part.read())
                position, end = 0, len(data)
                while end - position >= BATCH_OVERHEAD and batch_size(data, position) <= (
                    end - position
                ):
                    header = check_batch(data, position, end)
                    yield header, data[position : position + header.size]
                    position += header.size
                    offset = header.next_offset

    async def wait_flushed(self, end_offset: int) -> None:
        while self.log.recovery_point < end_offset:
            if self._flush is None:
                self._flush = asyncio.create_task(self._flush_once(), name="journal-flush")
            # Who stops waiting must not stop the flush that others wait for.
            await asyncio.shield(self._flush)
        self.log.high_watermark = max(self.log.high_watermark, end_offset)

    async def _flush_once(self) -> None:
        ticket = self.log.flush_start()
        try:
            await asyncio.to_thread(ticket.sync, self.log.disk)
        except OSError as error:
            self.log.flush_failed(ticket)
            failure = StorageError(f"cannot sync {self.log.directory}: {error}")
            if self.log.on_failure is not None:
                self.log.on_failure(failure)
            raise failure from error
        finally:
            self._flush = None
        self.log.flush_done(ticket)

    def drop_before(self, offset: int) -> None:
        whole = sum(base <= offset for base in self.log.bases[1:])
        # At the very end the active segment goes as well, and an empty one begins.
        delete_first_segments(self.log, whole + (offset >= self.log.end_offset))
        advance_log_start(self.log, offset)
