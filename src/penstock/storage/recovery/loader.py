"""Opening a log: finish what a crash interrupted, find the segments, bring the state back.

After a clean stop this reads a directory listing, the newest snapshot and the end of the last
segment. After a crash the segments from the recovery point on are recovered first.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from penstock.model.clock import Clock
from penstock.model.id import TopicPartition
from penstock.records.header import CorruptBatch
from penstock.storage import names
from penstock.storage.checkpoint.file import read_lines
from penstock.storage.compaction.unfinished import finish_swaps
from penstock.storage.config import LogConfig
from penstock.storage.damage import DamagedFile, DamagedLog, is_of_one_file, put_aside
from penstock.storage.disk import Disk
from penstock.storage.epoch_cache import EpochCache
from penstock.storage.failure import failure_of
from penstock.storage.file_cache import FileCache
from penstock.storage.index.rebuild import rebuild_indexes
from penstock.storage.log import Log
from penstock.storage.producer.snapshot import SnapshotFiles
from penstock.storage.producer.state import ProducerState
from penstock.storage.recovery.epoch import rebuild_epochs
from penstock.storage.recovery.loss import Losses, Lost, lost_behind
from penstock.storage.recovery.replay import rebuild_producers
from penstock.storage.recovery.segment import Cut, recover_segment
from penstock.storage.segment import Segment
from penstock.storage.trash import Trash, remove_file

_logger = logging.getLogger(__name__)


def open_log(
    directory: str,
    partition: TopicPartition,
    config: LogConfig,
    cache: FileCache,
    clock: Clock,
    trash: Trash,
    *,
    clean: bool = True,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    losses: Losses | None = None,
    keep_whole: bool = False,
) -> Log:
    """Open or create. `clean`: the last stop was orderly, so that nothing has to be checked.

    What can be made anew from the batches is; DamagedLog means that the log cannot be used as it
    is, and StorageError that the disk cannot. `keep_whole`: see `recover_segment`."""
    loader = LogLoader(
        directory,
        partition,
        config,
        cache,
        clock,
        trash,
        clean=clean,
        recovery_point=recovery_point,
        log_start_offset=log_start_offset,
        losses=losses or Losses(),
        keep_whole=keep_whole,
    )
    return loader.load()


class _Loaded(NamedTuple):
    segments: list[Segment]
    end_offset: int
    created: bool


class LogLoader:
    def __init__(
        self,
        directory: str,
        partition: TopicPartition,
        config: LogConfig,
        cache: FileCache,
        clock: Clock,
        trash: Trash,
        *,
        clean: bool,
        recovery_point: int,
        log_start_offset: int,
        losses: Losses,
        keep_whole: bool,
    ) -> None:
        self.directory = directory
        self.partition = partition
        self.config = config
        self.cache = cache
        self.disk: Disk = cache.disk
        self.clock = clock
        self.trash = trash
        self.clean = clean
        self.recovery_point = recovery_point
        self.log_start_offset = log_start_offset
        self.losses = losses
        self.keep_whole = keep_whole
        self.producers = ProducerState()
        self.files: set[tuple[int, str]] = set()
        """Base offset and kind of each."""

    def load(self) -> Log:
        try:
            return self._load()
        except OSError as error:
            if is_of_one_file(error):
                raise DamagedLog(f"cannot open {self.directory}: {error}") from error
            raise failure_of(error, "open", self.directory) from error
        except CorruptBatch as error:
            raise DamagedLog(f"{self.directory}: {error}") from error

    def _load(self) -> Log:
        self.files = files = self._tidy()
        self.snapshots = SnapshotFiles(
            self.disk, self.directory, (base for base, kind in files if kind == names.SNAPSHOT)
        )
        segments = self._open_segments(files)
        self.epochs = self._read_epochs(segments)
        if not self.clean:
            self._recover(segments)
        loaded = self._complete(segments)
        self._check_last_epoch(loaded.segments)
        start = max(self.log_start_offset, loaded.segments[0].base_offset)
        self.epochs.truncate_from(loaded.end_offset)
        self.epochs.truncate_before(start)
        self._load_producers(loaded, start)
        return self._build(loaded, start)

    def _tidy(self) -> set[tuple[int, str]]:
        try:
            return finish_swaps(self.disk, self.directory)
        except FileNotFoundError:
            self.disk.mkdir(self.directory)
            return finish_swaps(self.disk, self.directory)

    def _open_segments(self, files: set[tuple[int, str]]) -> list[Segment]:
        bases = sorted(base for base, kind in files if kind == names.LOG)
        for base, kind in files:
            if kind in (names.INDEX, names.TIME_INDEX, names.TXN_INDEX) and base not in bases:
                remove_file(self.disk, names.segment_path(self.directory, base, kind))
        segments = [self._open_segment(base) for base in bases]
        for segment in segments:
            missing = (segment.base_offset, names.INDEX) not in files
            missing |= (segment.base_offset, names.TIME_INDEX) not in files
            if missing and segment.size and (self.clean or segment is not segments[-1]):
                _logger.warning("rebuilding the missing index of %s", segment.path)
                rebuild_indexes(segment)
        return segments

    def _read_epochs(self, segments: list[Segment]) -> EpochCache:
        path = f"{self.directory}/{names.LEADER_EPOCHS}"
        try:
            return EpochCache.decode(read_lines(self.disk, path))
        except DamagedFile as damage:
            if not any(segment.size for segment in segments):
                # Apache Kafka makes the file before it has anything to write into it.
                return EpochCache()
            _logger.warning("%s is damaged and made anew from the batches: %s", path, damage)
            put_aside(self.disk, path)
        return rebuild_epochs(segments)

    def _check_last_epoch(self, segments: list[Segment]) -> None:
        """A file that can be read may still be wrong; the last batch is known by now."""
        last = segments[-1].last_header()
        if last is None or last.partition_leader_epoch < 0:
            return
        if self.epochs.epoch_at(last.base_offset) != last.partition_leader_epoch:
            path = f"{self.directory}/{names.LEADER_EPOCHS}"
            _logger.warning("%s does not fit the batches and is made anew from them", path)
            self.epochs = rebuild_epochs(segments)

    def _open_segment(self, base_offset: int, *, create: bool = False) -> Segment:
        path = names.segment_path(self.directory, base_offset, names.LOG)
        return Segment(
            self.cache,
            self.directory,
            base_offset,
            size=0 if create else self.disk.stat(path).st_size,
            created_ms=self.clock.now_ms(),
            index_interval_bytes=self.config.index_interval_bytes,
            create=create,
        )

    def _recover(self, segments: list[Segment]) -> None:
        """Check the segments that may hold unsynced batches; behind a cut nothing is kept."""
        # The segment before the recovery point, too: it may have been completed, and its index
        # written, just after the last sync.
        first = max(sum(s.base_offset < self.recovery_point for s in segments) - 1, 0)
        if first < len(segments):
            start = segments[first].base_offset
            rebuild_producers(
                self.producers, self.snapshots, segments[:first], self.log_start_offset, start
            )
            self.epochs.truncate_from(start)
        for slot in range(first, len(segments)):
            segment = segments[slot]
            if slot > first:
                self.snapshots.write(segment.base_offset, self.producers.freeze())
            cut = None if self._is_blank(segment) else self._recover_segment(segment)
            if cut is not None or self._is_gap(segments, slot):
                self._give_up(cut, segment, segments[slot + 1 :])
                self._drop(segments[slot + 1 :])
                del segments[slot + 1 :]
                return

    def _is_blank(self, segment: Segment) -> bool:
        """Nothing was ever written: most partitions of a large cluster are idle."""
        if segment.size:
            return False
        base = segment.base_offset
        return not any(
            self.disk.stat(names.segment_path(self.directory, base, kind)).st_size
            for kind in (names.INDEX, names.TIME_INDEX, names.TXN_INDEX)
            if (base, kind) in self.files
        )

    def _recover_segment(self, segment: Segment) -> Cut | None:
        return recover_segment(
            segment,
            self.recovery_point,
            self.producers,
            self.epochs,
            keep_whole=self.keep_whole,
        )

    def _give_up(self, cut: Cut | None, segment: Segment, behind: list[Segment]) -> None:
        """Say what goes, before it does."""
        lost = cut.lost if cut is not None else Lost()
        for one in behind:
            lost = lost.plus(lost_behind(one, 0, one.size, one.base_offset))
        self.losses.add(lost)
        why = cut.damage if cut is not None else "the next segment does not follow"
        _logger.warning(
            "%s is cut at offset %d, position %d of %s: %s. %s%s",
            self.partition,
            segment.next_offset(),
            segment.size,
            segment.path,
            why,
            lost.describe(),
            f", {len(behind)} segments behind it among them" if behind else "",
        )

    def _is_gap(self, segments: list[Segment], slot: int) -> bool:
        """A file that came back empty has nothing to cut. Compaction leaves gaps of its own, and
        keeps them when the policy changes; what was synced in full cannot have lost anything."""
        if slot + 1 == len(segments) or "compact" in self.config.cleanup_policy:
            return False
        next_base = segments[slot + 1].base_offset
        return next_base > self.recovery_point and segments[slot].next_offset() < next_base

    def _drop(self, segments: list[Segment]) -> None:
        for segment in segments:
            segment.close()
            for path in segment.file_paths():
                self.disk.unlink(path)

    def _complete(self, segments: list[Segment]) -> _Loaded:
        """At least one segment, and an end that is not before the start."""
        end_offset = segments[-1].next_offset() if segments else self.log_start_offset
        if segments and end_offset < self.log_start_offset:
            self._begin_at_start(segments, end_offset)
            end_offset = self.log_start_offset if not segments else end_offset
        elif end_offset < self.recovery_point:
            self._note_lost_end(end_offset)
        elif segments:
            self._check_end(segments, end_offset)
        created = not segments
        if created:
            segments.append(self._open_segment(self.log_start_offset, create=True))
            segments[0].create_files()
        return _Loaded(segments, end_offset, created)

    def _note_lost_end(self, end_offset: int) -> None:
        """Whole batches, up to an offset before the one that was on disk already."""
        what = f"{self.directory} ends at offset {end_offset} and was on disk up to "
        what += f"{self.recovery_point}"
        if self.keep_whole:
            raise CorruptBatch(
                f"{what}. To go on with what is left, take its line out of {names.RECOVERY_POINTS}"
            )
        if not self.clean:
            # Or it is the offset of an earlier topic of that name, from before the crash.
            _logger.warning("%s, or so its checkpoint says", what)
            return
        lost = Lost(0, self.recovery_point - end_offset, end_offset, self.recovery_point - 1)
        self.losses.add(lost)
        _logger.error("%s: %s", what, lost.describe())

    def _check_end(self, segments: list[Segment], end_offset: int) -> None:
        """The checksum does not cover offsets, and the last batch has only one neighbour. If it
        leaves a gap, and an orderly stop has noted another end, it lies."""
        if self.clean and 0 < self.recovery_point < end_offset and segments[-1].has_gap_at_end():
            raise CorruptBatch(
                f"{segments[-1].path} ends at offset {end_offset}, where {self.recovery_point} is "
                "due"
            )

    def _begin_at_start(self, segments: list[Segment], end_offset: int) -> None:
        """The log ends before what is remembered as its start."""
        start = self.log_start_offset
        if self.clean:
            # An orderly stop leaves no such thing: it is the checkpoint that is wrong.
            _logger.warning(
                "%s ends at %d: %s is wrong about its start %d, all that is there counts",
                self.directory,
                end_offset,
                names.LOG_STARTS,
                start,
            )
            self.log_start_offset = segments[0].base_offset
            return
        _logger.warning(
            "%s ends at %d, before its start %d: starting anew there",
            self.directory,
            end_offset,
            start,
        )
        self._drop(segments)
        segments.clear()

    def _load_producers(self, loaded: _Loaded, start: int) -> None:
        end = loaded.end_offset
        if loaded.created:
            self.snapshots.keep_between(end, -1)
            self.producers.clear(end)
            return
        self.snapshots.keep_only({segment.base_offset for segment in loaded.segments})
        if self.clean or self.producers.end_offset != end:
            rebuild_producers(self.producers, self.snapshots, loaded.segments, start, end)

    def _build(self, loaded: _Loaded, start: int) -> Log:
        end = loaded.end_offset
        return Log(
            self.directory,
            self.partition,
            self.config,
            self.cache,
            self.clock,
            self.trash,
            loaded.segments,
            log_start_offset=start,
            end_offset=end,
            recovery_point=end if self.clean else min(self.recovery_point, end),
            epochs=self.epochs,
            producers=self.producers,
            snapshots=self.snapshots,
            synced=self.clean and not loaded.created,
        )
