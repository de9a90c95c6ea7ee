"""A replica's log in the simulation as it really is: `storage.log` on a disk whose power fails."""

from __future__ import annotations

from random import Random

from penstock.replication.follower import Action
from penstock.replication.follower_log import carry_out
from penstock.storage.checkpoint.high_watermark import restore_high_watermark
from penstock.storage.epoch_cache import EpochCache
from penstock.storage.log import Log
from penstock.storage.trim import advance_log_start
from penstock.testing.disk import FaultyDisk
from tests.simulation.replica_log_model import Batch, split_batches
from tests.unit.storage.storage_kit import Bench, Settings

SETTINGS = Settings(segment_bytes=1000, index_interval_bytes=150)
NOW = 1_000_000


class StoredLog:
    def __init__(self, seed: int, *, flushes: bool) -> None:
        self.disk = FaultyDisk(seed)
        self.disk.mkdir("/data")
        self.disk.sync_all()
        self.settings = SETTINGS.but(flush_messages=1 if flushes else 1 << 62)
        self.opened = 0
        self.marks = (0, 0, 0)
        self.durable_offset = 0
        self.log = self._open()

    def _open(self) -> Log:
        """As after a crash, from the checkpoints."""
        recovery_point, start, mark = self.marks
        log = Bench("/data", self.settings, self.disk).open(
            clean=False, recovery_point=recovery_point, start=start
        )
        restore_high_watermark(log, mark)
        # Cuts before and after an opening are not to be taken for one and the same.
        self.opened += 1_000_000
        self.durable_offset = min(self.durable_offset, log.end_offset)
        return log

    @property
    def generation(self) -> int:
        return self.opened + self.log.generation

    @property
    def batches(self) -> list[Batch]:
        return self.read(self.log.log_start_offset, self.log.end_offset, 1 << 62)

    @property
    def log_start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def end_offset(self) -> int:
        return self.log.end_offset

    @property
    def epochs(self) -> EpochCache:
        return self.log.epochs

    @property
    def synced_offset(self) -> int:
        return self.log.recovery_point

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        self.log.advance_high_watermark(offset)

    def read(self, offset: int, upper_bound: int, count: int) -> list[Batch]:
        found: list[Batch] = []
        offset = max(offset, self.log.log_start_offset)
        while offset < min(upper_bound, self.log.end_offset) and len(found) < count:
            slices = self.log.read(offset, 1 << 20, self.log.end_offset).slices
            batches = split_batches(b"".join(one.read() for one in slices))
            if not batches:
                break
            found += batches
            offset = batches[-1].end
        return [batch for batch in found[:count] if batch.base < upper_bound]

    def append(self, batch: Batch) -> None:
        self.log.append_replica(batch.data, NOW)

    def delete_before(self, offset: int) -> None:
        advance_log_start(self.log, offset)
        self.checkpoint()

    def carry_out(self, action: Action) -> None:
        if carry_out(self.log, action, NOW):
            self.checkpoint()
            self.durable_offset = min(self.durable_offset, self.log.end_offset)
        self.durable_offset = max(self.durable_offset, self.log.recovery_point)

    def sync(self) -> None:
        self.log.flush()
        self.durable_offset = self.log.end_offset

    def checkpoint(self) -> None:
        log = self.log
        self.marks = (log.recovery_point, log.log_start_offset, log.high_watermark)

    def lose_power(self, random: Random) -> None:
        self.disk.random = random
        self.disk.crash()
        self.log = self._open()

    def reopen(self) -> None:
        self.disk.kill()
        self.log = self._open()
