"""Up to where each log is compacted, in cleaner-offset-checkpoint.

An offset that cannot be true any more counts as none: the log is then compacted from its start,
which costs time and nothing else.
"""

from __future__ import annotations

import logging

from penstock.model.id import TopicPartition
from penstock.storage import names
from penstock.storage.checkpoint.file import read_offsets, write_offsets
from penstock.storage.damage import DamagedFile, put_aside
from penstock.storage.disk import Disk
from penstock.storage.log import Log

_logger = logging.getLogger(__name__)


class CleanerOffsets:
    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._path = f"{directory}/{names.CLEANER_OFFSETS}"
        self._offsets: dict[TopicPartition, int] = {}
        # Which log, and which state of it, an offset was learned of: a topic may be deleted and
        # created anew under its name, a log may be cut and grow again.
        self._seen: dict[TopicPartition, tuple[Log, int]] = {}

    def load(self) -> None:
        try:
            self._offsets = read_offsets(self._disk, self._path)
        except DamagedFile as damage:
            put_aside(self._disk, self._path)
            _logger.warning("all logs count as not compacted: %s", damage)

    def first_dirty(self, log: Log) -> int:
        # What the file says is of the log as it was opened: it may have been cut since.
        seen, generation = self._seen.get(log.partition, (log, 0))
        if seen is not log or generation != log.generation:
            self._offsets.pop(log.partition, None)
        self._seen[log.partition] = (log, log.generation)
        offset = self._offsets.get(log.partition, log.log_start_offset)
        if offset < log.log_start_offset or offset > log.end_offset:
            self._offsets.pop(log.partition, None)
            return log.log_start_offset
        return offset

    def move(self, partition: TopicPartition, offset: int) -> None:
        self._offsets[partition] = offset

    def forget(self, partition: TopicPartition) -> bool:
        """The log is deleted; whether there was anything to forget."""
        self._seen.pop(partition, None)
        return self._offsets.pop(partition, None) is not None

    def logs(self) -> list[Log]:
        """Those that were asked about."""
        return [log for log, _ in self._seen.values()]

    def keep_only(self, known: set[TopicPartition]) -> None:
        for partition in [at for at in self._offsets if at not in known]:
            self.forget(partition)

    def snapshot(self) -> dict[TopicPartition, int]:
        return dict(self._offsets)

    def write(self, offsets: dict[TopicPartition, int]) -> None:
        """Syncs: not for the event loop."""
        write_offsets(self._disk, self._path, offsets)
