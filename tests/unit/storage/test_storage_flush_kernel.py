"""Syncs by the kernel: nothing counts before it says so."""

from __future__ import annotations

import errno
import os
import select
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue

import pytest

from penstock.model.error import StorageError
from penstock.model.id import TopicPartition
from penstock.storage.disk import RealDisk
from penstock.storage.flush.flusher import Flusher
from penstock.storage.flush.kernel_sync import FILES_MAX, KernelSync
from penstock.storage.flush.loop_sync import LoopSync, new_loop_sync
from penstock.storage.flush.ticket import FlushTicket
from penstock.storage.log import Log
from tests.unit.storage.storage_kit import batch
from tests.unit.storage.test_storage_log_dir import TOPIC_ID, open_dir


class Loop:
    """As much of an event loop as is asked for; it turns when it is told to."""

    def __init__(self) -> None:
        self.calls: deque[Callable[[], object]] = deque()
        self.from_threads: Queue[Callable[[], object]] = Queue()
        self.readers: dict[int, Callable[[], object]] = {}

    def call_soon(self, callback: Callable[[], object]) -> None:
        self.calls.append(callback)

    def add_reader(self, fd: int, callback: Callable[[], object]) -> None:
        self.readers[fd] = callback

    def remove_reader(self, fd: int) -> None:
        self.readers.pop(fd, None)

    def turn(self) -> None:
        while self.calls:
            self.calls.popleft()()

    def turn_threads(self) -> None:
        while True:
            try:
                self.from_threads.get_nowait()()
            except Empty:
                return


class Kernel:
    """Synced is what the test says."""

    def __init__(self) -> None:
        self.begun: list[int] | None = None
        self.answer: list[int] | None = None
        self.refusal = 0
        self.closed = False

    def fileno(self) -> int:
        return 77

    def begin(self, fds: list[int]) -> None:
        assert self.begun is None
        if self.refusal:
            raise OSError(self.refusal, "no room")
        self.begun = fds

    def wait(self) -> None:
        if self.begun is not None and self.answer is None:
            self.answer = [0] * len(self.begun)

    def take(self) -> list[int] | None:
        answer, self.answer = self.answer, None
        if answer is not None:
            self.begun = None
        return answer

    def close(self) -> None:
        self.closed = True


class Setting:
    """Two logs that have been synced once, so that their names are on disk."""

    def __init__(self, path: Path) -> None:
        self.loop, self.kernel = Loop(), Kernel()
        self.failed: list[tuple[Log, Exception]] = []
        self.directory = open_dir(path)
        self.logs = [
            self.directory.create_log(TopicPartition("orders", each), TOPIC_ID) for each in (0, 1)
        ]
        for log in self.logs:
            log.append(batch(), 0, 5)
            log.flush()
        self.flusher = Flusher(
            RealDisk(),
            self.loop.from_threads.put,
            lambda log, error: self.failed.append((log, error)),
            loop_sync=LoopSync(self.loop, self.kernel),
        )
        self.flusher.start()

    def append(self, log: Log) -> None:
        log.append(batch(), 0, 5)
        self.flusher.request(log)

    def answer(self, *codes: int) -> None:
        self.kernel.answer = list(codes)
        self.loop.readers[77]()

    @property
    def safe(self) -> list[int]:
        return [log.recovery_point for log in self.logs]


@pytest.fixture
def setting(tmp_path: Path) -> Iterator[Setting]:
    made = Setting(tmp_path)
    yield made
    made.flusher.close()
    made.loop.turn_threads()
    assert made.kernel.closed
    made.directory.close()


def test_nothing_counts_before_it_is_synced(setting: Setting) -> None:
    first, second = setting.logs
    for log in (first, second, first):
        setting.append(log)
    assert setting.kernel.begun is None  # one turn of the loop is one sync
    setting.loop.turn()
    assert len(setting.kernel.begun or ()) == 2
    assert setting.safe == [1, 1]
    setting.append(second)  # behind what is being synced
    setting.loop.turn()
    setting.answer(0, 0)
    assert setting.safe == [3, 2]
    setting.loop.turn()
    assert len(setting.kernel.begun or ()) == 1
    setting.answer(0)
    assert setting.safe == [3, 3]


def test_what_the_loop_hears_of_early_is_no_news(setting: Setting) -> None:
    setting.append(setting.logs[0])
    setting.loop.turn()
    setting.loop.readers[77]()
    assert setting.safe == [1, 1]
    setting.answer(0)
    assert setting.safe == [2, 1]


def test_where_one_sync_failed_no_other_counts(setting: Setting) -> None:
    for log in setting.logs:
        setting.append(log)
    setting.loop.turn()
    setting.answer(0, errno.EIO)
    assert setting.safe == [1, 1]
    assert [log for log, _ in setting.failed] == setting.logs
    assert all(isinstance(error, StorageError) for _, error in setting.failed)
    setting.append(setting.logs[0])
    setting.loop.turn()
    setting.answer(0)
    assert setting.safe == [1, 1]


def test_a_thread_syncs_names_and_what_the_kernel_does_not_take(setting: Setting) -> None:
    log = setting.logs[0]
    log.roll()
    setting.append(log)
    setting.loop.turn()
    assert setting.kernel.begun is None
    setting.loop.from_threads.get(timeout=10)()
    assert setting.safe == [2, 1]
    setting.kernel.refusal = errno.EAGAIN
    setting.append(log)
    setting.loop.turn()
    setting.loop.from_threads.get(timeout=10)()
    assert setting.safe == [3, 1]
    setting.kernel.refusal = 0
    setting.append(log)
    setting.loop.turn()
    setting.answer(0)
    assert setting.safe == [4, 1]


def test_a_sync_that_could_not_take_in_all_files_counts_only_for_what_it_had(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = setting.logs[0]
    setting.append(log)
    log.roll()
    log.append(batch(), 0, 5)
    with monkeypatch.context() as patch:
        patch.setattr(FlushTicket, "add_segment", _no_files)
        setting.flusher.request(log)
    setting.loop.turn_threads()
    assert [failed for failed, _ in setting.failed] == [log]
    setting.loop.turn()
    setting.answer(0)
    assert setting.safe == [2, 1]


def _no_files(*_: object) -> None:
    raise OSError(errno.EIO, "broken")


def test_closing_syncs_what_was_asked_for(setting: Setting) -> None:
    setting.append(setting.logs[0])
    setting.loop.turn()
    setting.append(setting.logs[1])
    setting.flusher.close()
    setting.loop.turn_threads()
    assert setting.safe == [2, 2]


@pytest.fixture
def kernel() -> Iterator[KernelSync]:
    made = KernelSync()
    yield made
    made.close()


def taken(kernel: KernelSync) -> list[int]:
    while (codes := kernel.take()) is None:
        assert select.select([kernel.fileno()], [], [], 30)[0], "nothing comes"
    return codes


def test_the_kernel_tells_of_every_file(tmp_path: Path, kernel: KernelSync) -> None:
    fds = [os.open(tmp_path / str(each), os.O_RDWR | os.O_CREAT) for each in range(20)]
    reading, writing = os.pipe()
    for _ in range(5):
        for fd in fds:
            os.write(fd, b"record")
        kernel.begin([*fds, writing, 1 << 20])
        assert taken(kernel) == [0] * 20 + [errno.EINVAL, errno.EBADF]
        assert kernel.take() is None
    kernel.begin(fds)
    kernel.wait()
    assert kernel.take() == [0] * 20
    for fd in (*fds, reading, writing):
        os.close(fd)


def test_what_the_kernel_refuses_from_the_first_file_on_is_not_begun(
    tmp_path: Path, kernel: KernelSync
) -> None:
    """So does a kernel that knows no syncs: whoever asked has them made in another way."""
    reading, writing = os.pipe()
    fd = os.open(tmp_path / "0", os.O_RDWR | os.O_CREAT)
    with pytest.raises(OSError, match="takes no syncs"):
        kernel.begin([writing, fd])
    assert kernel.take() is None
    kernel.begin([fd])
    assert taken(kernel) == [0]
    for each in (fd, reading, writing):
        os.close(each)


def test_what_is_told_behind_the_last_file_is_no_news(tmp_path: Path, kernel: KernelSync) -> None:
    """Or the loop would look again and again until the next sync."""
    fd = os.open(tmp_path / "0", os.O_RDWR | os.O_CREAT)
    kernel.begin([fd])
    assert taken(kernel) == [0]
    os.eventfd_write(kernel.fileno(), 1)
    assert kernel.take() is None
    assert select.select([kernel.fileno()], [], [], 0)[0] == []
    os.close(fd)


def test_more_files_than_the_kernel_takes_are_not_begun(tmp_path: Path, kernel: KernelSync) -> None:
    fd = os.open(tmp_path / "0", os.O_RDWR | os.O_CREAT)
    with pytest.raises(OSError, match="more files"):
        kernel.begin([fd] * (FILES_MAX + 1))
    kernel.begin([fd] * FILES_MAX)
    assert taken(kernel) == [0] * FILES_MAX
    os.close(fd)
    kernel.close()
    with pytest.raises(OSError, match="more files"):
        kernel.begin([])


def test_a_disk_with_a_sync_of_its_own_is_asked_for_it() -> None:
    class Slow(RealDisk):
        fdatasync = staticmethod(lambda fd: None)  # type: ignore[assignment]

    assert new_loop_sync(Loop(), Slow()) is None
    made = new_loop_sync(Loop(), RealDisk())
    assert made is not None
    made.close()


def test_where_the_kernel_has_no_queue_threads_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    system = os.uname_result(("Linux", "here", "2", "2", "pdp11"))
    monkeypatch.setattr("os.uname", lambda: system)
    assert new_loop_sync(Loop(), RealDisk()) is None
