"""A log that was copied into another directory takes the place of the one it was copied from.

The copy lies in `<target>/<topic>-<partition>.<uuid>-future` until then, as Apache Kafka names it.
Whatever happens in between, a start finds one log of the partition, with every record in it:

| step, each synced | what a start finds |
| --- | --- |
| the copy is closed | the log where it was; the copy is dropped, and begun anew |
| `copy-complete` is written into it | the same: as long as it is there, the log may have gone on |
| the log leaves its directory (`-delete`) | no log, and a complete copy: it is put in place |
| the copy is put in its place | the log in its new directory |

Nothing is written to either between the first step and the last. The third one decides, and it is
the disk of the log itself that keeps it: a target that fails before it has no say, one that fails
behind it holds the only log. A source that fails with it holds a log or none; while its directory
is away, neither is used. There is no step at which both are in place.

Without the mark, a half copy could pass for the log of a disk that was replaced.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.model.error import StorageError
from penstock.model.id import TopicPartition
from penstock.storage import names
from penstock.storage.checkpoint.file import read_topic_id
from penstock.storage.damage import DamagedFile
from penstock.storage.disk import Disk
from penstock.storage.epoch_cache import EpochCache
from penstock.storage.failure import failure_of
from penstock.storage.log import Log
from penstock.storage.trash import remove_file

if TYPE_CHECKING:
    from penstock.storage.log_dir import LogDir


def promote(source: LogDir, target: LogDir, current: Log, future: Log) -> Log:
    """The log as it goes on, in the other directory. `future` holds all that `current` does.

    StorageError or ApiError where that failed; a directory whose disk is at fault is offline then.
    The log is `current` as before if that is still open, else what the next start finds."""
    partition = current.partition
    complete(current, future)
    _on(target, lambda: mark(target.disk, future.directory))
    _leave(source, partition)
    target.admit(partition)
    place = f"{target.path}/{partition.topic}-{partition.partition}"
    with future.naming:
        future.removed = True
        _on(target, lambda: _put(target, future.directory, place))
    moved = target.open_moved(partition, future.end_offset)
    moved.take_producers(current.producers)
    moved.advance_high_watermark(current.high_watermark)
    return moved


def complete(current: Log, future: Log) -> None:
    """What is no record goes along too: epochs without any, and producers whose records are gone.
    Closed and synced afterwards."""
    future.epochs = EpochCache(current.epochs.entries())
    future.epochs.changed = True
    future.take_producers(current.producers)
    try:
        future.close()
    finally:
        current.take_producers(current.producers)


def mark(disk: Disk, directory: str) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    disk.close(disk.open(f"{directory}/{names.COPY_COMPLETE}", flags, 0o644))
    disk.fsync_dir(directory)


def is_complete(disk: Disk, directory: str) -> bool:
    return disk.exists(f"{directory}/{names.COPY_COMPLETE}")


def topic_id_of(disk: Disk, directory: str) -> bytes | None:
    """Of the topic that a copy was made for; None if it does not say."""
    try:
        return read_topic_id(disk, f"{directory}/{names.PARTITION_METADATA}")
    except (DamagedFile, OSError):
        return None


def put_in_place(target: LogDir, partition: TopicPartition, directory: str) -> None:
    """At a start: the log has left its directory, and this copy has all of it."""
    _put(target, directory, f"{target.path}/{partition.topic}-{partition.partition}")
    target.admit(partition)


def give_up(target: LogDir, directory: str) -> None:
    """At a start: the log is where it was. The mark goes first, for good: taking away the rest of
    the copy may be interrupted."""
    if is_complete(target.disk, directory):
        remove_file(target.disk, f"{directory}/{names.COPY_COMPLETE}")
        target.disk.fsync_dir(directory)
    target.trash.add_directory(directory, target.clock.now_ms())


def _put(target: LogDir, directory: str, place: str) -> None:
    target.disk.rename(directory, place)
    # Before the mark goes: with the old name back it would be missed.
    target.disk.fsync_dir(target.path)
    remove_file(target.disk, f"{place}/{names.COPY_COMPLETE}")


def _leave(source: LogDir, partition: TopicPartition) -> None:
    left = source.logs.get(partition)
    if left is not None:
        # Whoever still reads it finds its files gone, which says nothing of the partition.
        left.on_damage = left.on_corrupt = left.on_failure = None
    try:
        source.delete_log(partition)
    except StorageError as error:
        source.fail(error)
        raise
    _on(source, lambda: source.disk.fsync_dir(source.path))


def _on(directory: LogDir, step: Callable[[], object]) -> None:
    try:
        step()
    except OSError as error:
        failure = failure_of(error, "move a log in", directory.path)
        if isinstance(failure, StorageError):
            directory.fail(failure)
        raise failure from error
