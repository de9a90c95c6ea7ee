"""File and directory names of a log, as Apache Kafka spells them. Touches no disk."""

from __future__ import annotations

import re

from penstock.model.id import TopicPartition

LOG = ".log"
INDEX = ".index"
TIME_INDEX = ".timeindex"
TXN_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"

LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
META_PROPERTIES = "meta.properties"
LOCK = ".lock"

DELETE_DIR = "-delete"
FUTURE_DIR = "-future"
STRAY_DIR = "-stray"

COPY_COMPLETE = "copy-complete"
"""In the directory of a future log: it has all of the log that it is to replace."""
NAME_LENGTH_MAX = 255

_OFFSET_NAME = re.compile(r"([0-9]{20})(\.[a-z]+)(\.[a-z]+)?")
_OFFSET_MAX = (1 << 63) - 1
_PARTITION_DIR = re.compile(r"([a-zA-Z0-9._-]{1,249})-(0|[1-9][0-9]{0,9})")
_PARTITION_MAX = (1 << 31) - 1
_UNIQUE = re.compile(r"[0-9a-f]{32}")


def segment_path(directory: str, base_offset: int, kind: str, suffix: str = "") -> str:
    return f"{directory}/{base_offset:020d}{kind}{suffix}"


def parse_segment_name(name: str) -> tuple[int, str, str] | None:
    """(base offset, kind, suffix) of `00000000000000000042.log.swap`; None for other files."""
    match = _OFFSET_NAME.fullmatch(name)
    if match is None or int(match[1]) > _OFFSET_MAX:
        return None
    return int(match[1]), match[2], match[3] or ""


def parse_partition_dir(name: str) -> TopicPartition | None:
    """Topic names may hold dashes, so the last one splits; None for what is no partition."""
    match = _PARTITION_DIR.fullmatch(name)
    if match is None or int(match[2]) > _PARTITION_MAX:
        return None
    return TopicPartition(match[1], int(match[2]))


def deleted_dir_name(partition: TopicPartition, unique: bytes) -> str:
    return _departed(partition, unique, DELETE_DIR)


def stray_dir_name(partition: TopicPartition, unique: bytes) -> str:
    return _departed(partition, unique, STRAY_DIR)


def future_dir_name(partition: TopicPartition, unique: bytes) -> str:
    """Of a copy on its way into another directory. As long as it comes: see `may_be_moved`."""
    return f"{partition.topic}-{partition.partition}.{unique.hex()}{FUTURE_DIR}"


def may_be_moved(partition: TopicPartition) -> bool:
    """A topic's name can be too long for the name of its copy."""
    return len(future_dir_name(partition, bytes(16))) <= NAME_LENGTH_MAX


def parse_future_dir(name: str) -> TopicPartition | None:
    """Whose copy it is; None for what is no copy."""
    kept, _, unique = name.removesuffix(FUTURE_DIR).rpartition(".")
    if not name.endswith(FUTURE_DIR) or _UNIQUE.fullmatch(unique) is None:
        return None
    return parse_partition_dir(kept)


def _departed(partition: TopicPartition, unique: bytes, kind: str) -> str:
    """Not longer than the file system allows: a long topic name loses its end."""
    suffix = f"-{partition.partition}.{unique.hex()}{kind}"
    return partition.topic[: NAME_LENGTH_MAX - len(suffix)] + suffix
