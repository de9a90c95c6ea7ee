"""One log on its way through compaction: the work as described, and whether it still applies."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.storage.compaction.config import CleanerSettings, compaction_config
from penstock.storage.compaction.job import CleanedGroup, CompactionJob, SourceSegment
from penstock.storage.compaction.pick import Candidate
from penstock.storage.log import Log
from penstock.storage.lookup import aborted_txns
from penstock.storage.segment import Segment

Source = tuple[Segment, int]
"""A segment, and its size when the work was described."""


@dataclass
class Round:
    log: Log
    job: CompactionJob
    generation: int
    started: float
    sources: dict[int, Source]
    """By base offset, without those that this round has replaced already."""
    swapped: int = 0

    def find(self, bases: list[int]) -> list[Segment] | None:
        """The segments that begin there, if they still are what they were."""
        log = self.log
        old = [self.sources[base][0] for base in bases]
        if log.closed or log.generation != self.generation or old[0] not in log.segments:
            return None
        slot = log.segments.index(old[0])
        if log.segments[slot : slot + len(old)] != old or log.active in old:
            return None
        return old if all(s.size == self.sources[s.base_offset][1] for s in old) else None

    def is_stale(self) -> bool:
        """The log was cut, trimmed or deleted since."""
        return any(self.find([base]) is None for base in self.sources)

    def replaced(self, group: CleanedGroup) -> None:
        self.swapped += 1
        for base in group.bases:
            del self.sources[base]


def describe(chosen: Candidate, settings: CleanerSettings, now_ms: int, monotonic: float) -> Round:
    log, config = chosen.log, compaction_config(chosen.log)
    sources = [s for s in log.segments[:-1] if s.base_offset < chosen.bound]
    # The worker reads from here on: the index that leads it there is looked at, and mended, first.
    log.segment_at(chosen.first_dirty).find(chosen.first_dirty)
    for segment in sources:
        segment.seal()  # whoever does the work sees only what is in the files
    job = CompactionJob(
        directory=log.directory,
        segments=[SourceSegment(s.base_offset, s.size) for s in sources],
        first_dirty=chosen.first_dirty,
        bound=chosen.bound,
        now_ms=now_ms,
        delete_retention_ms=config.delete_retention_ms,
        segment_bytes=config.segment_bytes,
        segment_index_bytes=config.segment_index_bytes,
        index_interval_bytes=config.index_interval_bytes,
        key_map_bytes=settings.key_map_bytes,
        io_bytes_per_second=settings.io_bytes_per_second,
        producers={entry[0]: (entry[3], entry[1]) for entry in log.producers.freeze()},
        # One whose marker is not replicated yet begins behind the bound anyway.
        aborted=[
            (txn.producer_id, txn.first_offset, txn.last_offset, txn.last_stable_offset)
            for txn in aborted_txns(log, log.bases[0], chosen.bound)
            if txn.last_offset < log.high_watermark
        ],
    )
    by_base = {segment.base_offset: (segment, segment.size) for segment in sources}
    return Round(log, job, log.generation, monotonic, by_base)
