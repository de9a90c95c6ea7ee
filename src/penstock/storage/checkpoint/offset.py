"""What a data directory remembers of its logs between two starts: three files of offsets.

A file that cannot be read costs something, but never the start: without recovery points every log
is recovered from its first batch, without log starts each begins with its first segment, and high
watermarks are found again. The file is put aside, and the log says so.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Iterable

from penstock.model.error import StorageError
from penstock.model.id import TopicPartition
from penstock.storage import names
from penstock.storage.checkpoint.file import read_offsets, write_offsets
from penstock.storage.damage import DamagedFile, put_aside
from penstock.storage.disk import Disk
from penstock.storage.failure import is_full, shortage
from penstock.storage.log import Log

_logger = logging.getLogger(__name__)

_WITHOUT = {
    names.RECOVERY_POINTS: "after a crash every log is recovered from its first batch",
    names.LOG_STARTS: "every log starts with its first segment, deleted records may come back",
    names.HIGH_WATERMARKS: "all that the logs hold counts",
}


class OffsetCheckpoints:
    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._directory = directory
        self.recovery_points: dict[TopicPartition, int] = {}
        self.log_starts: dict[TopicPartition, int] = {}
        self.high_watermarks: dict[TopicPartition, int] = {}
        # Forgotten here, and perhaps not yet in the files.
        self._forgotten: set[TopicPartition] = set()

    def load(self, known: Container[TopicPartition]) -> None:
        """What the files say of others than the known ones is of logs that were deleted."""
        self.recovery_points = self._read(names.RECOVERY_POINTS)
        self.log_starts = self._read(names.LOG_STARTS)
        self.high_watermarks = self._read(names.HIGH_WATERMARKS)
        for partition in {*self.recovery_points, *self.log_starts, *self.high_watermarks}:
            if partition not in known:
                self.forget(partition)

    def forget(self, partition: TopicPartition) -> None:
        for offsets in (self.recovery_points, self.log_starts, self.high_watermarks):
            if offsets.pop(partition, None) is not None:
                self._forgotten.add(partition)

    def begin(self, partition: TopicPartition, logs: Iterable[Log]) -> None:
        """A log is about to be made: after a crash it must not be taken for an earlier one of that
        name. It would be cut to where that one began."""
        if partition in self._forgotten:
            self.write(logs)

    def write(self, logs: Iterable[Log]) -> None:
        """On a full disk the old files stay, which costs a longer recovery and nothing else."""
        logs = list(logs)
        for log in logs:
            self.recovery_points[log.partition] = log.recovery_point
            self.high_watermarks[log.partition] = log.high_watermark
        written = self._write(names.RECOVERY_POINTS, self.recovery_points)
        written &= self._write(names.HIGH_WATERMARKS, self.high_watermarks)
        written &= self.write_log_starts(logs)
        if written:
            self._forgotten.clear()

    def expect(self, log: Log, safe_offset: int) -> None:
        """It comes from another directory, and `safe_offset` is how far it is on disk in this."""
        self.recovery_points[log.partition] = safe_offset
        self.high_watermarks[log.partition] = log.high_watermark
        self.log_starts[log.partition] = log.log_start_offset

    def lower_recovery_point(self, partition: TopicPartition, offset: int) -> None:
        """Where the file says more than this: before a log is cut at the offset."""
        if self.recovery_points.get(partition, 0) > offset:
            self.recovery_points[partition] = offset
            self._write(names.RECOVERY_POINTS, self.recovery_points)

    def write_log_starts(self, logs: Iterable[Log]) -> bool:
        """Whether the disk had room for it."""
        for log in logs:
            if log.log_start_offset > log.bases[0]:
                self.log_starts[log.partition] = log.log_start_offset
            else:
                self.log_starts.pop(log.partition, None)
        return self._write(names.LOG_STARTS, self.log_starts)

    def _read(self, name: str) -> dict[TopicPartition, int]:
        path = f"{self._directory}/{name}"
        try:
            return read_offsets(self._disk, path)
        except DamagedFile as damage:
            kept = put_aside(self._disk, path)
            _logger.warning("%s; kept as %s, and begun anew: %s", damage, kept, _WITHOUT[name])
            return {}

    def _write(self, name: str, offsets: dict[TopicPartition, int]) -> bool:
        try:
            write_offsets(self._disk, f"{self._directory}/{name}", offsets)
        except OSError as error:
            if not is_full(error):
                raise StorageError(f"cannot checkpoint {self._directory}: {error}") from error
            _logger.warning("%s: checkpoints of %s put off", shortage(error), self._directory)
            return False
        return True
