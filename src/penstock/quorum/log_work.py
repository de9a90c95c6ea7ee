"""Does to the metadata log what raft wants done: append, cut, take a snapshot over.

Owns the snapshot that is being received. Decides nothing.
"""

from __future__ import annotations

from penstock.metadata.record import MetadataRecord
from penstock.model.clock import Clock
from penstock.model.error import ApiError, InvariantError
from penstock.quorum.committed import CommittedRecords
from penstock.quorum.control_record import encode_controls, read_entries
from penstock.quorum.leader_journal import write_or_free
from penstock.quorum.loading import snapshot_entries
from penstock.quorum.metadata_batch import pack_controls
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.metadata_snapshot import Snapshot
from penstock.quorum.snapshot_directory import PartialSnapshot
from penstock.quorum.space_reserve import SpaceReserve
from penstock.raft import AppendControl, ControlEntry, SnapshotId, WriteChunk
from penstock.records.header import Buffer, check_batch, parse_header
from penstock.telemetry.log import get_logger

log = get_logger("quorum")


class LogWorker:
    def __init__(
        self,
        metadata_log: MetadataLog,
        committed: CommittedRecords,
        clock: Clock,
        reserve: SpaceReserve | None,
    ) -> None:
        self._log = metadata_log
        self._committed = committed
        self._clock = clock
        self._reserve = reserve
        self._partial: PartialSnapshot | None = None

    def append_control(self, work: AppendControl) -> list[ControlEntry]:
        now_ms = self._clock.now_ms()
        batch = pack_controls(encode_controls(work), self._log.end_offset, work.epoch, now_ms)
        write_or_free(self._log, batch, now_ms, self._reserve)
        return read_entries(parse_header(batch), batch)

    def append_fetched(self, data: Buffer, epoch: int) -> list[ControlEntry]:
        """ApiError for batches that are not what a leader sends, or for want of space: nothing of
        them is in the log then."""
        taken = self._log.append_fetched(data, epoch, self._clock.now_ms())
        entries: list[ControlEntry] = []
        position = 0
        while position < len(taken):
            header = check_batch(taken, position, len(taken))
            entries += read_entries(header, taken[position : position + header.size])
            position += header.size
        return entries

    def truncate(self, end_offset: int) -> None:
        """Synced here and now: what is appended next must not be found between old batches."""
        log.info("metadata log cut", at=end_offset, end=self._log.end_offset)
        self._committed.forget_from(end_offset)
        self._log.truncate(end_offset)
        if self._log.synced:
            self._log.log.flush()

    # --- a snapshot from elsewhere ---

    def write_chunk(self, work: WriteChunk, data: Buffer) -> PartialSnapshot:
        partial = self._partial
        if work.position == 0 or partial is None or partial.id != work.snapshot:
            self.abandon()
            partial = self._partial = self._log.snapshots.begin(work.snapshot)
        if partial.size_bytes != work.position:
            raise InvariantError(
                f"a piece of a snapshot at {work.position}, with {partial.size_bytes} bytes there"
            )
        partial.append(data)
        if work.last:
            self._partial = None
        return partial

    def install(self, partial: PartialSnapshot, snapshot: Snapshot) -> list[ControlEntry]:
        """In place of the log and of all that was told before."""
        self._log.snapshots.add(partial.id, partial.size_bytes)
        self._log.restart_behind(partial.id)
        self._log.trim(0)
        self._tell(partial.id, snapshot.records)
        log.info("metadata snapshot received", offset=partial.id.end_offset, epoch=partial.id.epoch)
        return snapshot_entries(partial.id, snapshot.controls)

    def _tell(self, snapshot_id: SnapshotId, records: list[MetadataRecord]) -> None:
        self._committed.tell_snapshot(records, snapshot_id.end_offset)

    def abandon(self) -> None:
        if self._partial is not None:
            self._partial.abandon()
            self._partial = None


def is_passing(error: Exception) -> bool:
    """Whether the same work may be done later: no space, or bytes that another answer may have
    whole."""
    return isinstance(error, ApiError)
