"""Transaction index: the aborted transactions whose end lies in one segment, 34 bytes each.

The file exists only where a transaction was aborted. Never consulted for writing.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from penstock.storage.disk import Disk, read_whole, write_fully
from penstock.storage.file_cache import FileCache

_ENTRY = Struct(">hqqqq")
_VERSION = 0


class AbortedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TxnIndex:
    __slots__ = ("_cache", "_count", "path")

    def __init__(self, cache: FileCache, path: str) -> None:
        self._cache = cache
        self.path = path
        self._count: int | None = None

    @property
    def _disk(self) -> Disk:
        return self._cache.disk

    def append(self, txn: AbortedTxn) -> None:
        count = self._entry_count()
        file = self._cache.file(self.path, create=True)
        try:
            data = _ENTRY.pack(_VERSION, *txn)
            write_fully(self._disk, file.open_fd(), data, count * _ENTRY.size)
        finally:
            file.close()
        self._count = count + 1

    def entries(self) -> list[AbortedTxn]:
        if not self._entry_count():
            return []
        data = read_whole(self._disk, self.path)
        whole = len(data) - len(data) % _ENTRY.size
        return [AbortedTxn(*fields[1:]) for fields in _ENTRY.iter_unpack(data[:whole])]

    def collect(self, start_offset: int, end_offset: int, found: list[AbortedTxn]) -> bool:
        """Add those overlapping the range; True once no later one can overlap it."""
        for txn in self.entries():
            if txn.last_offset >= start_offset and txn.first_offset < end_offset:
                found.append(txn)
            if txn.last_stable_offset >= end_offset:
                return True
        return False

    def truncate(self, offset: int) -> None:
        kept = sum(txn.last_offset < offset for txn in self.entries())
        if kept != self._entry_count():
            self._cut(kept)

    def reset(self) -> None:
        if self._disk.exists(self.path):
            self._cut(0)

    def _cut(self, count: int) -> None:
        file = self._cache.file(self.path)
        try:
            self._disk.ftruncate(file.open_fd(), count * _ENTRY.size)
        finally:
            file.close()
        self._count = count

    def _entry_count(self) -> int:
        if self._count is None:
            exists = self._disk.exists(self.path)
            size = self._disk.stat(self.path).st_size if exists else 0
            self._count = size // _ENTRY.size
        return self._count
