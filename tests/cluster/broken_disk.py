"""A disk that breaks under a running node: called in the node's process before it starts.

A file named BROKEN beside a data directory says that whatever lies below that directory can be
neither written nor synced any more.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from penstock.storage.disk import Buffer, RealDisk

PREPARE = f"{__name__}:install"
SUFFIX = ".BROKEN"


def break_disk(directory: Path) -> None:
    directory.with_name(directory.name + SUFFIX).touch()


def mend_disk(directory: Path) -> None:
    directory.with_name(directory.name + SUFFIX).unlink()


def install() -> None:
    write, sync = os.pwrite, os.fdatasync

    def pwrite(fd: int, data: Buffer, offset: int) -> int:
        _check(fd)
        return write(fd, data, offset)

    def fdatasync(fd: int) -> None:
        _check(fd)
        sync(fd)

    RealDisk.pwrite = staticmethod(pwrite)  # type: ignore[assignment]
    RealDisk.fdatasync = staticmethod(fdatasync)  # type: ignore[assignment]


def _check(fd: int) -> None:
    path = Path(f"/proc/self/fd/{fd}").readlink()
    for above in path.parents[:-1]:
        if above.with_name(above.name + SUFFIX).exists():
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
