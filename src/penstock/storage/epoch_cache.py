"""Which leader epoch began at which offset of one log.

Followers and consumers ask with it whether their log has parted from this one. Held in memory;
`encode` gives the lines of leader-epoch-checkpoint, which whoever syncs the log writes. Epochs
behind the recovery point are found again in the batches themselves, so writing may lag.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise

from penstock.storage.damage import DamagedFile

UNDEFINED = -1
_EPOCH_MAX = (1 << 31) - 1
_OFFSET_MAX = (1 << 63) - 1


class EpochCache:
    __slots__ = ("changed", "epochs", "latest", "starts")

    def __init__(self, entries: Iterable[tuple[int, int]] = ()) -> None:
        self.epochs: list[int] = []
        self.starts: list[int] = []
        for epoch, start in entries:
            self.epochs.append(epoch)
            self.starts.append(start)
        self.changed = False
        # Compared on every append, so kept at hand.
        self.latest = self.epochs[-1] if self.epochs else UNDEFINED

    @classmethod
    def decode(cls, lines: Iterable[str]) -> EpochCache:
        """DamagedFile for lines that no log can have written."""
        entries = [_entry(line) for line in lines]
        for earlier, later in pairwise(entries):
            if earlier[0] >= later[0] or earlier[1] > later[1]:
                raise DamagedFile(f"leader epoch {later} does not follow {earlier}")
        return cls(entries)

    def encode(self) -> list[str]:
        return [f"{epoch} {start}" for epoch, start in self.entries()]

    def entries(self) -> list[tuple[int, int]]:
        return list(zip(self.epochs, self.starts, strict=True))

    def assign(self, epoch: int, start: int) -> None:
        """Entries that the new one contradicts go: a higher epoch, or a later start."""
        if epoch < 0 or epoch == self.latest:
            return
        while self.epochs and (self.epochs[-1] >= epoch or self.starts[-1] >= start):
            self._pop()
        self.epochs.append(epoch)
        self.starts.append(start)
        self.latest = epoch
        self.changed = True

    def epoch_at(self, offset: int) -> int:
        slot = bisect_right(self.starts, offset) - 1
        return self.epochs[slot] if slot >= 0 else UNDEFINED

    def end_offset(self, epoch: int, log_end: int) -> tuple[int, int]:
        """(largest epoch not above the asked one, where it ended), or (-1, -1) if unknown."""
        if epoch == UNDEFINED or not self.epochs:
            return UNDEFINED, UNDEFINED
        if epoch == self.epochs[-1]:
            return epoch, log_end
        slot = bisect_right(self.epochs, epoch)
        if slot == len(self.epochs):
            # An epoch nobody has written in: this log cannot say where it ends.
            return UNDEFINED, UNDEFINED
        if slot == 0:
            return epoch, self.starts[0]
        return self.epochs[slot - 1], self.starts[slot]

    def truncate_from(self, end: int) -> None:
        """The log now ends here."""
        while self.starts and self.starts[-1] >= end:
            self._pop()

    def truncate_before(self, start: int) -> None:
        """The log now starts here; the epoch in force there begins with it."""
        slot = bisect_right(self.starts, start) - 1
        if slot < 0 or self.starts[slot] == start == self.starts[0]:
            return
        del self.epochs[:slot], self.starts[:slot]
        self.starts[0] = start
        self.changed = True

    def clear(self) -> None:
        if self.epochs:
            self.epochs.clear()
            self.starts.clear()
            self.latest = UNDEFINED
            self.changed = True

    def _pop(self) -> None:
        self.epochs.pop()
        self.starts.pop()
        self.latest = self.epochs[-1] if self.epochs else UNDEFINED
        self.changed = True


def _entry(line: str) -> tuple[int, int]:
    words = line.split()
    if len(words) != 2 or not all(word.isdecimal() and len(word) < 20 for word in words):
        raise DamagedFile(f"no leader epoch and offset: {line[:80]!r}")
    epoch, start = int(words[0]), int(words[1])
    if epoch > _EPOCH_MAX or start > _OFFSET_MAX:
        raise DamagedFile(f"no leader epoch and offset: {line[:80]!r}")
    return epoch, start
