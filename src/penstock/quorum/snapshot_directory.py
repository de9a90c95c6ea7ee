"""The snapshots of the metadata log as files: which there are, making, receiving and removing them.

A snapshot appears whole, by rename: made here from records, or received piece by piece into a
`.part` file. What is in one is `metadata_snapshot`'s affair.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from penstock.metadata.record import MetadataRecord
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.quorum.metadata_batch import Control
from penstock.quorum.metadata_snapshot import (
    BOOTSTRAP_ID,
    SUFFIX,
    Snapshot,
    encode_snapshot,
    file_name,
    read_snapshot,
)
from penstock.raft import SnapshotId
from penstock.records.header import Buffer
from penstock.storage.damage import put_aside
from penstock.storage.disk import Disk, replace_file, write_fully
from penstock.storage.failure import failure_of
from penstock.storage.trash import remove_file

PARTIAL = ".part"
_NAME = re.compile(r"^(\d{20})-(\d{10})\.checkpoint$")


class SnapshotChunk(NamedTuple):
    data: bytes
    size_bytes: int
    """Of the whole file."""


class SnapshotDirectory:
    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._directory = directory
        self._sizes = self._found()

    def _found(self) -> dict[SnapshotId, int]:
        if not self._disk.exists(self._directory):
            return {}
        matches = (_NAME.match(name) for name in self._disk.listdir(self._directory))
        ids = sorted(SnapshotId(int(one[1]), int(one[2])) for one in matches if one is not None)
        return {one: self._disk.stat(self.path(one)).st_size for one in ids}

    @property
    def ids(self) -> list[SnapshotId]:
        """Oldest first."""
        return list(self._sizes)

    @property
    def latest(self) -> SnapshotId | None:
        return next(reversed(self._sizes), None)

    @property
    def size_bytes(self) -> int:
        return sum(self._sizes.values())

    def path(self, snapshot_id: SnapshotId) -> str:
        return f"{self._directory}/{file_name(snapshot_id)}"

    def size(self, snapshot_id: SnapshotId) -> int | None:
        return self._sizes.get(snapshot_id)

    def read(self, snapshot_id: SnapshotId) -> Snapshot:
        return read_snapshot(self._disk, self.path(snapshot_id))

    def read_chunk(self, snapshot_id: SnapshotId, position: int, bytes_max: int) -> SnapshotChunk:
        """For another node. ApiError where it asks for what is not there, or not any more."""
        size = self._sizes.get(snapshot_id)
        if size is None or snapshot_id == BOOTSTRAP_ID:
            raise ApiError(ErrorCode.SNAPSHOT_NOT_FOUND, f"no snapshot {file_name(snapshot_id)}")
        if not 0 <= position < size:
            raise ApiError(ErrorCode.POSITION_OUT_OF_RANGE, f"position {position} of {size}")
        path = self.path(snapshot_id)
        try:
            fd = self._disk.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                return SnapshotChunk(self._disk.pread(fd, max(bytes_max, 1), position), size)
            finally:
                self._disk.close(fd)
        except FileNotFoundError:
            raise ApiError(ErrorCode.SNAPSHOT_NOT_FOUND, f"no snapshot {path}") from None
        except OSError as error:
            raise failure_of(error, "read", path) from error

    def encode_and_write(
        self,
        snapshot_id: SnapshotId,
        records: Iterable[MetadataRecord],
        controls: Sequence[Control],
        timestamp_ms: int,
        level: int,
    ) -> int:
        """The size of the file; `add` it when this is done. Safe to run in a thread: it touches
        only what it is given.

        A full disk, or no file descriptor, is an ApiError: nothing is lost by it, the log has
        everything.
        """
        data = encode_snapshot(records, controls, snapshot_id.epoch, timestamp_ms, level)
        path = self.path(snapshot_id)
        try:
            replace_file(self._disk, path, data)
        except OSError as error:
            raise failure_of(error, "write", path) from error
        return len(data)

    def add(self, snapshot_id: SnapshotId, size_bytes: int) -> None:
        self._sizes = dict(sorted({**self._sizes, snapshot_id: size_bytes}.items()))

    def begin(self, snapshot_id: SnapshotId) -> PartialSnapshot:
        """One that comes from another node."""
        return PartialSnapshot(self, self._disk, snapshot_id)

    def remove_before(self, snapshot_id: SnapshotId) -> None:
        for older in self.ids:
            if older < snapshot_id:
                remove_file(self._disk, self.path(older))
                del self._sizes[older]

    def put_aside(self, snapshot_id: SnapshotId) -> str:
        """Damaged: nobody is given it, and it is kept for whoever wants to look at it."""
        del self._sizes[snapshot_id]
        return put_aside(self._disk, self.path(snapshot_id))

    def remove_partial(self) -> None:
        """What a process that ended was receiving or writing."""
        if not self._disk.exists(self._directory):
            return
        for name in list(self._disk.listdir(self._directory)):
            if name.endswith((SUFFIX + PARTIAL, SUFFIX + ".tmp")):
                remove_file(self._disk, f"{self._directory}/{name}")


class PartialSnapshot:
    """What has come so far of a snapshot that another node holds."""

    def __init__(self, owner: SnapshotDirectory, disk: Disk, snapshot_id: SnapshotId) -> None:
        self.id = snapshot_id
        self.size_bytes = 0
        self._owner = owner
        self._disk = disk
        self._path = owner.path(snapshot_id) + PARTIAL
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            self._fd = disk.open(self._path, flags)
        except OSError as error:
            raise failure_of(error, "write", self._path) from error

    def append(self, data: Buffer) -> None:
        try:
            write_fully(self._disk, self._fd, data, self.size_bytes)
        except OSError as error:
            raise failure_of(error, "write", self._path) from error
        self.size_bytes += len(data)

    def complete(self) -> Snapshot:
        """Synced, read back, and only then one of the snapshots. Blocks; safe to run in a thread.

        StorageError if it is not whole: then it is gone again."""
        try:
            self._disk.fdatasync(self._fd)
        except OSError as error:
            raise failure_of(error, "sync", self._path) from error
        finally:
            self._disk.close(self._fd)
        try:
            snapshot = read_snapshot(self._disk, self._path)
        except StorageError:
            remove_file(self._disk, self._path)
            raise
        path = self._owner.path(self.id)
        try:
            self._disk.rename(self._path, path)
            self._disk.fsync_dir(path.rpartition("/")[0])
        except OSError as error:
            raise failure_of(error, "write", path) from error
        return snapshot

    def abandon(self) -> None:
        self._disk.close(self._fd)
        remove_file(self._disk, self._path)
