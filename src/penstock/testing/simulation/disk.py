"""The disk of a host as one process sees it: gone with the process, and a place to be killed at."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable

from penstock.storage.disk import Buffer, FileStat
from penstock.testing.disk import FaultyDisk
from penstock.testing.simulation.clock import HostClock
from penstock.testing.simulation.process import Process


class ProcessDisk:
    """`on_change` is called before whatever changes the disk, and may end the process there."""

    def __init__(
        self,
        disk: FaultyDisk,
        process: Process,
        clock: HostClock,
        on_change: Callable[[str], None],
    ) -> None:
        self._faulty = disk
        self._process = process
        self._clock = clock
        self._on_change = on_change

    def _disk(self) -> FaultyDisk:
        if not self._process.alive:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self._faulty

    def _changing(self, what: str) -> FaultyDisk:
        disk = self._disk()
        self._on_change(what)
        disk.now_ns = self._clock.now_ns()
        return disk

    def open(self, path: str, flags: int, mode: int = 0o644, /) -> int:
        if flags & (os.O_CREAT | os.O_TRUNC):
            return self._changing(f"open {path}").open(path, flags, mode)
        return self._disk().open(path, flags, mode)

    def close(self, fd: int, /) -> None:
        """Whoever still holds a number of a process that ended may drop it."""
        if self._process.alive:
            self._faulty.close(fd)

    def pread(self, fd: int, length: int, offset: int, /) -> bytes:
        return self._disk().pread(fd, length, offset)

    def pwrite(self, fd: int, data: Buffer, offset: int, /) -> int:
        return self._changing("write").pwrite(fd, data, offset)

    def ftruncate(self, fd: int, length: int, /) -> None:
        self._changing("truncate").ftruncate(fd, length)

    def fdatasync(self, fd: int, /) -> None:
        self._changing("sync").fdatasync(fd)

    def fsync_dir(self, path: str, /) -> None:
        self._changing(f"sync {path}").fsync_dir(path)

    def rename(self, source: str, target: str, /) -> None:
        self._changing(f"rename {source}").rename(source, target)

    def unlink(self, path: str, /) -> None:
        self._changing(f"unlink {path}").unlink(path)

    def mkdir(self, path: str, /) -> None:
        self._changing(f"mkdir {path}").mkdir(path)

    def rmdir(self, path: str, /) -> None:
        self._changing(f"rmdir {path}").rmdir(path)

    def listdir(self, path: str, /) -> Iterable[str]:
        return self._disk().listdir(path)

    def stat(self, path: str, /) -> FileStat:
        return self._disk().stat(path)

    def exists(self, path: str, /) -> bool:
        return self._disk().exists(path)

    def space(self, path: str, /) -> tuple[int, int]:
        return self._disk().space(path)

    def sync_hint(self) -> None:
        self._disk().sync_hint()
