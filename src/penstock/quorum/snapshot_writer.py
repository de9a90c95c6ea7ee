"""Writes this node's own snapshots of what is committed, and drops the log behind them.

Owns when one is due.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from penstock.metadata.record import MetadataRecord
from penstock.model.clock import Clock
from penstock.model.error import InvariantError
from penstock.quorum.committed import CommittedRecords
from penstock.quorum.config import QuorumConfig
from penstock.quorum.control_record import snapshot_controls
from penstock.quorum.metadata_log import MetadataLog
from penstock.raft import SnapshotId, VoterHistory


class SnapshotWriter:
    def __init__(
        self,
        config: QuorumConfig,
        log: MetadataLog,
        committed: CommittedRecords,
        clock: Clock,
    ) -> None:
        self._config = config
        self._log = log
        self._committed = committed
        self._clock = clock
        self._since_s = clock.monotonic()

    @property
    def is_due(self) -> bool:
        size_bytes = self._committed.bytes_told
        interval_ms = self._config.snapshot_interval_ms
        waited_ms = (self._clock.monotonic() - self._since_s) * 1000
        is_old = size_bytes > 0 and 0 < interval_ms <= waited_ms
        return is_old or size_bytes >= self._config.snapshot_bytes

    async def write(
        self,
        records: Iterable[MetadataRecord],
        end_offset: int,
        history: VoterHistory,
        level: int,
    ) -> SnapshotId | None:
        self._check(end_offset)
        snapshot_id = SnapshotId(end_offset, self._log.epoch_before(end_offset))
        latest = self._log.latest_snapshot
        if end_offset == 0 or (latest is not None and latest >= snapshot_id):
            return None
        self._committed.bytes_told = 0
        self._since_s = self._clock.monotonic()
        controls = snapshot_controls(history, end_offset)
        size = await asyncio.to_thread(
            self._log.snapshots.encode_and_write,
            snapshot_id,
            records,
            controls,
            self._clock.now_ms(),
            level,
        )
        self._log.snapshots.add(snapshot_id, size)
        # The next one finds the log before this one in files of their own.
        self._log.log.roll()
        self._log.trim(self._config.retained_bytes)
        return snapshot_id

    def _check(self, end_offset: int) -> None:
        """A snapshot that ends inside a batch leaves no way to go on behind it (KAFKA-14619)."""
        if end_offset > self._committed.next_offset:
            raise InvariantError(f"snapshot at {end_offset} before it is committed")
        for header, _ in self._log.batches(end_offset, self._log.end_offset):
            if header.base_offset != end_offset:
                raise InvariantError(f"snapshot at {end_offset}, inside a batch")
            break
