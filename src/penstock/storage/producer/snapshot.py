"""The snapshot files of a log's producers: which exist, writing one, finding a good one.

A snapshot stands at the offset up to which it covers the log. They are not synced: each carries
a checksum, and a bad or missing one only means replaying from an earlier one.
"""

from __future__ import annotations

import logging
import os
from bisect import bisect_right, insort
from collections.abc import Iterable

from penstock.storage import names
from penstock.storage.damage import DamagedFile, is_of_one_file, read_small
from penstock.storage.disk import Disk, write_fully
from penstock.storage.producer.entry import Stored, decode_snapshot, encode_snapshot
from penstock.storage.trash import remove_file

_logger = logging.getLogger(__name__)


class SnapshotFiles:
    __slots__ = ("_disk", "directory", "offsets")

    def __init__(self, disk: Disk, directory: str, offsets: Iterable[int]) -> None:
        self._disk = disk
        self.directory = directory
        self.offsets = sorted(offsets)

    def path(self, offset: int) -> str:
        return names.segment_path(self.directory, offset, names.SNAPSHOT)

    def write(self, offset: int, entries: Iterable[Stored]) -> None:
        """Half a snapshot is as good as none, so a full disk only costs a longer replay."""
        fd = self._create(self.path(offset))
        try:
            write_fully(self._disk, fd, encode_snapshot(entries), 0)
        finally:
            self._disk.close(fd)
        if offset not in self.offsets:
            insort(self.offsets, offset)

    def _create(self, path: str) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            return self._disk.open(path, flags, 0o644)
        except OSError as error:
            if not is_of_one_file(error):
                raise
        remove_file(self._disk, path)
        return self._disk.open(path, flags, 0o644)

    def load_latest(self, end_offset: int) -> tuple[int, list[Stored]] | None:
        """The newest good one that covers nothing behind the offset; bad ones are removed."""
        for slot in range(bisect_right(self.offsets, end_offset) - 1, -1, -1):
            offset = self.offsets[slot]
            entries = self._read(self.path(offset))
            if entries is not None:
                return offset, entries
            self.remove(offset)
        return None

    def _read(self, path: str) -> list[Stored] | None:
        try:
            entries = decode_snapshot(read_small(self._disk, path))
            damage = "its checksum is wrong"
        except (DamagedFile, FileNotFoundError) as error:
            entries, damage = None, str(error)
        if entries is None:
            _logger.warning("%s is removed, an earlier one is used instead: %s", path, damage)
        return entries

    def remove(self, offset: int) -> None:
        self.offsets.remove(offset)
        remove_file(self._disk, self.path(offset))

    def keep_between(self, start: int, end: int) -> None:
        """Drop what is of no use to a log in this range of offsets."""
        for offset in [at for at in self.offsets if at <= start or at > end]:
            self.remove(offset)

    def keep_only(self, offsets: set[int]) -> None:
        """Drop strays: snapshots that belong to no segment, save the newest of all."""
        for offset in [at for at in self.offsets[:-1] if at not in offsets]:
            self.remove(offset)
