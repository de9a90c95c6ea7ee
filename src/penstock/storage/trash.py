"""Files and directories on their way out.

A segment that goes is renamed first and unlinked a while later, so that readers which found it
before are not surprised, and so that the cost of freeing a large file is paid in small steps.
What is still here when the process ends is found by its suffix at the next start.
"""

from __future__ import annotations

from collections import deque

from penstock.storage.disk import Disk


class Trash:
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._due: deque[tuple[int, str, bool]] = deque()

    def __len__(self) -> int:
        return len(self._due)

    def add_file(self, path: str, due_ms: int) -> None:
        self._due.append((due_ms, path, False))

    def add_directory(self, path: str, due_ms: int) -> None:
        self._due.append((due_ms, path, True))

    def empty(self, now_ms: int, limit: int = 16) -> int:
        """Remove up to `limit` entries that are due; how many went."""
        removed = 0
        for _ in range(len(self._due)):
            if removed >= limit:
                break
            due_ms, path, is_directory = entry = self._due.popleft()
            if due_ms > now_ms:
                self._due.append(entry)
            else:
                remove_tree(self._disk, path) if is_directory else remove_file(self._disk, path)
                removed += 1
        return removed


def remove_file(disk: Disk, path: str) -> None:
    try:
        disk.unlink(path)
    except FileNotFoundError:
        pass


def remove_tree(disk: Disk, path: str) -> None:
    if not disk.exists(path):
        return
    for name in disk.listdir(path):
        remove_file(disk, f"{path}/{name}")
    disk.rmdir(path)
