"""Does to the metadata log what raft wants done: append, cut, take a snapshot over.

Owns the snapshot that is being received, and what becomes of work that cannot be done now. Decides
nothing.
"""

from __future__ import annotations

import asyncio

from penstock.model.clock import Clock
from penstock.model.error import ApiError, InvariantError, StorageError
from penstock.quorum.committed import CommittedRecords
from penstock.quorum.control_record import encode_controls, read_entries
from penstock.quorum.inputs import Inputs, Step
from penstock.quorum.leader_journal import write_or_free
from penstock.quorum.loading import snapshot_entries
from penstock.quorum.metadata_batch import pack_controls
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.metadata_snapshot import Snapshot
from penstock.quorum.snapshot_directory import PartialSnapshot
from penstock.quorum.space_reserve import SpaceReserve
from penstock.raft import (
    AppendControl,
    AppendFetched,
    ControlEntry,
    LogWork,
    RaftMachine,
    Truncate,
    WriteChunk,
)
from penstock.records.header import Buffer, check_batch, parse_header
from penstock.storage.damage import DamagedLog
from penstock.telemetry.log import get_logger

log = get_logger("quorum")


class LogWorker:
    """`retry_s` passes before the same is fetched again that could not be written."""

    def __init__(
        self,
        metadata_log: MetadataLog,
        committed: CommittedRecords,
        clock: Clock,
        reserve: SpaceReserve | None,
        machine: RaftMachine,
        inputs: Inputs,
        retry_s: float,
    ) -> None:
        self._retry_s = retry_s
        self._log = metadata_log
        self._committed = committed
        self._clock = clock
        self._reserve = reserve
        self._machine = machine
        self._inputs = inputs
        self._partial: PartialSnapshot | None = None
        self._installing: asyncio.Task[None] | None = None
        self._received: tuple[int, Buffer] = (-1, b"")

    def receive(self, request_id: int, data: Buffer) -> None:
        """What came with an answer, before raft says what to do with it."""
        self._received = (request_id, data)

    def do(self, work: LogWork) -> list[Step]:
        """And what raft is to be told of it."""
        if isinstance(work, AppendControl):
            return [self._appended(self._append_control(work))]
        if isinstance(work, Truncate):
            self._truncate(work.end_offset)
            return [self._machine.log_truncated]
        data = self._data_of(work.request_id)
        try:
            if isinstance(work, AppendFetched):
                return [self._appended(self._append_fetched(data))]
            self._write_chunk(work, data)
        except ApiError as error:
            if isinstance(error, DamagedLog):
                raise
            # No space, or bytes that another answer may have whole.
            log.warning("fetched metadata cannot be written", reason=str(error))
            self._retry(work)
        return []

    def _data_of(self, request_id: int) -> Buffer:
        received_id, data = self._received
        if received_id != request_id:
            raise InvariantError(f"no data of request {request_id}, but of {received_id}")
        return data

    def _retry(self, work: AppendFetched | WriteChunk) -> None:
        step: Step = self._machine.log_appended
        if isinstance(work, WriteChunk):
            self._abandon()
            step = self._machine.snapshot_refused
        asyncio.get_running_loop().call_later(self._retry_s, self._inputs.feed, step)

    # --- batches ---

    def _appended(self, entries: list[ControlEntry]) -> Step:
        return lambda now_ms: self._machine.log_appended(now_ms, entries)

    def _append_control(self, work: AppendControl) -> list[ControlEntry]:
        now_ms = self._clock.now_ms()
        batch = pack_controls(encode_controls(work), self._log.end_offset, work.epoch, now_ms)
        write_or_free(self._log, batch, now_ms, self._reserve)
        return read_entries(parse_header(batch), batch)

    def _append_fetched(self, data: Buffer) -> list[ControlEntry]:
        epoch = self._machine.view.epoch
        taken = self._log.append_fetched(data, epoch, self._clock.now_ms())
        entries: list[ControlEntry] = []
        position = 0
        while position < len(taken):
            header = check_batch(taken, position, len(taken))
            entries += read_entries(header, taken[position : position + header.size])
            position += header.size
        return entries

    def _truncate(self, end_offset: int) -> None:
        """Synced here and now: what is appended next must not be found between old batches."""
        log.info("metadata log cut", at=end_offset, end=self._log.end_offset)
        self._committed.forget_from(end_offset)
        self._log.truncate(end_offset)
        if self._log.synced:
            self._log.log.flush()

    # --- a snapshot from elsewhere ---

    def _write_chunk(self, work: WriteChunk, data: Buffer) -> None:
        partial = self._partial
        if work.position == 0 or partial is None or partial.id != work.snapshot:
            self._abandon()
            partial = self._partial = self._log.snapshots.begin(work.snapshot)
        if partial.size_bytes != work.position:
            raise InvariantError(
                f"a piece of a snapshot at {work.position}, with {partial.size_bytes} bytes there"
            )
        partial.append(data)
        if work.last:
            self._partial = None
            self._inputs.hold()
            self._installing = asyncio.create_task(self._install(partial), name="snapshot")

    async def _install(self, partial: PartialSnapshot) -> None:
        """Nothing else happens meanwhile: there is no log to speak of."""
        self._inputs.release(await self._completed(partial))

    async def _completed(self, partial: PartialSnapshot) -> Step:
        try:
            snapshot = await asyncio.to_thread(partial.complete)
        except (ApiError, StorageError) as error:
            log.warning("fetched snapshot cannot be used", reason=str(error))
            return self._machine.snapshot_refused
        return lambda now_ms: self._take_over(partial, snapshot, now_ms)

    def _take_over(self, partial: PartialSnapshot, snapshot: Snapshot, now_ms: int) -> None:
        """In place of the log and of all that was told before."""
        offset, epoch = partial.id
        self._log.snapshots.add(partial.id, partial.size_bytes)
        self._log.restart_behind(partial.id)
        self._log.trim(0)
        self._committed.tell_snapshot(snapshot.records, offset)
        log.info("metadata snapshot received", offset=offset, epoch=epoch)
        entries = snapshot_entries(partial.id, snapshot.controls)
        self._machine.snapshot_installed(partial.id, entries, now_ms)

    def _abandon(self) -> None:
        if self._partial is not None:
            self._partial.abandon()
            self._partial = None

    async def close(self) -> None:
        self._abandon()
        if self._installing is not None:
            await asyncio.wait([self._installing])
