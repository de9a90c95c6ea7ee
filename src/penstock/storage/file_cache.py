"""Open files, bounded in number.

Owns every file descriptor storage keeps for longer than one call. A `CachedFile` is a file that
may or may not be open right now: asking for its descriptor opens it, and opening one too many
closes one that was not used lately. A pinned file stays open, even when its segment is deleted
meanwhile, until the last pin is gone. Never reads, writes or syncs.
"""

from __future__ import annotations

import os
from collections import deque
from threading import Lock

from penstock.storage.disk import Disk
from penstock.storage.failure import is_out_of_files

_FLAGS = os.O_RDWR | os.O_CLOEXEC


class CachedFile:
    __slots__ = ("_cache", "close_on_unpin", "create", "fd", "path", "pins", "recently_used")

    def __init__(self, cache: FileCache, path: str, create: bool) -> None:
        self._cache = cache
        self.path = path
        self.create = create
        self.fd = -1
        self.pins = 0
        self.recently_used = False
        self.close_on_unpin = False

    def open_fd(self) -> int:
        """The descriptor, for use before the caller returns to the event loop."""
        self.recently_used = True
        fd = self.fd
        return fd if fd >= 0 else self._cache.open(self)

    def pin(self) -> int:
        """The descriptor, kept open until `unpin`, whatever happens to the segment."""
        return self._cache.pin(self)

    def unpin(self) -> None:
        self._cache.unpin(self)

    def close(self) -> None:
        """Close now, or with the last pin. The file can be opened again afterwards."""
        self._cache.close(self)

    def retire(self) -> None:
        """The file is gone from its directory: close for good once nobody reads it."""
        self.create = False
        self._cache.close(self)


class FileCache:
    def __init__(self, disk: Disk, capacity: int = 1024) -> None:
        self.disk = disk
        self.capacity = capacity
        self._open: deque[CachedFile] = deque()
        # Recovery opens logs in several threads; the event loop alone never waits here.
        self._lock = Lock()

    def file(self, path: str, *, create: bool = False) -> CachedFile:
        return CachedFile(self, path, create)

    @property
    def open_count(self) -> int:
        return sum(file.fd >= 0 for file in self._open)

    def open(self, file: CachedFile) -> int:
        with self._lock:
            return self._open_locked(file)

    def pin(self, file: CachedFile) -> int:
        with self._lock:
            fd = file.fd if file.fd >= 0 else self._open_locked(file)
            file.pins += 1
            return fd

    def unpin(self, file: CachedFile) -> None:
        with self._lock:
            file.pins -= 1
            if not file.pins and file.close_on_unpin:
                self._close_locked(file)

    def close(self, file: CachedFile) -> None:
        with self._lock:
            if file.pins:
                file.close_on_unpin = True
            else:
                self._close_locked(file)

    def close_all(self) -> None:
        with self._lock:
            for file in self._open:
                self._close_locked(file)
            self._open.clear()

    def _open_locked(self, file: CachedFile) -> int:
        if file.fd >= 0:
            return file.fd
        if len(self._open) >= self.capacity:
            self._make_room()
        flags = _FLAGS | os.O_CREAT if file.create else _FLAGS
        file.fd = self._open_fd(file.path, flags)
        file.recently_used = True
        self._open.append(file)
        return file.fd

    def _open_fd(self, path: str, flags: int) -> int:
        """Where the process has no descriptor left, one of those here is given up for it."""
        while True:
            try:
                return self.disk.open(path, flags, 0o644)
            except OSError as error:
                if not is_out_of_files(error) or not self._make_room():
                    raise

    def _make_room(self) -> bool:
        """One turn of the clock hand: what was used since the last turn gets another chance.
        False when nothing can be closed."""
        queue = self._open
        for _ in range(2 * len(queue)):
            file = queue.popleft()
            if file.fd < 0:
                return True
            if not file.pins and not file.recently_used:
                self._close_locked(file)
                return True
            file.recently_used = False
            queue.append(file)
        return False

    def _close_locked(self, file: CachedFile) -> None:
        fd, file.fd = file.fd, -1
        file.close_on_unpin = False
        if fd >= 0:
            self.disk.close(fd)
