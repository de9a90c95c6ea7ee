"""Transaction index: the aborted transactions whose end lies in one segment, 34 bytes each.

The file exists only where a transaction was aborted. Never consulted for writing. A file that
cannot be one is IndexDamage; whether it is true, `txn_check` finds out before the first use.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from penstock.storage.damage import IndexDamage, is_of_one_file
from penstock.storage.disk import Disk, read_whole, write_fully
from penstock.storage.file_cache import FileCache
from penstock.storage.trash import remove_file

_ENTRY = Struct(">hqqqq")
_VERSION = 0


class AbortedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TxnIndex:
    __slots__ = ("_cache", "_count", "checked", "path")

    def __init__(self, cache: FileCache, path: str, *, checked: bool = True) -> None:
        self._cache = cache
        self.path = path
        # Written by this process, or compared with the batches since it began.
        self.checked = checked
        self._count: int | None = None

    @property
    def _disk(self) -> Disk:
        return self._cache.disk

    def append(self, txn: AbortedTxn) -> None:
        count = self._entry_count()
        file = self._cache.file(self.path, create=True)
        try:
            self._write(file.open_fd(), _ENTRY.pack(_VERSION, *txn), count * _ENTRY.size)
        finally:
            file.close()
        self._count = count + 1

    def _write(self, fd: int, data: bytes, position: int) -> None:
        """On an error the file is cut back to what it was: a piece of an entry is no index."""
        try:
            write_fully(self._disk, fd, data, position)
        except OSError:
            self._disk.ftruncate(fd, position)
            raise

    def entries(self) -> list[AbortedTxn]:
        if not self._entry_count():
            return []
        try:
            data = read_whole(self._disk, self.path)
        except OSError as error:
            if not is_of_one_file(error):
                raise
            raise IndexDamage(str(error)) from error
        if len(data) % _ENTRY.size:
            raise IndexDamage(f"{self.path} ends within an entry")
        entries = list(_ENTRY.iter_unpack(data))
        if any(fields[0] != _VERSION for fields in entries):
            raise IndexDamage(f"{self.path} has an entry of no known version")
        return [AbortedTxn(*fields[1:]) for fields in entries]

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
        """Begin anew, whatever stands under the name of the file."""
        remove_file(self._disk, self.path)
        self._count = 0
        self.checked = True

    def replace(self, entries: Iterable[AbortedTxn]) -> None:
        self.reset()
        for txn in entries:
            self.append(txn)

    def is_there(self) -> bool:
        """Also something that is no file: it stands where there was one."""
        try:
            return self._size() is not None
        except IndexDamage:
            return True

    def _size(self) -> int | None:
        try:
            return self._disk.stat(self.path).st_size
        except FileNotFoundError:
            return None
        except OSError as error:
            if not is_of_one_file(error):
                raise
            raise IndexDamage(str(error)) from error

    def _cut(self, count: int) -> None:
        file = self._cache.file(self.path)
        try:
            self._disk.ftruncate(file.open_fd(), count * _ENTRY.size)
        finally:
            file.close()
        self._count = count

    def _entry_count(self) -> int:
        if self._count is None:
            self._count = -(-(self._size() or 0) // _ENTRY.size)
        return self._count
