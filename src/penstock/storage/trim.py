"""Making a log shorter, at either end.

Whole segments leave through the trash; the list of segments never becomes empty. Decides
nothing: retention, DeleteRecords and replication say where to cut.
"""

from __future__ import annotations

from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.storage import names
from penstock.storage.log import Log
from penstock.storage.recovery.replay import rebuild_producers
from penstock.storage.segment import Segment


def delete_records_before(log: Log, offset: int) -> int:
    """Records before the offset are gone for readers; -1 means all that are replicated. Returns the
    offset that was meant."""
    target = log.high_watermark if offset == -1 else offset
    if target < 0 or target > log.high_watermark:
        raise ApiError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"cannot delete up to {offset}: {log.partition} has {log.high_watermark}",
        )
    advance_log_start(log, target)
    return target


def advance_log_start(log: Log, offset: int) -> None:
    if offset > log.log_start_offset:
        log.log_start_offset = offset
        log.epochs.truncate_before(offset)
        if log.on_start_moved is not None:
            log.on_start_moved(log)


def delete_first_segments(log: Log, count: int) -> list[Segment]:
    """Drop the oldest segments; a new active one comes first if none would be left."""
    if count >= len(log.segments):
        log.roll()
        count = min(count, len(log.segments) - 1)
    gone = log.segments[:count]
    if gone:
        advance_log_start(log, log.segments[count].base_offset)
        del log.segments[:count], log.bases[:count]
        discard_segments(log, gone)
    return gone


def discard_segments(log: Log, segments: list[Segment]) -> None:
    """Rename now, unlink when file.delete.delay.ms has passed."""
    due_ms = log.clock.now_ms() + log.config.file_delete_delay_ms
    log.drop_unsynced(segments)
    for segment in segments:
        log.size_bytes -= segment.size
        segment.rename_suffix("", names.DELETED)
        for path in segment.file_paths():
            log.trash.add_file(path, due_ms)
        if segment.base_offset in log.snapshots.offsets:
            log.snapshots.remove(segment.base_offset)


def truncate_to(log: Log, offset: int) -> bool:
    """Drop everything at and behind the offset, with the whole batch that it lies in; False if
    nothing stood there. An epoch without a record goes in any case: another leader may have begun
    a later one at the same offset."""
    if offset >= log.end_offset:
        log.epochs.truncate_from(log.end_offset)
        return False
    offset = batch_start(log, offset)
    if offset < log.bases[0]:
        truncate_fully(log, offset)
        return True
    segment = log.segments[sum(base <= offset for base in log.bases) - 1]
    found = segment.find(offset)
    cut_at(log, segment, segment.size if found is None else found.position, offset)
    return True


def cut_at(log: Log, segment: Segment, position: int, offset: int) -> None:
    """Drop everything behind a position, where the batch of the offset begins or would begin."""
    kept = log.segments.index(segment) + 1
    gone = log.segments[kept:]
    del log.segments[kept:], log.bases[kept:]
    discard_segments(log, gone)
    log.active = segment
    log.size_bytes -= segment.truncate(position, offset, log.clock.now_ms())
    log.forget_after(offset)
    log.epochs.truncate_from(offset)
    log.log_start_offset = min(log.log_start_offset, offset)
    rebuild_producers(log.producers, log.snapshots, log.segments, log.log_start_offset, offset)
    # Replaying knows of no watermark: transactions that ended below it are as complete as before.
    log.producers.advance_high_watermark(log.high_watermark)


def batch_start(log: Log, offset: int) -> int:
    """Of the batch the offset lies within: a log ends where a batch ends."""
    found = log.segment_at(offset).find(offset)
    if found is not None and found.base_offset < offset:
        return found.base_offset
    return offset


def truncate_fully(log: Log, offset: int, log_start_offset: int | None = None) -> None:
    """Drop everything, and go on at the offset."""
    gone = log.segments[:]
    log.segments.clear()
    log.bases.clear()
    discard_segments(log, gone)
    segment = log.new_segment(offset, log.clock.now_ms())
    segment.create_files()
    log.segments.append(segment)
    log.bases.append(offset)
    log.active = segment
    log.forget_after(offset)
    log.recovery_point = offset
    log.log_start_offset = offset if log_start_offset is None else log_start_offset
    log.high_watermark = max(log.high_watermark, log.log_start_offset)
    log.epochs.clear()
    log.producers.clear(offset)
    log.snapshots.keep_between(offset, -1)


def delete_log(log: Log, unique: bytes) -> str:
    """Take the log out of the way at once; its directory goes when the delay has passed."""
    log.release_files()
    parent = log.directory.rpartition("/")[0]
    target = f"{parent}/{names.deleted_dir_name(log.partition, unique)}"
    with log.naming:
        log.removed = True
        try:
            log.disk.rename(log.directory, target)
        except OSError as error:
            raise StorageError(f"cannot rename {log.directory}: {error}") from error
    log.trash.add_directory(target, log.clock.now_ms() + log.config.file_delete_delay_ms)
    return target
