"""Time index: a timestamp -> the relative offset of the batch that first reached it, 12 bytes each.

Timestamps only grow from entry to entry; a batch that reaches no further adds none.
"""

from __future__ import annotations

from struct import Struct

from penstock.storage.index.sparse import SparseIndex


class TimeIndex(SparseIndex):
    entry = Struct(">qi")
    key_type = "q"

    __slots__ = ()

    def append_if_later(self, timestamp: int, offset: int) -> None:
        if timestamp > self.last_entry()[0]:
            self.add(timestamp, offset - self.base_offset)

    def last_entry(self) -> tuple[int, int]:
        """(largest timestamp, offset of its batch), or (-1, base offset) when empty."""
        last = self.last()
        return (last[0], last[1] + self.base_offset) if last else (-1, self.base_offset)

    def truncate(self, offset: int) -> None:
        self._shrink_values_from(offset - self.base_offset)
