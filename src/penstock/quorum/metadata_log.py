"""The metadata log as bytes: Kafka's `__cluster_metadata-0`, with a tail that may yet be cut off.

Owns what stands in the log's files: batches with offsets and epochs, where each epoch ends, how far
they are synced and how far they are committed, and where the log begins behind its snapshots. Raft
sees it as its `LogView`. Decides nothing, and knows records only as batches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from penstock.model.error import InvariantError, StorageError
from penstock.quorum.metadata_snapshot import BOOTSTRAP_ID
from penstock.quorum.snapshot_directory import SnapshotDirectory
from penstock.raft import EpochEnd, SnapshotId
from penstock.records.header import (
    BATCH_OVERHEAD,
    BatchHeader,
    Buffer,
    CorruptBatch,
    batch_size,
    check_batch,
    iter_batches,
)
from penstock.storage.log import Log
from penstock.storage.slice import FileSlice
from penstock.storage.trim import (
    advance_log_start,
    batch_start,
    delete_first_segments,
    truncate_fully,
    truncate_to,
)

_READ_BYTES = 1 << 20


class MetadataLog:
    """A node that never votes need not wait for its disk (`synced`): what a crash takes from it, it
    fetches again."""

    def __init__(
        self,
        log: Log,
        *,
        synced: bool = True,
        lower_recovery_point: Callable[[int], None] = lambda offset: None,
    ) -> None:
        """`lower_recovery_point` is called before the log is cut: a note on disk of more than it
        holds would pass for records that were lost, and no node starts without them."""
        self.log = log
        self.synced = synced
        self._lower_recovery_point = lower_recovery_point
        self.snapshots = SnapshotDirectory(log.disk, log.directory)
        self.snapshots.remove_partial()
        self._flush: asyncio.Task[None] | None = None

    # --- where it stands ---

    @property
    def start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def end_offset(self) -> int:
        return self.log.end_offset

    @property
    def flushed_offset(self) -> int:
        """What is before it counts as had by this node: it survives a power failure."""
        return self.log.recovery_point if self.synced else self.log.end_offset

    @property
    def high_watermark(self) -> int:
        """What is before it is committed."""
        return self.log.high_watermark

    @property
    def last_epoch(self) -> int:
        """Of the last record, in the log or else in a snapshot; 0 if there is none."""
        if self.log.epochs.latest >= 0:
            return self.log.epochs.latest
        latest = self.latest_snapshot
        return 0 if latest is None else latest.epoch

    @property
    def latest_snapshot(self) -> SnapshotId | None:
        """The one that a directory is formatted with (0-0) stands for no record, and is none."""
        found = self.snapshots.latest
        return None if found == BOOTSTRAP_ID else found

    @property
    def earliest_snapshot(self) -> SnapshotId | None:
        return next((one for one in self.snapshots.ids if one != BOOTSTRAP_ID), None)

    def end_of_epoch(self, epoch: int) -> EpochEnd:
        """The largest epoch here that is not above the asked one, and where it ended."""
        epochs = self.log.epochs
        if epoch >= epochs.latest:
            return EpochEnd(self.last_epoch, self.end_offset)
        if epoch >= epochs.epochs[0]:
            return EpochEnd(*epochs.end_offset(epoch, self.end_offset))
        earliest = self.earliest_snapshot
        if earliest is not None and earliest.end_offset == self.start_offset:
            return EpochEnd(earliest.epoch, earliest.end_offset)
        return EpochEnd(0, 0)

    def snapshot_size(self, snapshot: SnapshotId) -> int | None:
        return None if snapshot == BOOTSTRAP_ID else self.snapshots.size(snapshot)

    def epoch_before(self, offset: int) -> int:
        """Of the last record before the offset, which is one of the log's or its beginning."""
        if offset > self.start_offset:
            return self.log.epochs.epoch_at(offset - 1)
        before = [one.epoch for one in self.snapshots.ids if one.end_offset == offset]
        return before[-1] if before else 0

    # --- writing ---

    def append(self, batches: Buffer, now_ms: int) -> None:
        """Whole batches that carry their offsets and epochs, all or none."""
        self.log.append_replica(batches, now_ms)

    def append_fetched(self, data: Buffer, epoch: int, now_ms: int) -> Buffer:
        """What a leader of this epoch sent: as much of it as was appended, all or none.

        A batch that the answer's size cut off is left for the next fetch. So is one of a later
        epoch: the answer was read while another leader came, and says nothing of whether this
        node's log agrees with that one's (KAFKA-18723).
        """
        expected, end = self.end_offset, 0
        for position, found in iter_batches(data, 0, len(data)):
            if found.partition_leader_epoch > epoch:
                break
            if found.base_offset != expected:
                raise CorruptBatch(
                    f"fetched batch at offset {found.base_offset}, expected {expected}"
                )
            expected, end = found.next_offset, position + found.size
        taken = memoryview(data)[:end]
        if end:
            self.log.append_replica(taken, now_ms)
        return taken

    def truncate(self, offset: int) -> None:
        """Nothing at or behind the offset is left. What is committed can never go."""
        if offset < self.high_watermark:
            raise InvariantError(
                f"the metadata log is asked to end at {offset}, and is committed up to "
                f"{self.high_watermark}"
            )
        if offset < self.end_offset:
            self._lower_recovery_point(batch_start(self.log, offset))
        truncate_to(self.log, offset)

    def advance_high_watermark(self, offset: int) -> None:
        self.log.advance_high_watermark(min(offset, self.end_offset))

    # --- syncing ---

    async def wait_flushed(self) -> None:
        """What stood in the log when this was called, and stands there still, is synced."""
        generation, end_offset = self.log.generation, self.end_offset
        while self.log.recovery_point < end_offset and self.log.generation == generation:
            if self._flush is None:
                self._flush = asyncio.create_task(self._flush_once(), name="metadata-flush")
            # Who stops waiting must not stop the flush that others wait for.
            await asyncio.shield(self._flush)

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

    # --- reading ---

    def read(self, offset: int, bytes_max: int) -> bytes:
        """Whole batches from the offset on, uncommitted ones too: the first one however large."""
        if offset >= self.end_offset:
            return b""
        result = self.log.read(offset, bytes_max, self.end_offset)
        data = b"".join(_read_slice(part) for part in result.slices)
        end = 0
        for position, header in iter_batches(data, 0, len(data)):
            end = position + header.size
        return data[:end]

    def batches(self, offset: int, end_offset: int) -> Iterator[tuple[BatchHeader, Buffer]]:
        """Checked batches from the one that holds the offset to the end."""
        while offset < end_offset:
            result = self.log.read(offset, _READ_BYTES, end_offset)
            if not result.slices:
                return
            for part in result.slices:
                data = memoryview(_read_slice(part))
                position, end = 0, len(data)
                while end - position >= BATCH_OVERHEAD and batch_size(data, position) <= (
                    end - position
                ):
                    header = check_batch(data, position, end)
                    yield header, data[position : position + header.size]
                    position += header.size
                    offset = header.next_offset

    # --- behind snapshots ---

    def restart_behind(self, snapshot_id: SnapshotId) -> None:
        """A snapshot replaces all of the log, and the log goes on where it ends."""
        self._lower_recovery_point(snapshot_id.end_offset)
        truncate_fully(self.log, snapshot_id.end_offset)
        self.log.advance_high_watermark(snapshot_id.end_offset)

    def open_behind(self, snapshot_id: SnapshotId) -> None:
        """At start: what a whole snapshot holds is committed. A log that ends before it is what a
        process left that ended between receiving the snapshot and dropping the log."""
        end, epoch = snapshot_id
        if (epoch, end) > (self.log.epochs.latest, self.end_offset):
            self.restart_behind(snapshot_id)
        self.log.advance_high_watermark(end)

    def trim(self, bytes_max: int) -> None:
        """Drops log behind snapshots, and snapshots behind newer ones, the oldest first, until
        what is left is no larger than that. The newest snapshot always stays."""
        for snapshot_id in [one for one in self.snapshots.ids if one != BOOTSTRAP_ID]:
            if self.log.size_bytes + self.snapshots.size_bytes <= bytes_max:
                return
            self._drop_before(snapshot_id.end_offset)
            self.snapshots.remove_before(snapshot_id)

    def _drop_before(self, offset: int) -> None:
        whole = sum(base <= offset for base in self.log.bases[1:])
        # At the very end the active segment goes as well, and an empty one begins.
        delete_first_segments(self.log, whole + (offset >= self.log.end_offset))
        advance_log_start(self.log, offset)


def _read_slice(part: FileSlice) -> bytes:
    with part:
        return part.read()
