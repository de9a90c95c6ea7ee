"""Putting a compacted segment in the place of the ones it was made of.

One step for the event loop, without a sync in it: a handful of renames whose every prefix a
later opening completes or undoes (see `swap`). The new files were synced before. Old ones leave
through the trash, and readers that hold them go on reading.
"""

from __future__ import annotations

from penstock.model.error import StorageError
from penstock.storage import names
from penstock.storage.compaction.job import CleanedGroup
from penstock.storage.disk import Disk
from penstock.storage.log import Log
from penstock.storage.segment import Segment
from penstock.storage.trash import remove_file

_KINDS = (names.LOG, names.INDEX, names.TIME_INDEX, names.TXN_INDEX)
"""The batches first. From the moment they have their final name the old segments are gone, and
what still waits as `.swap` is the rest of the new one; the other way round, opening would take a
new index for an old one."""


def swap_in(log: Log, old: list[Segment], group: CleanedGroup) -> Segment:
    """`old` are segments of the log, side by side, of which none is the active one."""
    base = group.bases[0]
    slot = log.segments.index(old[0])
    try:
        _rename(log.disk, log.directory, base, names.CLEANED, names.SWAP)
        _discard(log, old)
        _rename(log.disk, log.directory, base, names.SWAP, "")
    except OSError as error:
        raise StorageError(f"cannot replace segments in {log.directory}: {error}") from error
    new = Segment(
        log.cache,
        log.directory,
        base,
        size=group.size,
        created_ms=log.clock.now_ms(),
        index_interval_bytes=log.config.index_interval_bytes,
    )
    new.txn_index.checked = True
    log.segments[slot : slot + len(old)] = [new]
    log.bases[slot : slot + len(old)] = [base]
    log.size_bytes += new.size
    return new


def discard_cleaned(log: Log) -> None:
    """Remove what an abandoned compaction has left behind."""
    if not log.disk.exists(log.directory):
        return
    for name in list(log.disk.listdir(log.directory)):
        if name.endswith(names.CLEANED):
            remove_file(log.disk, f"{log.directory}/{name}")


def _rename(disk: Disk, directory: str, base: int, old: str, new: str) -> None:
    for kind in _KINDS:
        source = names.segment_path(directory, base, kind, old)
        if disk.exists(source):
            disk.rename(source, names.segment_path(directory, base, kind, new))


def _discard(log: Log, old: list[Segment]) -> None:
    """From the first on: what a crash leaves is the end of the old segments, never a middle."""
    due_ms = log.clock.now_ms() + log.config.file_delete_delay_ms
    log.drop_unsynced(old)
    for segment in old:
        log.size_bytes -= segment.size
        segment.rename_suffix("", names.DELETED)
        for path in segment.file_paths():
            log.trash.add_file(path, due_ms)
        # The snapshot at the start of the first one still is where a segment starts.
        if segment is not old[0] and segment.base_offset in log.snapshots.offsets:
            log.snapshots.remove(segment.base_offset)
