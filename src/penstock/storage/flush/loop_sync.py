"""Syncs as the event loop has them made: files out, and a call when all of them are synced.

Owns the place where the loop listens. Not there with a disk whose sync is not the system's own, or
where the kernel does not do it by itself: threads sync then.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from penstock.storage.disk import Disk

Codes = list[int]
"""For each file 0 or an errno."""


class Loop(Protocol):
    def call_soon(self, callback: Callable[[], object], /) -> object: ...
    def add_reader(self, fd: int, callback: Callable[[], object], /) -> object: ...
    def remove_reader(self, fd: int, /) -> object: ...


class FileSync(Protocol):
    """As `kernel_sync.KernelSync`."""

    def fileno(self) -> int: ...
    def begin(self, fds: list[int], /) -> None: ...
    def wait(self) -> None: ...
    def take(self) -> Codes | None: ...
    def close(self) -> None: ...


class LoopSync:
    def __init__(self, loop: Loop, files: FileSync) -> None:
        self._loop = loop
        self._files = files
        self._done: Callable[[Codes], None] | None = None
        loop.add_reader(files.fileno(), self.deliver)

    def soon(self, callback: Callable[[], None]) -> None:
        """In the loop's next turn: what this one still brings is there by then."""
        self._loop.call_soon(callback)

    def begin(self, fds: list[int], done: Callable[[Codes], None]) -> None:
        """OSError where nothing was begun; else `done` is told of each file."""
        self._files.begin(fds)
        self._done = done

    def wait(self) -> None:
        """Until what was begun is synced; from any thread. `deliver` tells of it."""
        self._files.wait()

    def deliver(self) -> None:
        codes = self._files.take()
        if codes is not None and self._done is not None:
            done, self._done = self._done, None
            done(codes)

    def close(self) -> None:
        self._loop.remove_reader(self._files.fileno())
        self._files.close()


def new_loop_sync(loop: Loop, disk: Disk) -> LoopSync | None:
    if disk.fdatasync is not os.fdatasync:
        return None
    try:
        return LoopSync(loop, kernel_sync())
    except OSError:
        return None


def kernel_sync() -> FileSync:
    from penstock.storage.flush.kernel_sync import KernelSync

    return KernelSync()
