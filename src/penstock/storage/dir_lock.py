"""Keeping a second process out of a data directory."""

from __future__ import annotations

import fcntl
import os

from penstock.model.error import StorageError
from penstock.storage import names


class DirectoryInUse(StorageError):
    """Nothing is wrong with the disk: another process has the directory."""


class DirectoryLock:
    """An advisory lock on `.lock`, which the kernel drops with the process, however it ends."""

    def __init__(self, directory: str) -> None:
        path = f"{directory}/{names.LOCK}"
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._fd, 32, 0).decode(errors="replace").strip()
            os.close(self._fd)
            by = f" (pid {holder})" if holder.isdecimal() else ""
            raise DirectoryInUse(f"{directory} is in use by another process{by}") from error
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.ftruncate(fd, 0)
            os.close(fd)
