"""The metadata log as a journal: batches of framed records, snapshots, one leader epoch.

Owns what is in `__cluster_metadata-0`, in Kafka's own formats, for a cluster of one voter. Knows
records as bytes with a frame around them; what they mean is the image's affair.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from penstock.metadata.record import MetadataRecord, RecordKind
from penstock.metadata.version import METADATA_LEVEL, METADATA_VERSION
from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, InvariantError, StorageError
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.quorum.metadata_batch import (
    Control,
    encode_values,
    leader_change,
    pack_batches,
    pack_controls,
    read_controls,
    read_values,
)
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.metadata_snapshot import Snapshot
from penstock.quorum.quorum_state import QuorumState, read_quorum_state, write_quorum_state
from penstock.quorum.space_reserve import SpaceReserve
from penstock.raft import SnapshotId
from penstock.records.control import KRAFT_VERSION, KRAFT_VOTERS
from penstock.records.header import Buffer
from penstock.storage.disk import Disk

_logger = logging.getLogger(__name__)

SNAPSHOT_BYTES = 20 << 20


class MetadataJournal:
    def __init__(
        self,
        log: MetadataLog,
        disk: Disk,
        directory: str,
        clock: Clock,
        *,
        snapshot_bytes: int = SNAPSHOT_BYTES,
        reserve: SpaceReserve | None = None,
    ) -> None:
        self._reserve = reserve
        self._log = log
        self._disk = disk
        self._directory = directory
        self._clock = clock
        self._snapshots = log.snapshots
        self._snapshot_bytes = snapshot_bytes
        self._bytes_since_snapshot = 0
        self._quorum_controls: dict[int, bytes] = {}
        self._committed_offset = 0
        self._level = METADATA_LEVEL
        self.epoch = -1
        self.last_snapshot: SnapshotId | None = None

    # --- load ---

    def load(self) -> Iterator[tuple[int, MetadataRecord]]:
        """From the newest snapshot that is whole, then the log behind it."""
        offset = self._log.start_offset
        found = self._newest_snapshot()
        if found is not None:
            self.last_snapshot, snapshot = found
            self._keep_controls(snapshot.controls)
            # All of it happened somewhere before the snapshot's end; no record knows where.
            for record in snapshot.records:
                self._note_level(record)
                yield self.last_snapshot.end_offset - 1, record
            offset = max(offset, self.last_snapshot.end_offset)
        covered = found[0].end_offset if found is not None else 0
        if self._log.start_offset > covered:
            raise StorageError(
                f"the metadata log in {self._directory} begins at offset "
                f"{self._log.start_offset}, and no snapshot (*.checkpoint) that can be read holds "
                "what was before: put a copy of the snapshot back"
            )
        yield from self._load_log(offset)

    def _load_log(self, start: int) -> Iterator[tuple[int, MetadataRecord]]:
        for header, batch in self._log.batches(start, self._log.end_offset):
            self._bytes_since_snapshot += header.size
            if header.is_control:
                self._keep_controls(read_controls(header, batch))
                continue
            for offset, record in read_values(header, batch):
                if offset >= start:
                    self._note_level(record)
                    yield offset, record
        self._committed_offset = self._log.end_offset

    def _note_level(self, record: MetadataRecord) -> None:
        if isinstance(record, FeatureLevelRecord) and record.name == METADATA_VERSION:
            self._level = record.feature_level

    def _newest_snapshot(self) -> tuple[SnapshotId, Snapshot] | None:
        for snapshot_id in reversed(self._snapshots.ids):
            try:
                return snapshot_id, self._snapshots.read(snapshot_id)
            except StorageError as error:
                _logger.warning("%s; looking for an older one", error)
        return None

    def _keep_controls(self, controls: Iterable[Control]) -> None:
        """Who the voters are stands nowhere else once the log before a snapshot is gone."""
        for kind, value in controls:
            if kind in (KRAFT_VERSION, KRAFT_VOTERS):
                self._quorum_controls[kind] = value

    # --- lead ---

    def begin_epoch(self, node_id: int) -> int:
        """Take the log over in an epoch of its own. Call once, after the load."""
        state = read_quorum_state(self._disk, self._directory, replaceable=True) or QuorumState(
            data_version=1 if KRAFT_VOTERS in self._quorum_controls else 0
        )
        covered = self.last_snapshot.epoch if self.last_snapshot is not None else 0
        epoch = 1 + max(state.leader_epoch, self._log.last_epoch, covered, 0)
        write_quorum_state(
            self._disk,
            self._directory,
            replace(state, leader_id=node_id, leader_epoch=epoch, voters=(node_id,)),
        )
        self.epoch = epoch
        now_ms = self._clock.now_ms()
        batch = pack_controls([leader_change(node_id)], self._log.end_offset, epoch, now_ms)
        self._log.append(batch, now_ms)
        return epoch

    # --- journal ---

    @property
    def end_offset(self) -> int:
        return self._log.end_offset

    @property
    def committed_offset(self) -> int:
        return self._committed_offset

    def append(self, records: Sequence[MetadataRecord]) -> int:
        if self.epoch < 0:
            raise InvariantError("the metadata log is written before an epoch has begun")
        base_offset = self._log.end_offset
        now_ms = self._clock.now_ms()
        for record in records:
            self._note_level(record)
        values = encode_values(records, self._level)
        batches = pack_batches(values, base_offset, self.epoch, now_ms)
        if len(batches) > 1 and records[0].API_KEY != RecordKind.BEGIN_TRANSACTION:
            raise ApiError(
                ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation."
            )
        data = batches[0] if len(batches) == 1 else b"".join(batches)
        self._write(data, now_ms, frees_space=all(_frees_space(one) for one in records))
        self._bytes_since_snapshot += len(data)
        return base_offset

    def _write(self, data: Buffer, now_ms: int, frees_space: bool) -> None:
        """What frees space is written even if there is none, as long as the reserve lasts."""
        while True:
            try:
                self._log.append(data, now_ms)
                return
            except ApiError as error:
                is_full = error.code == ErrorCode.KAFKA_STORAGE_ERROR
                if not is_full or not frees_space or self._reserve is None:
                    raise
                if not self._reserve.give():
                    raise

    def is_committed(self, end_offset: int) -> bool:
        return end_offset <= self._committed_offset

    async def wait_committed(self, end_offset: int) -> None:
        await self._log.wait_flushed()
        self._log.advance_high_watermark(end_offset)
        self._committed_offset = max(self._committed_offset, end_offset)

    # --- snapshots ---

    @property
    def wants_snapshot(self) -> bool:
        return self._bytes_since_snapshot >= self._snapshot_bytes

    async def write_snapshot(
        self, records: Sequence[MetadataRecord], end_offset: int
    ) -> SnapshotId:
        """`records` make the state as of `end_offset`, which must be committed, with no
        transaction open there. What came before is dropped once the file is safe."""
        if end_offset > self._committed_offset:
            raise InvariantError(f"snapshot at {end_offset} before it is committed")
        snapshot_id = SnapshotId(end_offset, self.epoch)
        self._bytes_since_snapshot = 0
        controls = sorted(self._quorum_controls.items())
        now_ms = self._clock.now_ms()
        size = await asyncio.to_thread(
            self._snapshots.encode_and_write, snapshot_id, records, controls, now_ms, self._level
        )
        self._snapshots.add(snapshot_id, size)
        self.last_snapshot = snapshot_id
        self._log.trim(0)
        return snapshot_id


def _frees_space(record: MetadataRecord) -> bool:
    """Deleting a topic does, and so does a shorter retention."""
    return record.API_KEY in (RecordKind.REMOVE_TOPIC, RecordKind.CONFIG)
