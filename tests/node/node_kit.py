"""A node inside this process, in a thread of its own, on a disk that can be made to fail."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.node.address import Address
from penstock.node.node import Node
from penstock.node.options import NodeOptions
from penstock.settings.config import BrokerConfig
from penstock.storage.disk import Buffer, RealDisk
from penstock.telemetry.clock import SystemClock


class FailingDisk(RealDisk):
    """The machine's disk, with a bound on what may still be written, and syncs that may fail."""

    def __init__(self) -> None:
        self.free_bytes: int | None = None
        self.sync_errno = 0
        self.may_create = True
        self.pwrite = self._pwrite
        self.fdatasync = self._fdatasync
        self.ftruncate = self._ftruncate
        self.open = self._open
        self.mkdir = self._mkdir

    def fill(self, free_bytes: int = 0) -> None:
        """From now on only this much fits; no room for another file or directory either."""
        self.free_bytes, self.may_create = free_bytes, False

    def free(self) -> None:
        self.free_bytes, self.may_create = None, True

    def _pwrite(self, fd: int, data: Buffer, offset: int) -> int:
        if self.free_bytes is None:
            return os.pwrite(fd, data, offset)
        growth = max(0, offset + len(data) - os.fstat(fd).st_size)
        if growth > self.free_bytes:
            data = memoryview(data)[: len(data) - (growth - self.free_bytes)]
            growth = self.free_bytes
        if not data:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = os.pwrite(fd, data, offset)
        self.free_bytes -= growth
        return written

    def _ftruncate(self, fd: int, length: int) -> None:
        """Space that is given back can be written again."""
        given = max(0, os.fstat(fd).st_size - length)
        os.ftruncate(fd, length)
        if self.free_bytes is not None:
            self.free_bytes += given

    def _fdatasync(self, fd: int) -> None:
        if self.sync_errno:
            raise OSError(self.sync_errno, os.strerror(self.sync_errno))
        os.fdatasync(fd)

    def _open(self, path: str, flags: int, mode: int = 0o644) -> int:
        if flags & os.O_CREAT and not self.may_create and not Path(path).exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        return os.open(path, flags, mode)

    def _mkdir(self, path: str) -> None:
        if not self.may_create and not Path(path).exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        RealDisk.mkdir(path)


class DisksOfDirectories(RealDisk):
    """The machine's disk, where each directory can break by itself: EIO from then on."""

    def __init__(self) -> None:
        self._broken: list[str] = []
        self._paths: dict[int, str] = {}
        self.pwrite = self._pwrite
        self.fdatasync = self._fdatasync
        self.open = self._open

    def break_under(self, path: Path) -> None:
        self._broken.append(f"{path}/")

    def _check(self, path: str) -> None:
        if any(path.startswith(each) for each in self._broken):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    def _pwrite(self, fd: int, data: Buffer, offset: int) -> int:
        self._check(self._paths.get(fd, ""))
        return os.pwrite(fd, data, offset)

    def _fdatasync(self, fd: int) -> None:
        self._check(self._paths.get(fd, ""))
        os.fdatasync(fd)

    def _open(self, path: str, flags: int, mode: int = 0o644) -> int:
        self._check(path)
        fd = os.open(path, flags, mode)
        self._paths[fd] = path
        return fd


class RunningNode:
    """With several directories in the folder where `settings` name them in `log.dirs`."""

    def __init__(
        self, home: Path, settings: dict[str, str], disk: RealDisk, metrics: Address | None
    ) -> None:
        config = BrokerConfig.load(None, [f"{key}={value}" for key, value in settings.items()])
        named = config.log_dirs if config.is_set("log.dirs") else [str(home)]
        options = NodeOptions(Address("127.0.0.1", 0), None, tuple(named), metrics)
        self.node = Node(config, options, SystemClock(), disk=disk)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def address(self) -> str:
        return str(self.node.listen_address)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(20)
        if self._failure is not None:
            raise self._failure

    def ask(self, question: Callable[[], object]) -> None:
        """Runs in the node's own thread, where its state may be touched."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(lambda: (question(), done.set()))
        assert done.wait(10)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self.node.stop(), self._loop).result(20)
        self._end()

    def abandon(self) -> None:
        """As a crash would leave it."""
        self.ask(self.node.log_dirs.abandon)
        self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self.node.start())
        except BaseException as error:
            self._failure = error
        self._ready.set()
        if self._failure is None:
            self._loop.run_forever()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()


@contextmanager
def running(
    home: Path,
    disk: RealDisk | None = None,
    settings: dict[str, str] | None = None,
    metrics: Address | None = None,
) -> Iterator[RunningNode]:
    node = RunningNode(home, settings or {}, disk or RealDisk(), metrics)
    node.start()
    try:
        yield node
    finally:
        if node._thread.is_alive():
            node.stop()
        # A node keeps the collector from what was there at its start: not in this process.
        gc.unfreeze()
        gc.set_threshold(700, 10, 10)
