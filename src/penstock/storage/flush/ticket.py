"""What has to reach the disk before a log's new records count as written.

Made on the event loop, carried out by a flush thread, settled on the event loop again. It names
descriptors that stay open meanwhile, so that neither a roll nor a full cache pulls them away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.storage import names
from penstock.storage.checkpoint.file import write_lines
from penstock.storage.disk import Disk
from penstock.storage.failure import is_full, sync_directory
from penstock.storage.file_cache import CachedFile

if TYPE_CHECKING:
    from penstock.storage.log import Log
    from penstock.storage.segment import Segment


class FlushTicket:
    __slots__ = (
        "directories",
        "directory",
        "end_offset",
        "epoch_lines",
        "epochs_unwritten",
        "fds",
        "files",
        "generation",
        "log",
    )

    def __init__(self, log: Log, generation: int) -> None:
        self.log = log
        self.generation = generation
        self.directory = log.directory
        self.end_offset = log.end_offset
        self.files: list[CachedFile] = []
        self.fds: list[int] = []
        self.directories: list[str] = []
        self.epoch_lines: list[str] | None = None
        self.epochs_unwritten = False

    def add_file(self, file: CachedFile) -> None:
        if file not in self.files:
            self.fds.append(file.pin())
            self.files.append(file)

    def add_segment(self, segment: Segment) -> None:
        """All of its files, complete as they are from now on."""
        segment.seal()
        for file in (segment.file, segment.index.file, segment.time_index.file):
            self.add_file(file)
        if segment.txn_index.is_there():
            self.add_file(self.log.cache.file(segment.txn_index.path))

    @property
    def has_names(self) -> bool:
        """Whether more than the contents of files has to be synced."""
        return bool(self.directories) or self.epoch_lines is not None

    def sync(self, disk: Disk) -> None:
        """Runs in a flush thread; an OSError means that nothing here may be trusted."""
        for fd in self.fds:
            disk.fdatasync(fd)
        with self.log.naming:
            if not self.log.removed:
                self._sync_names(disk)

    def _sync_names(self, disk: Disk) -> None:
        if self.epoch_lines is not None:
            self._write_epochs(disk, self.epoch_lines)
            if self.directory not in self.directories:
                self.directories.append(self.directory)
        for path in self.directories:
            sync_directory(disk, path)

    def _write_epochs(self, disk: Disk, lines: list[str]) -> None:
        try:
            path = f"{self.directory}/{names.LEADER_EPOCHS}"
            write_lines(disk, path, lines, sync_name=False)
        except OSError as error:
            # What is full is not damaged: the records are safe, the epochs are tried again.
            if not is_full(error):
                raise
            self.epochs_unwritten = True

    def release(self) -> None:
        for file in self.files:
            file.unpin()
        self.files.clear()
