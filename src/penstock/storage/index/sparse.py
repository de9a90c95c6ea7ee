"""A sorted file of fixed-size (key, value) entries, looked up by the largest key not above one.

Owns the bytes of one index file. While its segment is written to, entries are held in two
columns and reach the file in groups: an index that a crash leaves short is rebuilt from the
segment, so nothing here is ever synced. An idle index holds no entries in memory and is searched
in the file. Never judges whether an entry is true: the segment does, before it goes by one. A
file that cannot be an index is IndexDamage.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from struct import Struct

from penstock.storage.damage import IndexDamage, is_of_one_file
from penstock.storage.disk import write_fully
from penstock.storage.failure import is_full
from penstock.storage.file_cache import CachedFile, FileCache
from penstock.storage.trash import remove_file

WRITE_GROUP = 64
_BLOCK_ENTRIES = 256


class SparseIndex:
    entry: Struct
    key_type: str

    __slots__ = ("_count", "_file", "_keys", "_values", "_written", "base_offset", "cache", "path")

    def __init__(self, cache: FileCache, path: str, base_offset: int, count: int | None) -> None:
        self.cache = cache
        self.path = path
        self.base_offset = base_offset
        # None: not counted yet; a segment nobody reads costs no look at its files.
        self._count = count
        self._written = count or 0
        self._file: CachedFile | None = None
        self._keys: array[int] | None = None
        self._values: array[int] | None = None

    @property
    def count(self) -> int:
        if self._count is None:
            size = self._file_size()
            if size % self.entry.size:
                raise IndexDamage(f"{self.path} ends within an entry")
            self._count = self._written = size // self.entry.size
        return self._count

    def _file_size(self) -> int:
        try:
            return self.cache.disk.stat(self.path).st_size
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise self._damage(error) from error

    def _damage(self, error: OSError) -> OSError:
        return IndexDamage(str(error)) if is_of_one_file(error) else error

    @property
    def file(self) -> CachedFile:
        if self._file is None:
            self._file = self.cache.file(self.path, create=True)
        return self._file

    def add(self, key: int, value: int) -> None:
        keys, values = self._columns()
        keys.append(key)
        values.append(value)
        self._count = len(keys)
        if self._count - self._written >= WRITE_GROUP:
            self.write_out()

    def floor(self, key: int) -> tuple[int, int] | None:
        """The entry with the largest key <= key."""
        if self._keys is None:
            return self._floor_in_file(key)
        assert self._values is not None
        slot = bisect_right(self._keys, key) - 1
        return (self._keys[slot], self._values[slot]) if slot >= 0 else None

    def last(self) -> tuple[int, int] | None:
        return self.at(self.count - 1) if self.count else None

    def at(self, slot: int) -> tuple[int, int]:
        if self._keys is not None and self._values is not None:
            return self._keys[slot], self._values[slot]
        return self._block(slot, 1)[0]

    def hold(self) -> None:
        """Load the entries: from now on adding one reads nothing."""
        self._columns()

    def entries(self) -> list[tuple[int, int]]:
        keys, values = self._columns()
        return list(zip(keys, values, strict=True))

    def reset(self) -> None:
        """Begin anew, whatever stands under the name of the file."""
        self._keys, self._values = array(self.key_type), array("i")
        self._count = self._written = 0
        try:
            self.cache.disk.ftruncate(self.file.open_fd(), 0)
        except OSError as error:
            if not is_of_one_file(error):
                raise
            self.moved(self.path)
            remove_file(self.cache.disk, self.path)
            self.cache.disk.ftruncate(self.file.open_fd(), 0)

    def write_out(self) -> None:
        """Bring the file up to date; on a full disk later, for memory knows it all."""
        if self._keys is None or self._written == self.count:
            return
        assert self._values is not None
        pack, fresh = self.entry.pack, range(self._written, self.count)
        data = b"".join(pack(self._keys[slot], self._values[slot]) for slot in fresh)
        try:
            write_fully(self.cache.disk, self.file.open_fd(), data, self._written * self.entry.size)
        except OSError as error:
            if not is_full(error):
                raise
            return
        self._written = self.count

    def release(self) -> None:
        """Write out and hold nothing: the segment takes no more entries for now."""
        self.write_out()
        if not self.count:
            # Kafka keeps an index file beside every segment, be it empty.
            self.file.open_fd()
        if self._written == self.count:
            self._keys = self._values = None

    def trim(self) -> None:
        """Cut what does not belong to a whole entry."""
        self.cache.disk.ftruncate(self.file.open_fd(), self.count * self.entry.size)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def moved(self, path: str) -> None:
        """The file was renamed underneath."""
        self.close()
        self.path = path
        self._file = None

    def _shrink(self, count: int) -> None:
        keys, values = self._columns()
        del keys[count:], values[count:]
        self._count = count
        self._written = min(self._written, count)
        self.cache.disk.ftruncate(self.file.open_fd(), self._written * self.entry.size)

    def _shrink_keys_from(self, key: int) -> None:
        self._shrink(bisect_left(self._columns()[0], key))

    def _shrink_values_from(self, value: int) -> None:
        self._shrink(bisect_left(self._columns()[1], value))

    def _columns(self) -> tuple[array[int], array[int]]:
        if self._keys is None or self._values is None:
            pairs = self._block(0, self.count) if self.count else []
            self._keys = array(self.key_type, [pair[0] for pair in pairs])
            self._values = array("i", [pair[1] for pair in pairs])
        return self._keys, self._values

    def _block(self, slot: int, count: int) -> list[tuple[int, int]]:
        size = self.entry.size
        try:
            data = self.cache.disk.pread(self.file.open_fd(), count * size, slot * size)
        except OSError as error:
            raise self._damage(error) from error
        if len(data) != count * size:
            raise IndexDamage(f"{self.path} is shorter than it was")
        return [(key, value) for key, value in self.entry.iter_unpack(data)]

    def _floor_in_file(self, key: int) -> tuple[int, int] | None:
        """Binary search over blocks, a page each, so that a look-up costs a handful of reads."""
        low, high, best = 0, self.count, None
        while low < high:
            slot = max(low, (low + high - _BLOCK_ENTRIES) // 2)
            block = self._block(slot, min(_BLOCK_ENTRIES, high - slot))
            found = bisect_right(block, key, key=_first) - 1
            if found < 0:
                high = slot
                continue
            best = block[found]
            if found < len(block) - 1:
                return best
            low = slot + len(block)
        return best


def _first(pair: tuple[int, int]) -> int:
    return pair[0]
