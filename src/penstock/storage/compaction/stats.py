"""What compaction did: once, and since the start."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.id import TopicPartition
from penstock.storage.compaction.job import CompactionStats


@dataclass(frozen=True)
class CleaningReport:
    partition: TopicPartition
    first_dirty: int
    end_offset: int
    segments_written: int
    seconds: float
    stats: CompactionStats

    def describe(self) -> str:
        stats = self.stats
        return (
            f"{self.partition} from {self.first_dirty} to {self.end_offset}: "
            f"{stats.records_kept} of {stats.records_read} records kept, {stats.keys} keys, "
            f"{stats.bytes_read} bytes read, {stats.bytes_written} written "
            f"in {self.seconds:.1f} s"
        )


@dataclass
class CleanerStats:
    """Totals since the start, for metrics."""

    rounds: int = 0
    seconds: float = 0.0
    bytes_read: int = 0
    bytes_written: int = 0
    records_removed: int = 0
    malformed_batches: int = 0
    uncleanable_count: int = 0
    dirty_ratio_max: float = 0.0
    """Of the dirtiest log when the cleaner last looked."""
    last_run_ms: int = 0

    def add(self, report: CleaningReport) -> None:
        stats = report.stats
        self.rounds += 1
        self.seconds += report.seconds
        self.bytes_read += stats.bytes_read
        self.bytes_written += stats.bytes_written
        self.records_removed += stats.records_read - stats.records_kept
        self.malformed_batches += stats.malformed_batches
