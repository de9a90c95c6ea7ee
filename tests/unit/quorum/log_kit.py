"""A metadata log over a real directory or a simulated disk, and batches to put into it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.metadata import MetadataRecord
from penstock.metadata.version import METADATA_LEVEL
from penstock.model.id import TopicPartition
from penstock.protocol.messages.records.no_op_record import NoOpRecord
from penstock.quorum.log_config import MetadataLogConfig
from penstock.quorum.metadata_batch import encode_values, pack_batches
from penstock.quorum.metadata_log import MetadataLog
from penstock.quorum.metadata_snapshot import encode_snapshot
from penstock.storage.disk import Disk, RealDisk
from penstock.storage.file_cache import FileCache
from penstock.storage.recovery.loader import open_log
from penstock.storage.trash import Trash
from penstock.testing.clock import SimulatedClock

PARTITION = TopicPartition("__cluster_metadata", 0)
NOW_MS = 1_700_000_000_000


def open_metadata_log(
    directory: Path, disk: Disk | None = None, *, clean: bool = False, synced: bool = True
) -> MetadataLog:
    disk = RealDisk() if disk is None else disk
    path = str(directory / "__cluster_metadata-0")
    log = open_log(
        path,
        PARTITION,
        MetadataLogConfig(),
        FileCache(disk, 16),
        SimulatedClock(),
        Trash(disk),
        clean=clean,
    )
    return MetadataLog(log, synced=synced)


def batch(base_offset: int, epoch: int, count: int = 1) -> bytes:
    values = encode_values([NoOpRecord()] * count, METADATA_LEVEL)
    return b"".join(pack_batches(values, base_offset, epoch, NOW_MS))


def fill(log: MetadataLog, *epochs_and_counts: tuple[int, int]) -> None:
    """A batch of so many records for each."""
    for epoch, count in epochs_and_counts:
        log.append(batch(log.end_offset, epoch, count), NOW_MS)


def snapshot_bytes(records: Sequence[MetadataRecord] = (), epoch: int = 1) -> bytes:
    return encode_snapshot(records, [], epoch, NOW_MS, METADATA_LEVEL)
