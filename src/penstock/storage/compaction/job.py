"""What is to be compacted, and what came of it: plain values that travel between processes.

A job names files and bounds as they were when it was made. It never refers to a live log.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple


class SourceSegment(NamedTuple):
    base_offset: int
    size: int


@dataclass(frozen=True)
class CompactionJob:
    directory: str
    segments: list[SourceSegment]
    """All from the start of the log to `bound`, of which the ones before `first_dirty` were
    compacted before."""
    first_dirty: int
    bound: int
    """Base offset of the first segment that may not be touched."""
    now_ms: int
    delete_retention_ms: int
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    key_map_bytes: int
    io_bytes_per_second: float
    producers: dict[int, tuple[int, int]]
    """Producer -> (offset of its last record or -1, epoch)."""
    aborted: list[tuple[int, int, int, int]]
    """Fields of the AbortedTxns that overlap the segments."""

    def encode(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> CompactionJob:
        fields: dict[str, Any] = json.loads(text)
        fields["segments"] = [SourceSegment(*segment) for segment in fields["segments"]]
        producers = fields["producers"].items()
        fields["producers"] = {int(key): (offset, epoch) for key, (offset, epoch) in producers}
        fields["aborted"] = [tuple(txn) for txn in fields["aborted"]]
        return cls(**fields)


@dataclass(frozen=True)
class CleanedGroup:
    """One new segment, complete and synced under its `.cleaned` name, for several old ones."""

    bases: list[int]
    size: int


@dataclass
class CompactionStats:
    bytes_read: int = 0
    bytes_written: int = 0
    records_read: int = 0
    records_kept: int = 0
    keys: int = 0
    key_map_bytes: int = 0
    is_map_full: bool = False
    malformed_batches: int = 0
    malformed_offset: int = -1
    """Of the first batch that could not be read inside and was kept as it is."""
    malformed_reason: str = ""


@dataclass(frozen=True)
class CompactionDone:
    end_offset: int
    """Where the next round begins: everything before is compacted."""
    stats: CompactionStats = field(default_factory=CompactionStats)


@dataclass(frozen=True)
class CompactionFailed:
    message: str
    errno: int


Progress = CleanedGroup | CompactionDone | CompactionFailed


def encode_progress(progress: Progress) -> str:
    return json.dumps({type(progress).__name__: asdict(progress)})


def decode_progress(text: str) -> Progress:
    ((name, fields),) = json.loads(text).items()
    if name == CompactionDone.__name__:
        return CompactionDone(fields["end_offset"], CompactionStats(**fields["stats"]))
    if name == CleanedGroup.__name__:
        return CleanedGroup(**fields)
    return CompactionFailed(**fields)
