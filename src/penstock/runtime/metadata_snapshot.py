"""Snapshot files of the metadata log: one file holds everything up to an offset.

Owns their names, their format and which of them can be trusted. A snapshot appears whole, by
rename; one without its footer is not a snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from penstock.metadata.record import MetadataRecord
from penstock.model.error import StorageError
from penstock.records.control import SNAPSHOT_FOOTER
from penstock.records.header import BatchHeader, Buffer, check_batch
from penstock.runtime.metadata_batch import (
    Control,
    encode_values,
    pack_batches,
    pack_controls,
    read_controls,
    read_values,
    snapshot_footer,
    snapshot_header,
)
from penstock.storage.disk import Disk, read_whole, replace_file
from penstock.storage.failure import failure_of
from penstock.storage.trash import remove_file

BOOTSTRAP_FILE = "bootstrap.checkpoint"
_SUFFIX = ".checkpoint"
_BYTES_MAX = 1 << 32
_NAME = re.compile(r"^(\d{20})-(\d{10})\.checkpoint$")


class SnapshotId(NamedTuple):
    """`offset` is the first one the snapshot does not cover, `epoch` that of the last it does."""

    offset: int
    epoch: int

    @property
    def file_name(self) -> str:
        return f"{self.offset:020d}-{self.epoch:010d}{_SUFFIX}"


class Snapshot(NamedTuple):
    records: list[MetadataRecord]
    controls: list[Control]
    """Control records such as the voters, without header and footer."""


class SnapshotDirectory:
    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._directory = directory

    def list(self) -> list[SnapshotId]:
        """Oldest first."""
        if not self._disk.exists(self._directory):
            return []
        found = (_NAME.match(name) for name in self._disk.listdir(self._directory))
        return sorted(SnapshotId(int(one[1]), int(one[2])) for one in found if one is not None)

    def read(self, snapshot_id: SnapshotId) -> Snapshot:
        return read_snapshot(self._disk, self._path(snapshot_id))

    def write(
        self,
        snapshot_id: SnapshotId,
        records: Sequence[MetadataRecord],
        controls: Sequence[Control],
        timestamp_ms: int,
        level: int,
    ) -> int:
        """The size of the file. Safe to run in a thread: it touches only what it is given.

        A full disk, or no file descriptor, is an ApiError: nothing is lost by it, the log has
        everything.
        """
        data = encode_snapshot(records, controls, snapshot_id.epoch, timestamp_ms, level)
        path = self._path(snapshot_id)
        try:
            replace_file(self._disk, path, data)
        except OSError as error:
            raise failure_of(error, "write", path) from error
        return len(data)

    def remove_before(self, snapshot_id: SnapshotId) -> None:
        for older in self.list():
            if older < snapshot_id:
                remove_file(self._disk, self._path(older))

    def _path(self, snapshot_id: SnapshotId) -> str:
        return f"{self._directory}/{snapshot_id.file_name}"


def read_snapshot(disk: Disk, path: str) -> Snapshot:
    records: list[MetadataRecord] = []
    controls: list[Control] = []
    try:
        data = read_whole(disk, path, _BYTES_MAX)
        for header, batch in _batches(data):
            controls += read_controls(header, batch)
            records += (record for _, record in read_values(header, batch))
    except Exception as error:
        # Of any kind: it may hold what no decoder has been told about.
        raise StorageError(f"cannot read snapshot {path}: {error}") from error
    if not controls or controls[-1][0] != SNAPSHOT_FOOTER:
        raise StorageError(f"snapshot {path} is cut off")
    return Snapshot(records, controls[1:-1])


def read_bootstrap(disk: Disk, log_directory: str) -> list[MetadataRecord] | None:
    """What a formatted directory wants its cluster to begin with; None if it does not say."""
    path = f"{log_directory}/{BOOTSTRAP_FILE}"
    return read_snapshot(disk, path).records if disk.exists(path) else None


def _batches(data: bytes) -> Iterator[tuple[BatchHeader, Buffer]]:
    position = 0
    while position < len(data):
        header = check_batch(data, position, len(data))
        yield header, memoryview(data)[position : position + header.size]
        position += header.size


def encode_snapshot(
    records: Sequence[MetadataRecord],
    controls: Sequence[Control],
    epoch: int,
    timestamp_ms: int,
    level: int,
    *,
    last_timestamp_ms: int | None = None,
) -> bytes:
    """Offsets count from zero inside a snapshot: they say nothing about the log's. The last record
    that it covers is taken to be as old as the snapshot where nothing else is said."""
    last_ms = timestamp_ms if last_timestamp_ms is None else last_timestamp_ms
    first = [snapshot_header(last_ms), *controls]
    parts = [pack_controls(first, 0, epoch, timestamp_ms)]
    values = encode_values(records, level)
    parts += pack_batches(values, len(first), epoch, timestamp_ms)
    end = len(first) + len(values)
    parts.append(pack_controls([snapshot_footer()], end, epoch, timestamp_ms))
    return b"".join(parts)
