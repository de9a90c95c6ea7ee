"""Files and directories on their way out.

A segment that goes is renamed first and unlinked a while later, so that readers which found it
before are not surprised. What is still here when the process ends is found by its suffix at the
next start. Emptying blocks on the disk: it belongs in a thread, and takes as long as it is given.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from errno import EISDIR, ENOENT, ENOTDIR, EPERM
from heapq import heappop, heappush
from threading import Lock

from penstock.storage.disk import Disk

_logger = logging.getLogger(__name__)

_GROUP = 32


class Trash:
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        # By the time they are due. The event loop adds, a thread takes out.
        self._due: list[tuple[int, str, bool]] = []
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._due)

    def add_file(self, path: str, due_ms: int) -> None:
        with self._lock:
            heappush(self._due, (due_ms, path, False))

    def add_directory(self, path: str, due_ms: int) -> None:
        with self._lock:
            heappush(self._due, (due_ms, path, True))

    def is_due(self, now_ms: int) -> bool:
        due = self._due
        return bool(due) and due[0][0] <= now_ms

    def empty(
        self, now_ms: int, time_s: float = 1.0, now_s: Callable[[], float] = time.monotonic
    ) -> int:
        """Remove what is due, for about so long; how many entries went."""
        removed = 0
        end_s = now_s() + time_s
        while entries := self._take(now_ms):
            for _, path, is_directory in entries:
                removed += self._remove(path, is_directory)
            if now_s() >= end_s:
                break
        return removed

    def _remove(self, path: str, is_directory: bool) -> bool:
        """What cannot go keeps nobody else from going; the next start tries it again."""
        try:
            remove_tree(self._disk, path) if is_directory else remove_file(self._disk, path)
        except OSError as error:
            _logger.warning("cannot remove %s: %s", path, error)
            return False
        return True

    def _take(self, now_ms: int) -> list[tuple[int, str, bool]]:
        taken: list[tuple[int, str, bool]] = []
        with self._lock:
            while self._due and self._due[0][0] <= now_ms and len(taken) < _GROUP:
                taken.append(heappop(self._due))
        return taken


def remove_file(disk: Disk, path: str) -> None:
    """Also what stands there in place of a file."""
    try:
        disk.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        # EPERM: what some systems say of unlinking a directory.
        if error.errno not in (EISDIR, EPERM):
            raise
        remove_tree(disk, path)


def remove_tree(disk: Disk, path: str) -> None:
    try:
        names = list(disk.listdir(path))
    except OSError as error:
        if error.errno == ENOTDIR:
            disk.unlink(path)
        elif error.errno != ENOENT:
            raise
        return
    for name in names:
        remove_file(disk, f"{path}/{name}")
    disk.rmdir(path)
