"""The small text files in which Kafka remembers offsets between two starts.

All share one shape: a version line, a count line, one line per entry. They are replaced whole
and atomically; a damaged one is an error to the reader, who decides what can do without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.model.error import StorageError
from penstock.model.id import TopicId, TopicPartition, id_from_str, id_to_str
from penstock.storage.disk import Disk, read_whole, replace_file

_VERSION = "0"


def write_lines(disk: Disk, path: str, lines: Iterable[str], *, sync_name: bool = True) -> None:
    entries = list(lines)
    text = "\n".join([_VERSION, str(len(entries)), *entries]) + "\n"
    replace_file(disk, path, text.encode(), sync_name=sync_name)


def read_lines(disk: Disk, path: str) -> list[str]:
    """No file: nothing was remembered."""
    if not disk.exists(path):
        return []
    try:
        version, count, *entries = read_whole(disk, path).decode().splitlines()
        if version.strip() != _VERSION or int(count) != len(entries):
            raise ValueError(f"version {version}, {count} entries announced, {len(entries)} found")
    except ValueError as error:
        raise StorageError(f"malformed checkpoint {path}: {error}") from error
    return entries


def write_offsets(disk: Disk, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    """`topic partition offset`, as in recovery-point-offset-checkpoint and its sisters."""
    write_lines(disk, path, (f"{tp.topic} {tp.partition} {at}" for tp, at in offsets.items()))


def read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    offsets: dict[TopicPartition, int] = {}
    for line in read_lines(disk, path):
        try:
            topic, partition, offset = line.split()
            offsets[TopicPartition(topic, int(partition))] = int(offset)
        except ValueError as error:
            raise StorageError(f"malformed line in checkpoint {path}: {line!r}") from error
    return offsets


def write_topic_id(disk: Disk, path: str, topic_id: TopicId) -> None:
    text = f"version: 0\ntopic_id: {id_to_str(topic_id)}"
    replace_file(disk, path, text.encode(), sync=False)


def read_topic_id(disk: Disk, path: str) -> TopicId | None:
    text = read_whole(disk, path).decode() if disk.exists(path) else ""
    if not text:
        # Missing, or created just before a crash: then nothing was ever synced beside it.
        return None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "topic_id":
            try:
                return id_from_str(value.strip())
            except ValueError as error:
                raise StorageError(f"malformed {path}: {error}") from error
    raise StorageError(f"malformed {path}: no topic_id")
