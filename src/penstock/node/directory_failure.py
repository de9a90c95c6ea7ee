"""What becomes of a node when one of its directories fails.

The partitions in it go offline, the controller is told, and others lead them. The node goes on as
long as the metadata log's directory and one for replicas are left, and the controller can be told:
as long as it cannot, others take these partitions for served.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from penstock.model.error import StorageError
from penstock.storage.log_dir import LogDir
from penstock.storage.log_dirs import LogDirs
from penstock.telemetry.log import get_logger

log = get_logger("directories")


class DirectoryFailures:
    """`tell` has the controller told soon, `is_told` says whether it has heard of all of them."""

    def __init__(
        self,
        log_dirs: LogDirs,
        take_offline: Callable[[LogDir, StorageError], None],
        tell: Callable[[], None],
        is_told: Callable[[], bool],
        patience_s: Callable[[], float],
    ) -> None:
        self._log_dirs = log_dirs
        self._take_offline = take_offline
        self._tell = tell
        self._is_told = is_told
        self._patience_s = patience_s
        self._ended = asyncio.Event()
        self.ended_by: StorageError | None = None
        """Why the node is of no use any more."""

    def watch(self) -> None:
        """From now on; what has failed since the start counts too."""
        self._log_dirs.on_offline = self._on_offline
        for each in self._log_dirs.offline:
            assert each.offline is not None
            self._on_offline(each, each.offline)

    async def wait_ended(self) -> None:
        await self._ended.wait()

    def _on_offline(self, directory: LogDir, error: StorageError) -> None:
        self._take_offline(directory, error)
        if not self._log_dirs.is_usable:
            self._end(error)
            return
        left = ",".join(each.path for each in self._log_dirs.online)
        log.error("a data directory is offline, the others are served", left=left)
        self._tell()
        if not self._is_told():
            asyncio.get_running_loop().call_later(self._patience_s(), self._look_again, error)

    def _look_again(self, error: StorageError) -> None:
        if not self._is_told():
            log.error("no controller could be told of the offline directory")
            self._end(error)

    def _end(self, error: StorageError) -> None:
        self.ended_by = self.ended_by or error
        self._ended.set()
