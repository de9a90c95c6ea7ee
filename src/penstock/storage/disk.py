"""The disk everything in storage is given instead of calling the operating system itself.

`RealDisk` binds the operating system's functions directly, so that a call through it costs no
more than the function alone. A disk never retries and never interprets: errors come out as the
`OSError` they are, and the caller decides whether they are its own fault or the directory's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from errno import EFBIG
from typing import Protocol

Buffer = bytes | bytearray | memoryview


class FileStat(Protocol):
    @property
    def st_size(self) -> int: ...
    @property
    def st_mtime_ns(self) -> int: ...
    @property
    def st_mode(self) -> int: ...


class Disk(Protocol):
    def open(self, path: str, flags: int, mode: int = 0o644, /) -> int: ...
    def close(self, fd: int, /) -> None: ...
    def pread(self, fd: int, length: int, offset: int, /) -> bytes: ...
    def pwrite(self, fd: int, data: Buffer, offset: int, /) -> int: ...
    def ftruncate(self, fd: int, length: int, /) -> None: ...
    def fdatasync(self, fd: int, /) -> None: ...
    def fsync_dir(self, path: str, /) -> None: ...
    def rename(self, source: str, target: str, /) -> None: ...
    def unlink(self, path: str, /) -> None: ...
    def mkdir(self, path: str, /) -> None: ...
    def rmdir(self, path: str, /) -> None: ...
    def listdir(self, path: str, /) -> Iterable[str]: ...
    def stat(self, path: str, /) -> FileStat: ...
    def exists(self, path: str, /) -> bool: ...
    def space(self, path: str, /) -> tuple[int, int]:
        """Bytes of the file system that the path is on: in all, and free for us."""
        ...

    def sync_hint(self) -> None:
        """Start writing everything out: many syncs right after this find little left to do."""
        ...


def _full_sync(fd: int) -> None:
    """macOS: fsync leaves data in the drive's cache; F_FULLFSYNC does not, where it exists."""
    import fcntl

    try:
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # type: ignore[attr-defined,unused-ignore]
    except (AttributeError, OSError):
        os.fsync(fd)


def _fsync_dir(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _mkdir(path: str) -> None:
    try:
        os.mkdir(path)  # noqa: PTH102 - one call, for thousands of partitions
    except FileExistsError:
        pass
    except FileNotFoundError:
        os.makedirs(path, exist_ok=True)  # noqa: PTH103 - no pathlib in a node


def _space(path: str) -> tuple[int, int]:
    found = os.statvfs(path)
    return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize


class RealDisk:
    """The machine's own file system."""

    open = staticmethod(os.open)
    close = staticmethod(os.close)
    pread = staticmethod(os.pread)
    pwrite = staticmethod(os.pwrite)
    ftruncate = staticmethod(os.ftruncate)
    fdatasync = staticmethod(_full_sync if sys.platform == "darwin" else os.fdatasync)
    fsync_dir = staticmethod(_fsync_dir)
    rename = staticmethod(os.rename)
    unlink = staticmethod(os.unlink)
    mkdir = staticmethod(_mkdir)
    rmdir = staticmethod(os.rmdir)
    listdir = staticmethod(os.listdir)
    stat = staticmethod(os.stat)
    exists = staticmethod(os.path.exists)
    space = staticmethod(_space)
    # Reports no errors, so it never replaces syncing the files themselves.
    sync_hint = staticmethod(os.sync)


def make_directory(disk: Disk, path: str) -> None:
    """A directory that is there after a power failure, too, and those above it that were missing.
    Whatever is synced inside it is lost with a name that was not."""
    made, above = [], path
    while above and not disk.exists(above):
        made.append(above)
        above = above.rpartition("/")[0]
    disk.mkdir(path)
    for one in made:
        parent, slash, _ = one.rpartition("/")
        try:
            disk.fsync_dir(parent or slash or ".")
        except PermissionError:
            return  # a directory that we may not read; then its owner has to know


WHOLE_BYTES_MAX = 1 << 28


def read_whole(disk: Disk, path: str, bytes_max: int = WHOLE_BYTES_MAX) -> bytes:
    """A small file. EFBIG for one that cannot be: it may claim to be larger than the memory."""
    # Without O_NONBLOCK a pipe in place of the file would be waited for.
    fd = disk.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        size = disk.stat(path).st_size
        if size > bytes_max:
            raise OSError(EFBIG, f"{size} bytes, where at most {bytes_max} make sense", path)
        return disk.pread(fd, size, 0)
    finally:
        disk.close(fd)


class SequentialFile:
    """A file that is read from its beginning, in pieces."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._fd = disk.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._position = 0

    def __enter__(self) -> SequentialFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._disk.close(self._fd)

    def read(self, size: int) -> bytes:
        data = self._disk.pread(self._fd, size, self._position)
        self._position += len(data)
        return data


def write_fully(disk: Disk, fd: int, data: Buffer, offset: int) -> None:
    """A short write is not an error to the kernel; a full disk shows only on the next call."""
    view = memoryview(data)
    while view:
        written = disk.pwrite(fd, view, offset)
        view = view[written:]
        offset += written


def replace_file(
    disk: Disk, path: str, data: bytes, *, sync: bool = True, sync_name: bool = True
) -> None:
    """Swap a whole small file atomically: a reader or a crash sees the old one or the new one.

    Without `sync_name` the caller syncs the directory, together with other changes in it.
    """
    temporary = path + ".tmp"
    fd = disk.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC)
    try:
        write_fully(disk, fd, data, 0)
        if sync:
            disk.fdatasync(fd)
    finally:
        disk.close(fd)
    disk.rename(temporary, path)
    if sync and sync_name:
        disk.fsync_dir(path.rpartition("/")[0])
