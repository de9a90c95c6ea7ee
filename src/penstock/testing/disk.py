"""A disk in memory that fails the way real ones do, the same way every time for one seed.

What was written but not synced may be lost at a crash, page by page; a page may be torn between
sectors; names created, renamed or removed without syncing their directory may come back or go,
always a prefix of what was done. It can run full, fail to sync, fail to read, and flip bits.
Offers what `penstock.storage.disk.Disk` asks for, and no more than one process's view of it.
"""

from __future__ import annotations

import errno
import os
import stat as modes
from random import Random
from typing import NamedTuple

PAGE_BYTES = 4096
SECTOR_BYTES = 512
DISK_BYTES = 1 << 40
"""Its size, as far as anybody asks."""

Buffer = bytes | bytearray | memoryview


class Stat(NamedTuple):
    st_size: int
    st_mtime_ns: int
    st_mode: int


class _File:
    def __init__(self) -> None:
        self.data = bytearray()
        self.durable = bytearray()
        self.dirty: set[int] = set()
        self.mtime_ns = 0

    def write(self, data: Buffer, offset: int) -> None:
        end = offset + len(data)
        if len(self.data) < end:
            self.data.extend(bytes(end - len(self.data)))
        self.data[offset:end] = data
        self.dirty.update(range(offset // PAGE_BYTES, (end - 1) // PAGE_BYTES + 1))

    def truncate(self, length: int) -> None:
        shorter, longer = sorted((length, len(self.data)))
        self.dirty.update(range(shorter // PAGE_BYTES, longer // PAGE_BYTES + 1))
        del self.data[length:]
        self.data.extend(bytes(length - len(self.data)))

    def sync(self) -> None:
        del self.durable[len(self.data) :]
        self.durable.extend(bytes(len(self.data) - len(self.durable)))
        for page in self.dirty:
            start, end = page * PAGE_BYTES, (page + 1) * PAGE_BYTES
            self.durable[start:end] = self.data[start:end]
        self.dirty.clear()

    def crash(self, random: Random) -> None:
        """Keep each unsynced page, lose it, or keep only its first sectors."""
        if self.dirty:
            length = random.choice(
                sorted({len(self.durable), len(self.data), self._middle(random)})
            )
            survived = self.durable[:length] + bytes(max(0, length - len(self.durable)))
            for page in sorted(self.dirty):
                sectors = random.choice((0, 0, PAGE_BYTES // SECTOR_BYTES, random.randrange(8)))
                start = page * PAGE_BYTES
                end = min(start + sectors * SECTOR_BYTES, len(self.data), length)
                if end > start:
                    survived[start:end] = self.data[start:end]
            self.durable = survived[:length]
        self.data = bytearray(self.durable)
        self.dirty.clear()

    def _middle(self, random: Random) -> int:
        low, high = sorted((len(self.durable), len(self.data)))
        return random.randint(low, high)


class _Directory:
    def __init__(self) -> None:
        self.entries: dict[str, _File | _Directory] = {}
        self.durable: dict[str, _File | _Directory] = {}
        self.unsynced: list[tuple[str, _File | _Directory | None]] = []
        self._renames: set[int] = set()
        """Which of them are first halves: a rename is whole, or it is not at all."""

    def set(self, name: str, node: _File | _Directory | None) -> None:
        self.unsynced.append((name, node))
        _apply(self.entries, name, node)

    def rename(self, source: str, target: str) -> None:
        node = self.entries[source]
        self._renames.add(len(self.unsynced))
        self.set(target, node)
        self.set(source, None)

    def sync(self) -> None:
        self.durable = dict(self.entries)
        self.unsynced.clear()
        self._renames.clear()

    def crash(self, random: Random) -> None:
        count = random.randint(0, len(self.unsynced))
        for name, node in self.unsynced[: count + (count - 1 in self._renames)]:
            _apply(self.durable, name, node)
        self.unsynced.clear()
        self._renames.clear()
        self.entries = dict(self.durable)
        for child in self.entries.values():
            child.crash(random)


def _apply(
    entries: dict[str, _File | _Directory], name: str, node: _File | _Directory | None
) -> None:
    if node is None:
        entries.pop(name, None)
    else:
        entries[name] = node


class FaultyDisk:
    def __init__(self, seed: int = 0) -> None:
        self.random = Random(seed)
        self.free_bytes: int | None = None
        """What is left to write before the disk is full; None for no limit."""
        self.sync_errno = 0
        """When set, every sync fails with it, and the pages it was for are lost."""
        self.read_errno = 0
        self.write_errno = 0
        self.broken = ""
        """When set, whatever lies below this path cannot be opened, read, written or synced."""
        self.sync_count = 0
        self.now_ns = 0
        self._root = _Directory()
        self._open: dict[int, _File] = {}
        self._paths: dict[int, str] = {}
        self._next_fd = 1000

    # --- faults ---------------------------------------------------------------------------

    def crash(self) -> None:
        """Power fails: open files are gone, and what was not synced is at fate's mercy."""
        self._open.clear()
        self._root.crash(self.random)

    def kill(self) -> None:
        """Only the process dies: the kernel still has every write."""
        self._open.clear()

    def durable(self, path: str) -> bytes | None:
        """What would be there after a crash, at the least; None if the name might not be."""
        node: _File | _Directory | None = self._root
        for name in filter(None, path.split("/")):
            node = node.durable.get(name) if isinstance(node, _Directory) else None
        return bytes(node.durable) if isinstance(node, _File) else None

    def flip(self, path: str, position: int, mask: int = 0x01) -> None:
        """Rot one byte, in what is cached and in what is on the platter."""
        file = self._file(path)
        file.data[position] ^= mask
        if position < len(file.durable):
            file.durable[position] ^= mask

    def sync_all(self) -> None:
        pending: list[_File | _Directory] = [self._root]
        while pending:
            node = pending.pop()
            node.sync()
            if isinstance(node, _Directory):
                pending.extend(node.entries.values())

    @property
    def open_count(self) -> int:
        return len(self._open)

    # --- the disk -------------------------------------------------------------------------

    def open(self, path: str, flags: int, mode: int = 0o644, /) -> int:
        self._check_whole(path)
        directory, name = self._parent(path)
        node = directory.entries.get(name)
        if isinstance(node, _Directory):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if node is None:
            if not flags & os.O_CREAT:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            node = _File()
            node.mtime_ns = self.now_ns
            directory.set(name, node)
        if flags & os.O_TRUNC:
            node.truncate(0)
        self._next_fd += 1
        self._open[self._next_fd] = node
        self._paths[self._next_fd] = path
        return self._next_fd

    def close(self, fd: int, /) -> None:
        # A crash has closed everything already; whoever still holds a number may drop it.
        self._open.pop(fd, None)
        self._paths.pop(fd, None)

    def pread(self, fd: int, length: int, offset: int, /) -> bytes:
        self._fail_if(self.read_errno)
        return bytes(self._fd(fd).data[offset : offset + length])

    def pwrite(self, fd: int, data: Buffer, offset: int, /) -> int:
        self._fail_if(self.write_errno)
        file, view = self._fd(fd), memoryview(data)
        if self.free_bytes is not None:
            growth = max(0, offset + len(view) - len(file.data))
            if growth > self.free_bytes:
                view = view[: len(view) - (growth - self.free_bytes)]
                growth = self.free_bytes
            self.free_bytes -= growth
            if not view and data:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        file.write(view, offset)
        file.mtime_ns = self.now_ns
        return len(view)

    def ftruncate(self, fd: int, length: int, /) -> None:
        file = self._fd(fd)
        if self.free_bytes is not None:
            self.free_bytes += max(0, len(file.data) - length)
        file.truncate(length)

    def fdatasync(self, fd: int, /) -> None:
        self.sync_count += 1
        file = self._fd(fd)
        if self.sync_errno:
            # As Linux does: the pages are marked clean, and the next sync would report success.
            file.dirty.clear()
            self._fail_if(self.sync_errno)
        file.sync()

    def fsync_dir(self, path: str, /) -> None:
        self._fail_if(self.sync_errno)
        self._directory(path).sync()

    def rename(self, source: str, target: str, /) -> None:
        old_directory, old_name = self._parent(source)
        new_directory, new_name = self._parent(target)
        node = old_directory.entries.get(old_name)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)
        if new_directory is old_directory:
            new_directory.rename(old_name, new_name)
        else:
            new_directory.set(new_name, node)
            old_directory.set(old_name, None)

    def unlink(self, path: str, /) -> None:
        file = self._file(path)
        directory, name = self._parent(path)
        directory.set(name, None)
        if self.free_bytes is not None:
            self.free_bytes += len(file.data)

    def mkdir(self, path: str, /) -> None:
        self._check_whole(path)
        node = self._root
        for name in path.strip("/").split("/"):
            child = node.entries.get(name)
            if child is None:
                child = _Directory()
                node.set(name, child)
            if not isinstance(child, _Directory):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            node = child

    def rmdir(self, path: str, /) -> None:
        if self._directory(path).entries:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        directory, name = self._parent(path)
        directory.set(name, None)

    def listdir(self, path: str, /) -> list[str]:
        self._check_whole(path)
        names = list(self._directory(path).entries)
        self.random.shuffle(names)
        return names

    def stat(self, path: str, /) -> Stat:
        self._check_whole(path)
        directory, name = self._parent(path)
        node = directory.entries.get(name)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if isinstance(node, _Directory):
            return Stat(0, 0, modes.S_IFDIR | 0o755)
        return Stat(len(node.data), node.mtime_ns, modes.S_IFREG | 0o644)

    def exists(self, path: str, /) -> bool:
        try:
            self.stat(path)
        except OSError:
            return False
        return True

    def space(self, path: str, /) -> tuple[int, int]:
        self._directory(path)
        return DISK_BYTES, DISK_BYTES if self.free_bytes is None else self.free_bytes

    def sync_hint(self) -> None:
        """Promises nothing, so it does nothing."""

    # --- inside ---------------------------------------------------------------------------

    def _fail_if(self, code: int) -> None:
        if code:
            raise OSError(code, os.strerror(code))

    def _check_whole(self, path: str) -> None:
        if self.broken and f"{path}/".startswith(f"{self.broken}/"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    def _fd(self, fd: int) -> _File:
        file = self._open.get(fd)
        if file is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        self._check_whole(self._paths.get(fd, ""))
        return file

    def _directory(self, path: str) -> _Directory:
        node: _File | _Directory = self._root
        for name in filter(None, path.split("/")):
            child = node.entries.get(name) if isinstance(node, _Directory) else None
            if child is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            node = child
        if not isinstance(node, _Directory):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return node

    def _parent(self, path: str) -> tuple[_Directory, str]:
        parent, _, name = path.rpartition("/")
        return self._directory(parent), name

    def _file(self, path: str) -> _File:
        directory, name = self._parent(path)
        node = directory.entries.get(name)
        if not isinstance(node, _File):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return node
