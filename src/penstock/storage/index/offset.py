"""Offset index: relative offset of a batch's last record -> position of the batch, 8 bytes each."""

from __future__ import annotations

from struct import Struct

from penstock.storage.index.sparse import SparseIndex


class OffsetIndex(SparseIndex):
    entry = Struct(">ii")
    key_type = "i"

    __slots__ = ()

    def append(self, offset: int, position: int) -> None:
        self.add(offset - self.base_offset, position)

    def position_before(self, offset: int) -> int:
        """Where to start scanning for an offset: at or before its batch."""
        # An entry names the last offset of a batch, which for the target may be its own batch:
        # then the entry's position is still right, for it is where that batch begins.
        found = self.floor(offset - self.base_offset)
        return found[1] if found else 0

    def truncate(self, offset: int) -> None:
        """Forget the entries of batches that reach the offset."""
        self._shrink_keys_from(offset - self.base_offset)
