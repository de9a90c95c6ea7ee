"""What one simulated node keeps on disk: its metadata log, its snapshots, its election state.

Records are values. What is not synced is lost in a crash from some offset on; snapshots and the
election state are synced when written, as the host promises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from penstock.raft import ControlEntry, ElectionState, EpochEnd, SnapshotId, VoterSet

NOTHING = SnapshotId(0, 0)


class Record(NamedTuple):
    """A batch of one record; a control batch counts as one, too."""

    epoch: int
    value: str
    voters: VoterSet | None = None
    kraft_version: int | None = None


class Snapshot(NamedTuple):
    size: int
    entries: tuple[ControlEntry, ...]


@dataclass
class SimLog:
    """`LogView` over a list."""

    records: list[Record] = field(default_factory=list)
    start_offset: int = 0
    synced_offset: int = 0
    snapshots: dict[SnapshotId, Snapshot] = field(default_factory=dict)

    @property
    def end_offset(self) -> int:
        return self.start_offset + len(self.records)

    @property
    def flushed_offset(self) -> int:
        return self.synced_offset

    @property
    def last_epoch(self) -> int:
        return self.records[-1].epoch if self.records else self._base.epoch

    @property
    def _base(self) -> SnapshotId:
        return self.earliest_snapshot or NOTHING

    def end_of_epoch(self, epoch: int) -> EpochEnd:
        for place in range(len(self.records) - 1, -1, -1):
            if self.records[place].epoch <= epoch:
                return EpochEnd(self.records[place].epoch, self.start_offset + place + 1)
        return EpochEnd(self._base.epoch, self.start_offset)

    @property
    def earliest_snapshot(self) -> SnapshotId | None:
        fitting = [one for one in self.snapshots if one.end_offset == self.start_offset]
        return max(fitting, default=None)

    @property
    def latest_snapshot(self) -> SnapshotId | None:
        return max(self.snapshots, default=None)

    def snapshot_size(self, snapshot: SnapshotId) -> int | None:
        kept = self.snapshots.get(snapshot)
        return None if kept is None else kept.size

    def at(self, offset: int) -> Record | None:
        place = offset - self.start_offset
        return self.records[place] if 0 <= place < len(self.records) else None

    def read(self, offset: int, count: int) -> tuple[Record, ...]:
        place = offset - self.start_offset
        return tuple(self.records[place : place + count])

    def append(self, *records: Record) -> tuple[ControlEntry, ...]:
        first = self.end_offset
        self.records.extend(records)
        return tuple(
            ControlEntry(first + place, record.voters, record.kraft_version)
            for place, record in enumerate(records)
            if record.voters is not None or record.kraft_version is not None
        )

    def truncate(self, end_offset: int) -> None:
        del self.records[max(0, end_offset - self.start_offset) :]
        self.synced_offset = min(self.synced_offset, self.end_offset)

    def install(self, snapshot: SnapshotId, kept: Snapshot) -> None:
        self.records.clear()
        self.snapshots = {snapshot: kept}
        self.start_offset = self.synced_offset = snapshot.end_offset

    def trim(self, snapshot: SnapshotId) -> None:
        """Start at the end of this snapshot; older ones go."""
        del self.records[: snapshot.end_offset - self.start_offset]
        self.start_offset = snapshot.end_offset
        self.synced_offset = max(self.synced_offset, self.start_offset)
        self.snapshots = {one: kept for one, kept in self.snapshots.items() if one >= snapshot}

    def lose_unsynced(self, random: Random) -> None:
        """Some of what was written and not synced is gone: always the end of it."""
        kept = random.randint(self.synced_offset, self.end_offset)
        if random.random() < 0.5:
            kept = self.synced_offset
        self.truncate(kept)
        self.synced_offset = self.end_offset
        latest = self.latest_snapshot
        if latest is not None and latest.end_offset > self.end_offset:
            self.install(latest, self.snapshots[latest])

    def entries(self) -> tuple[ControlEntry, ...]:
        """The control records, as read when the log is opened."""
        base = self.earliest_snapshot
        kept = self.snapshots[base].entries if base is not None else ()
        return kept + tuple(
            ControlEntry(self.start_offset + place, record.voters, record.kraft_version)
            for place, record in enumerate(self.records)
            if record.voters is not None or record.kraft_version is not None
        )


@dataclass
class SimDisk:
    log: SimLog = field(default_factory=SimLog)
    election: ElectionState = field(default_factory=ElectionState)
