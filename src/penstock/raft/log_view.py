"""The metadata log as raft sees it: offsets and epochs, never bytes."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class EpochEnd(NamedTuple):
    epoch: int
    end_offset: int


class SnapshotId(NamedTuple):
    """The first offset that is not in the snapshot, and the epoch of the last record that is."""

    end_offset: int
    epoch: int


class LogView(Protocol):
    """Read anew at every step: what the host has written is seen at once."""

    @property
    def start_offset(self) -> int: ...

    @property
    def end_offset(self) -> int: ...

    @property
    def flushed_offset(self) -> int:
        """Everything below survives a power failure. A node that does not sync its metadata log (a
        broker without the controller role) says `end_offset`."""
        ...

    @property
    def last_epoch(self) -> int:
        """Epoch of the last record; of the latest snapshot if the log is empty; else 0."""
        ...

    def end_of_epoch(self, epoch: int) -> EpochEnd:
        """The largest epoch up to `epoch` that the log has, and where it ends.

        The snapshot that the log starts from counts as the epoch that ends at `start_offset`;
        before anything else there is epoch 0, which ends at 0.
        """
        ...

    @property
    def earliest_snapshot(self) -> SnapshotId | None:
        """The one that the log starts from, if it was ever trimmed or formatted with one."""
        ...

    @property
    def latest_snapshot(self) -> SnapshotId | None:
        """Never ends above the log: where a crash took the records below a snapshot's end, the log
        is opened as starting there."""
        ...

    def snapshot_size(self, snapshot: SnapshotId) -> int | None:
        """In bytes; None if it is not (or no longer) there whole."""
        ...
