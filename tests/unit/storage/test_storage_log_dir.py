from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from queue import Queue

import pytest

from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.storage.disk import Disk, RealDisk
from penstock.storage.flush.flusher import Flusher
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.meta_properties import read_meta_properties, write_meta_properties
from penstock.storage.trim import delete_records_before
from penstock.testing.disk import FaultyDisk
from tests.unit.storage.storage_kit import FixedClock, Settings, batch

A, B = TopicPartition("a-a", 0), TopicPartition("b", 11)
TOPIC_ID = bytes(range(16))


def open_dir(path: Path | str, disk: Disk | None = None, **changes: object) -> LogDir:
    settings = Settings().but(**changes)
    found = LogDir(str(path), FixedClock(), lambda _: settings, disk=disk)
    found.open()
    return found


def test_logs_open_when_touched_and_not_before(tmp_path: Path) -> None:
    first = open_dir(tmp_path)
    for partition in (A, B):
        log = first.create_log(partition, TOPIC_ID)
        log.append(batch(3), 0, 5)
        log.advance_high_watermark(3)
    first.close(broker_epoch=4)
    marker = tmp_path / ".kafka_cleanshutdown"
    assert json.loads(marker.read_text()) == {"version": 0, "brokerEpoch": 4}
    second = open_dir(tmp_path)
    assert not marker.exists()
    assert second.recover() == 0
    assert set(second.partitions()) == {A, B}
    assert second.logs == {}
    assert second.topic_id(A) == TOPIC_ID
    assert second.size_bytes(A) > 0
    assert second.high_watermark(B) == 3
    log = second.log(A)
    assert log is not None and log.end_offset == 3 and log.recovery_point == 3
    assert list(second.logs) == [A]
    assert second.log(TopicPartition("b", 1)) is None
    second.close()


def test_watermarks_come_back_with_their_logs(tmp_path: Path) -> None:
    first = open_dir(tmp_path)
    for partition, mark in ((A, 2), (B, 3)):
        log = first.create_log(partition, TOPIC_ID)
        log.append(batch(1), 0, 5)
        log.append(batch(1), 0, 5)
        log.append(batch(1), 0, 5)
        log.advance_high_watermark(mark)
    first.close()
    second = open_dir(tmp_path)
    log = second.log(A)
    assert log is not None and log.high_watermark == 2
    # Nobody has touched the other one, as where its leader is away (KAFKA-1647).
    second.checkpoint()
    second.abandon()
    third = open_dir(tmp_path)
    assert third.high_watermark(B) == 3
    log = third.log(B)
    assert log is not None and log.high_watermark == 3
    third.close()


def test_a_watermark_behind_what_a_crash_left_is_the_end(tmp_path: Path) -> None:
    first = open_dir(tmp_path)
    log = first.create_log(A, TOPIC_ID)
    log.append(batch(1), 0, 5)
    log.append(batch(1), 0, 5)
    log.advance_high_watermark(2)
    first.close()
    os.truncate(log.active.path, log.active.size - 1)
    (tmp_path / ".kafka_cleanshutdown").unlink()
    (tmp_path / "recovery-point-offset-checkpoint").unlink()
    second = open_dir(tmp_path)
    second.recover()
    log = second.logs[A]
    assert log.end_offset == log.high_watermark == 1
    second.close()


def test_after_a_crash_everything_is_recovered(tmp_path: Path) -> None:
    first = open_dir(tmp_path)
    for partition in (A, B):
        first.create_log(partition, TOPIC_ID).append(batch(3), 0, 5)
    log = first.log(A)
    assert log is not None
    with open(log.active.path, "ab") as file:
        file.write(b"torn")
    first.cache.close_all()
    assert first._lock is not None
    first._lock.release()
    second = open_dir(tmp_path)
    seen: list[tuple[int, int]] = []
    assert second.recover(lambda done, total: seen.append((done, total))) == 2
    assert seen == [(1, 2), (2, 2)]
    assert all(log.end_offset == 3 for log in second.logs.values())
    second.close()


def test_a_second_process_is_kept_out(tmp_path: Path) -> None:
    held = open_dir(tmp_path)
    code = (
        "import sys; from penstock.storage.dir_lock import DirectoryLock\n"
        "try: DirectoryLock(sys.argv[1])\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{tmp_path} is in use by another process (pid {os.getpid()})\n"
    held.close()
    open_dir(tmp_path).close()


def test_deleted_logs_leave_in_two_steps(tmp_path: Path) -> None:
    found = open_dir(tmp_path, file_delete_delay_ms=10)
    found.create_log(A, TOPIC_ID).append(batch(), 0, 5)
    found.delete_log(A)
    assert A not in found
    (name,) = [name for name in os.listdir(tmp_path) if name.endswith("-delete")]
    assert name.startswith("a-a-0.")
    found.create_log(A, TOPIC_ID)
    assert found.empty_trash() == 0
    found.clock.ms += 10  # type: ignore[attr-defined]
    assert found.empty_trash() == 1
    assert name not in os.listdir(tmp_path)
    found.close()


def delete_trimmed(directory: LogDir) -> None:
    """A log whose first records were deleted, as the directory remembers, and then the rest."""
    old = directory.create_log(A, TOPIC_ID)
    for _ in range(20):
        old.append(batch(), 0, 5)
    old.advance_high_watermark(20)
    delete_records_before(old, 15)
    directory.checkpoint()
    directory.delete_log(A)


def test_what_is_remembered_of_a_deleted_log_says_nothing_of_the_next_one(tmp_path: Path) -> None:
    """A kill before the next checkpoint must not cut that to where the old one began."""
    first = open_dir(tmp_path)
    delete_trimmed(first)
    new = first.create_log(A, bytes(16))
    for _ in range(10):
        new.append(batch(), 0, 5)
    new.flush()
    first.abandon()
    second = open_dir(tmp_path)
    second.recover()
    log = second.log(A)
    assert log is not None
    assert (log.log_start_offset, log.end_offset) == (0, 10)
    assert second.high_watermark(A) == 0
    second.close()


def test_the_next_log_of_a_name_begins_at_its_beginning_after_a_kill_too(tmp_path: Path) -> None:
    first = open_dir(tmp_path)
    delete_trimmed(first)
    first.abandon()
    second = open_dir(tmp_path)
    second.recover()
    new = second.create_log(A, bytes(16))
    assert (new.log_start_offset, new.end_offset) == (0, 0)
    new.append(batch(), 0, 5)
    new.flush()
    second.abandon()
    third = open_dir(tmp_path)
    third.recover()
    log = third.log(A)
    assert log is not None
    assert (log.log_start_offset, log.end_offset) == (0, 1)
    third.close()


def test_a_sync_that_a_deletion_overtook_does_no_harm(tmp_path: Path) -> None:
    found = open_dir(tmp_path)
    log = found.create_log(A, TOPIC_ID)
    log.append(batch(), 3, 5)
    ticket = log.flush_start()
    found.delete_log(A)
    ticket.sync(found.disk)
    found.create_log(A, TOPIC_ID)
    ticket.sync(found.disk)
    log.flush_done(ticket)
    assert "leader-epoch-checkpoint" not in os.listdir(tmp_path / str(A))
    found.close()


def test_deleted_directories_of_last_time_go(tmp_path: Path) -> None:
    (tmp_path / "a-0.0123-delete").mkdir()
    found = open_dir(tmp_path)
    assert found.empty_trash() == 1
    assert not (tmp_path / "a-0.0123-delete").exists()
    found.close()


def test_an_offline_directory_serves_nothing(tmp_path: Path) -> None:
    found = open_dir(tmp_path)
    found.fail(StorageError("bad"))
    with pytest.raises(ApiError) as raised:
        found.create_log(A, TOPIC_ID)
    assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    found.close()
    assert not (tmp_path / ".kafka_cleanshutdown").exists()


def test_meta_properties(tmp_path: Path) -> None:
    disk, path = RealDisk(), str(tmp_path)
    assert read_meta_properties(disk, path) is None
    write_meta_properties(disk, path, {"version": "1", "cluster.id": "x"})
    assert read_meta_properties(disk, path) == {"version": "1", "cluster.id": "x"}


class Loop:
    """Stands for an event loop: what a thread hands over runs here, when asked."""

    def __init__(self, disk: Disk) -> None:
        self.calls: Queue = Queue()
        self.flushed: list[int] = []
        self.failed: list[StorageError] = []
        self.flusher = Flusher(
            disk,
            self.calls.put,
            lambda _, error: self.failed.append(error),
        )
        self.flusher.start()

    def request(self, log: Log) -> None:
        log.on_flushed = lambda log: self.flushed.append(log.recovery_point)
        self.flusher.request(log)

    def run_one(self) -> None:
        self.calls.get(timeout=10)()


def test_flushes_are_shared_and_move_the_recovery_point(tmp_path: Path) -> None:
    found = open_dir(tmp_path, segment_bytes=300)
    loop = Loop(found.disk)
    logs = [found.create_log(partition, TOPIC_ID) for partition in (A, B)]
    for log in logs:
        for _ in range(5):
            log.append(batch(2), 0, 5)
            loop.request(log)
    while sum(log.recovery_point == 10 for log in logs) < 2:
        loop.run_one()
    assert loop.flushed[-1] == 10
    assert all(log.unflushed_messages == 0 for log in logs)
    loop.flusher.close()
    found.close()


def test_nothing_counts_after_a_failed_sync() -> None:
    disk = FaultyDisk(3)
    disk.mkdir("/data")
    found = open_dir("/data", disk)
    loop = Loop(disk)
    first, second = found.create_log(A, TOPIC_ID), found.create_log(B, TOPIC_ID)
    first.append(batch(), 0, 5)
    disk.sync_errno = errno.EIO
    loop.request(first)
    loop.run_one()
    disk.sync_errno = 0
    for log in (first, second):
        log.append(batch(), 0, 5)
        loop.request(log)
        loop.run_one()
    assert loop.flushed == []
    assert len(loop.failed) == 3
    assert (first.recovery_point, second.recovery_point) == (0, 0)
    loop.flusher.close()


def test_flush_ms(tmp_path: Path) -> None:
    found = open_dir(tmp_path, flush_ms=100)
    log = found.create_log(A, TOPIC_ID)
    assert found.flush_due(1000) == []
    log.append(batch(), 0, 1000)
    assert found.flush_due(1099) == []
    assert found.flush_due(1100) == [log]
    log.flush()
    assert found.flush_due(5000) == []
    found.close()


def test_an_acknowledged_record_in_a_new_log_survives_power_loss() -> None:
    for seed in range(30):
        disk = FaultyDisk(seed)
        disk.mkdir("/data")
        disk.sync_all()
        found = open_dir("/data", disk)
        log = found.create_log(A, TOPIC_ID)
        log.append(batch(2), 0, 5)
        log.flush()
        log.append(batch(2), 0, 5)
        disk.crash()
        again = open_dir("/data", disk)
        again.recover()
        log = again.log(A)
        assert log is not None
        assert log.end_offset >= 2
        assert again.topic_id(A) == TOPIC_ID
