"""A log moves to another directory, and power, a process or a disk ends at every step of it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

import pytest

from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.storage import names
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.log_dirs import LogDirs
from penstock.storage.promotion import promote
from penstock.testing.disk import FaultyDisk
from tests.unit.storage.storage_kit import FixedClock, Settings, batch

KEY = TopicPartition("t", 0)
TOPIC_ID = bytes(range(16))
OTHER_ID = bytes(range(1, 17))
IDS = {"/a": b"a" * 16, "/b": b"b" * 16}
BATCHES = 12
STEPS_MAX = 200


class Ended(BaseException):
    """The process is no more."""


class Steps:
    """Counts what changes either disk, and lets something happen before one of them."""

    def __init__(self, at: int = -1, happens: Callable[[FaultyDisk], None] | None = None) -> None:
        self.count = 0
        self._at = at
        self._happens = happens

    def take(self, disk: FaultyDisk) -> None:
        self.count += 1
        if self.count == self._at and self._happens is not None:
            self._happens(disk)


class SteppedDisk(FaultyDisk):
    steps = Steps()

    def open(self, path: str, flags: int, mode: int = 0o644, /) -> int:
        if flags & os.O_CREAT:
            self.steps.take(self)
        return super().open(path, flags, mode)


def _stepped(name: str) -> Callable[..., Any]:
    plain = getattr(FaultyDisk, name)

    def call(self: SteppedDisk, *args: Any) -> Any:
        self.steps.take(self)
        return plain(self, *args)

    return call


for _name in ("pwrite", "ftruncate", "fdatasync", "fsync_dir", "rename", "unlink", "mkdir"):
    setattr(SteppedDisk, _name, _stepped(_name))


class Node:
    """Two directories on two disks, with one partition in the first of them; and the metadata's."""

    def __init__(self, seed: int = 0) -> None:
        self.disks = {path: SteppedDisk(seed + slot) for slot, path in enumerate(IDS)}
        self._metadata = FaultyDisk()
        self.told = IDS["/a"]
        self.safe = 0
        """Records that were acknowledged."""
        self.dirs = self.open()
        self.log = self.dirs.create_log(KEY, TOPIC_ID, directory_id=IDS["/a"])
        for _ in range(BATCHES):
            self.append()

    def open(self) -> LogDirs:
        settings = Settings(segment_bytes=600)
        dirs = LogDirs(
            [
                LogDir(path, FixedClock(), lambda _: settings, disk=disk)
                for path, disk in self.disks.items()
            ],
            LogDir("/m", FixedClock(), lambda _: settings, disk=self._metadata),
        )
        dirs.set_ids(IDS)
        dirs.open()
        dirs.recover()
        return dirs

    def append(self) -> None:
        """Flushed, and so acknowledged."""
        self.log.append(batch(2), self.log.end_offset // 10, 5)
        self.log.flush()
        self.safe = self.log.end_offset

    def copy(self, target: LogDir) -> Log:
        future = target.create_future(KEY, TOPIC_ID, self.log.bases[0])
        while future.end_offset < self.log.end_offset:
            found = self.log.read(future.end_offset, 1 << 20, self.log.end_offset)
            with found.slices[0] as part:
                future.append_replica(part.read(), 5)
        future.flush()
        # From now on the controller may be told.
        self.told = IDS["/b"]
        target.expect(self.log, future.recovery_point)
        return future

    def move(self) -> None:
        source, target = self.dirs.data
        self.log = promote(source, target, self.log, self.copy(target))
        self.append()
        self.append()

    def with_steps(self, steps: Steps) -> Steps:
        for disk in self.disks.values():
            disk.steps = steps
        return steps

    def check(self) -> None:
        """One log, in one directory, with all that was acknowledged."""
        dirs = self.open()
        holders = [each.path for each in dirs.all if KEY in each]
        assert len(holders) == 1
        log = dirs.create_log(KEY, TOPIC_ID)
        assert log.end_offset >= self.safe
        at = 0
        while at < self.safe:
            with log.read(at, 1 << 20, log.end_offset).slices[0] as part:
                assert part.read()
            at = log.segment_at(at).next_offset()
        assert [each for each in log.epochs.epochs if each * 10 < self.safe] == log.epochs.epochs
        log.append(batch(1), 9, 6)


def in_a_move(steps: Steps, seed: int = 0) -> Node:
    node = Node(seed)
    node.with_steps(steps)
    try:
        node.move()
    except Ended:
        pass
    node.with_steps(Steps())
    return node


def end(_: FaultyDisk) -> None:
    raise Ended


def count_steps() -> int:
    return in_a_move(steps := Steps()) and steps.count


def test_a_log_moves() -> None:
    node = Node()
    before = node.log
    node.move()
    source, target = node.dirs.data
    assert node.dirs.home(KEY) is target and target.logs == {KEY: node.log}
    assert not source.logs and not target.futures
    assert node.log.producers is before.producers
    assert node.log.end_offset == (BATCHES + 2) * 2
    assert node.log.epochs.entries()[:2] == before.epochs.entries()[:2]
    assert not node.disks["/b"].exists(f"/b/t-0/{names.COPY_COMPLETE}")
    node.dirs.close()
    node.check()


@pytest.mark.parametrize("fails", ["power", "process"])
def test_it_ends_at_any_step_and_nothing_is_lost(fails: str) -> None:
    count = count_steps()
    assert 20 < count < STEPS_MAX
    for at in range(1, count + 1):
        for seed in range(4 if fails == "power" else 1):
            node = in_a_move(Steps(at, end), seed)
            for disk in node.disks.values():
                disk.crash() if fails == "power" else disk.kill()
            node.check()


@pytest.mark.parametrize("broken", ["/a", "/b"])
def test_a_disk_fails_at_any_step_and_nothing_is_lost(broken: str) -> None:
    """With the disk away the partition is whole or not there; with it back it is whole."""

    def fail(disk: FaultyDisk) -> None:
        node.disks[broken].broken = broken
        if disk is node.disks[broken]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    for at in range(1, count_steps() + 1):
        node = Node(at)
        node.with_steps(Steps(at, fail))
        try:
            node.move()
        except (ApiError, StorageError, OSError):
            if not node.log.closed and KEY in node.dirs.data[0] and broken == "/b":
                node.append()  # the move has failed, and the log goes on
        node.with_steps(Steps())
        for disk in node.disks.values():
            disk.crash()
        check_away(node)
        node.disks[broken].broken = ""
        node.check()


def check_away(node: Node) -> None:
    dirs = node.open()
    assert len(dirs.offline) == 1
    try:
        log = dirs.create_log(KEY, TOPIC_ID, directory_id=node.told)
    except ApiError as error:
        assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert KEY not in dirs
    else:
        assert log.end_offset >= node.safe
    dirs.abandon()


def test_a_half_copy_is_neither_the_log_nor_nothing() -> None:
    """The controller was told, the node ended, and comes back without the disk of the log."""
    node = Node()
    node.copy(node.dirs.data[1])
    del node.disks["/a"]
    dirs = node.open()
    for where in ({}, {"is_copied": False, "directory_id": IDS["/b"]}):
        with pytest.raises(ApiError, match="was being moved to /b"):
            dirs.create_log(KEY, TOPIC_ID, **where)  # type: ignore[arg-type]
    # Another topic of that name is not concerned, nor a replica that others have all of.
    assert dirs.create_log(KEY, OTHER_ID).end_offset == 0


def test_what_others_have_is_fetched_anew() -> None:
    node = Node()
    node.copy(node.dirs.data[1])
    del node.disks["/a"]
    dirs = node.open()
    log = dirs.create_log(KEY, TOPIC_ID, directory_id=IDS["/b"], is_copied=True)
    assert log.end_offset == 0 and not dirs.kept_copies


def test_an_interrupted_move_is_remembered_and_its_copy_goes() -> None:
    node = Node()
    node.copy(node.dirs.data[1])
    dirs = node.open()
    assert dirs.unfinished == {KEY: dirs.data[1]} and dirs.home(KEY) is dirs.data[0]
    dirs.data[1].empty_trash()
    assert not [name for name in node.disks["/b"].listdir("/b") if name.startswith("t-0")]


def test_a_wish_is_kept_for_the_replica_that_comes() -> None:
    dirs = Node().dirs
    other = TopicPartition("u", 0)
    dirs.prefer(other, dirs.data[0])
    dirs.create_log(other, TOPIC_ID, directory_id=IDS["/b"], is_new=True)
    assert dirs.home(other) is dirs.data[0]
    # Once.
    dirs.delete_log(other)
    dirs.create_log(other, TOPIC_ID, directory_id=IDS["/b"], is_new=True)
    assert dirs.home(other) is dirs.data[1]


@pytest.mark.parametrize(
    ("name", "partition"),
    [
        (f"t-0.{'0' * 32}-future", KEY),
        (f"a.b-c-12.{'f' * 32}-future", TopicPartition("a.b-c", 12)),
        ("t-0.x-future", None),
        (f"t-0.{'0' * 32}-delete", None),
        (f"t.{'0' * 32}-future", None),
    ],
)
def test_names_of_copies(name: str, partition: TopicPartition | None) -> None:
    assert names.parse_future_dir(name) == partition


def test_a_name_can_be_too_long_to_move() -> None:
    assert names.may_be_moved(TopicPartition("t" * 213, 0))
    assert not names.may_be_moved(TopicPartition("t" * 214, 0))
