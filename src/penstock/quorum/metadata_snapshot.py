"""What a snapshot of the metadata log holds: everything up to an offset.

Owns the name and the format. One without its footer is not a snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from penstock.metadata.record import MetadataRecord
from penstock.model.error import StorageError
from penstock.quorum.metadata_batch import (
    Control,
    encode_values,
    pack_batches,
    pack_controls,
    read_controls,
    read_values,
    snapshot_footer,
    snapshot_header,
)
from penstock.raft import SnapshotId
from penstock.records.control import SNAPSHOT_FOOTER, SNAPSHOT_HEADER
from penstock.records.header import BatchHeader, Buffer, check_batch, parse_header
from penstock.storage.disk import Disk, read_whole

BOOTSTRAP_FILE = "bootstrap.checkpoint"
SUFFIX = ".checkpoint"
_BYTES_MAX = 1 << 32


BOOTSTRAP_ID = SnapshotId(0, 0)
"""What a directory is formatted with: who the voters are, before there is any log."""


def file_name(snapshot_id: SnapshotId) -> str:
    return f"{snapshot_id.end_offset:020d}-{snapshot_id.epoch:010d}{SUFFIX}"


class Snapshot(NamedTuple):
    records: list[MetadataRecord]
    controls: list[Control]
    """Control records such as the voters, without header and footer."""


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
    if not controls or controls[0][0] != SNAPSHOT_HEADER:
        raise StorageError(f"snapshot {path} does not begin like one")
    if controls[-1][0] != SNAPSHOT_FOOTER:
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
    records: Iterable[MetadataRecord],
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
    parts += pack_batches(encode_values(records, level), len(first), epoch, timestamp_ms)
    end = parse_header(parts[-1]).next_offset
    parts.append(pack_controls([snapshot_footer()], end, epoch, timestamp_ms))
    return b"".join(parts)
