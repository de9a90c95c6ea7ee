"""Some space of the disk that is kept back for what frees space.

A full disk takes no record, not even the one that says a topic is deleted: then nobody could make
room but by hand. So a file holds a little space, and gives it up piece by piece to just those
records. Other writers may take what is left of a piece; they cannot take the next one.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from penstock.model.error import StorageError
from penstock.storage.disk import Disk, write_fully
from penstock.storage.failure import is_full, is_out_of_files

FILE_NAME = ".space-reserve"
RESERVE_BYTES = 1 << 20
PIECE_BYTES = 16 << 10
"""A record and what the file system needs to note that a file has grown."""
ROOM_FACTOR = 4
"""Refilled only where this many times its size is free."""


class SpaceReserve:
    """`free_bytes` tells how much room there is, so that a refill does not take the last of it."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        free_bytes: Callable[[], int],
        size: int = RESERVE_BYTES,
    ) -> None:
        self._disk = disk
        self._free_bytes = free_bytes
        self._path = f"{directory}/{FILE_NAME}"
        self._size = size
        self._held: int | None = None

    @property
    def is_whole(self) -> bool:
        return self._found() >= self._size

    def refill(self) -> bool:
        """Takes up what is missing; False if the disk has no room for it."""
        held = self._found()
        if held >= self._size:
            return True
        if self._free_bytes() < ROOM_FACTOR * self._size:
            return False
        try:
            self._write(held)
        except OSError as error:
            if not is_full(error):
                raise StorageError(f"cannot write {self._path}: {error}") from error
            return False
        self._held = self._size
        return True

    def _write(self, held: int) -> None:
        fd = self._disk.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            # Noise, since a file system may keep zeros without space.
            write_fully(self._disk, fd, os.urandom(self._size - held), held)
            self._disk.fdatasync(fd)
        except OSError:
            self._disk.ftruncate(fd, held)
            raise
        finally:
            self._disk.close(fd)

    def give(self) -> bool:
        """One more piece is free for whoever writes next; False if there was none left, or if it
        is file descriptors that have run out: then space is not what is missing."""
        held = self._found()
        if not held:
            return False
        try:
            fd = self._disk.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            if not is_out_of_files(error):
                raise
            return False
        try:
            self._held = max(0, held - PIECE_BYTES)
            self._disk.ftruncate(fd, self._held)
        finally:
            self._disk.close(fd)
        return True

    def _found(self) -> int:
        if self._held is None:
            exists = self._disk.exists(self._path)
            self._held = self._disk.stat(self._path).st_size if exists else 0
        return self._held
