"""Files that are not what they were: what is made anew, what goes offline alone, what is said."""

from __future__ import annotations

import errno
import logging
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.records.control import build_end_marker
from penstock.records.header import CorruptBatch, iter_batches
from penstock.storage import names
from penstock.storage.append_check import Origin
from penstock.storage.checkpoint.clean_shutdown import note_clean, take_clean
from penstock.storage.damage import DamagedFile, DamagedLog, put_aside, read_small
from penstock.storage.disk import RealDisk
from penstock.storage.flush.ticket import FlushTicket
from penstock.storage.log import Log
from penstock.storage.log_dir import LogDir
from penstock.storage.lookup import aborted_txns, offset_for_timestamp
from penstock.storage.recovery.batch_search import walk_past_damage
from penstock.storage.recovery.loader import open_log
from penstock.storage.recovery.loss import Losses
from penstock.storage.retention import apply_retention
from penstock.storage.trash import Trash
from tests.unit.storage.storage_kit import TP, Bench, FixedClock, Settings, batch
from tests.unit.storage.test_storage_log_dir import TOPIC_ID, Loop, open_dir

NOW = 1_000_000
A, B = TopicPartition("a", 0), TopicPartition("b", 0)
ROLLING = Settings(segment_bytes=1000, index_interval_bytes=100)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(str(tmp_path), ROLLING)
    yield bench
    bench.close()


def fill(log: Log, count: int = 60) -> None:
    for number in range(count):
        log.append(batch(2, timestamp=NOW + 10 * number), 0, NOW)
    log.advance_high_watermark(log.end_offset)


def all_offsets(log: Log) -> list[int]:
    found: list[int] = []
    offset = log.log_start_offset
    while offset < log.end_offset:
        (part,) = log.read(offset, 300, log.end_offset).slices
        with part:
            data = part.read()
        for _, header in iter_batches(data, 0, len(data)):
            found += range(header.base_offset, header.next_offset)
        offset = found[-1] + 1
    return found


def first(log: Log, kind: str) -> Path:
    return Path(names.segment_path(log.directory, log.bases[0], kind))


def reopened(bench: Bench, log: Log) -> Log:
    log.close()
    return bench.open()


# --- indexes ---


@pytest.mark.parametrize("kind", [names.INDEX, names.TIME_INDEX])
@pytest.mark.parametrize(
    "content",
    [b"", b"\xff" * 48, bytes(48), b"\x7f" * 7, os.urandom(240)],
    ids=["empty", "ones", "zeroes", "part", "random"],
)
def test_a_damaged_index_changes_no_answer(bench: Bench, kind: str, content: bytes) -> None:
    log = bench.open()
    fill(log)
    path = first(log, kind)
    log.close()
    path.write_bytes(content)
    log = bench.open()
    assert all_offsets(log) == list(range(120))
    for number in range(0, 60, 7):
        found = offset_for_timestamp(log, NOW + 10 * number)
        assert found is not None
        assert found.offset == 2 * number
    log.advance_high_watermark(120)
    assert apply_retention(log, NOW + 600) == 0


def test_an_entry_that_leads_to_a_later_batch_hides_nothing(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    log = bench.open()
    fill(log)
    path = first(log, names.INDEX)
    log.close()
    entries = list(struct.iter_unpack(">ii", path.read_bytes()))
    assert len(entries) > 3
    # Sorted, in the file, at the beginning of a batch: only not of the batch that it names.
    wrong = [(key, entries[-1][1]) for key, _ in entries]
    path.write_bytes(b"".join(struct.pack(">ii", *entry) for entry in wrong))
    log = bench.open()
    assert all_offsets(log) == list(range(120))
    assert "are made anew" in caplog.text
    assert str(path) in caplog.text
    assert list(struct.iter_unpack(">ii", path.read_bytes())) == entries


def test_retention_does_not_go_by_a_time_index_that_lost_its_end(bench: Bench) -> None:
    log = bench.open()
    fill(log)
    path = first(log, names.TIME_INDEX)
    log.close()
    os.truncate(path, 12)
    bench.settings = ROLLING.but(retention_ms=1000)
    log = bench.open()
    log.advance_high_watermark(120)
    newest = max(s.largest_timestamp_ms() for s in log.segments[:1])
    assert newest > NOW + 20
    assert apply_retention(log, newest + 1000) == 0


def test_what_stands_in_place_of_an_index_is_removed(bench: Bench) -> None:
    log = bench.open()
    fill(log)
    log.close()
    index, time_index = first(log, names.INDEX), first(log, names.TIME_INDEX)
    index.unlink()
    index.mkdir()
    (index / "x").touch()
    time_index.unlink()
    time_index.symlink_to(time_index)
    log = bench.open()
    assert all_offsets(log) == list(range(120))
    assert index.is_file()
    assert time_index.is_file()


def test_batches_behind_damage_are_found_when_the_index_is_gone_too(bench: Bench) -> None:
    log = bench.open()
    fill(log)
    third = log.segments[0].find(4)
    assert third is not None
    log.close()
    data = bytearray(first(log, names.LOG).read_bytes())
    data[third.position + 8] = 0x40
    first(log, names.LOG).write_bytes(data)
    first(log, names.INDEX).write_bytes(b"\xff" * 8)
    log = bench.open()
    with pytest.raises(CorruptBatch):
        log.read(4, 100, log.end_offset)
    # From the last record of the next batch on: that is what an entry names.
    assert log.read(7, 100, log.end_offset).size_bytes
    assert first(log, names.LOG).read_bytes() == data


def test_a_search_finds_every_batch_but_the_damaged_one(bench: Bench) -> None:
    bench.settings = Settings()
    log = bench.open()
    fill(log, 40)
    log.close()
    path = first(log, names.LOG)
    data = bytearray(path.read_bytes())
    places = list(iter_batches(data, 0, len(data)))
    at = places[20][0]
    for damage in (at + 8, at + 16, at + 30, at + 70):
        spoiled = bytearray(data)
        spoiled[damage] ^= 0x40
        path.write_bytes(spoiled)
        fd = os.open(path, os.O_RDONLY)
        found = list(walk_past_damage(RealDisk(), fd, 0, len(data), 0, 1000))
        os.close(fd)
        assert [position for position, _ in found] == [p for p, _ in places if p != at]


# --- transactions ---


def transact(log: Log) -> None:
    for number in range(8):
        fields = {"producer_id": 7, "producer_epoch": 0, "is_transactional": True}
        log.append(batch(2, base_sequence=2 * number, **fields), 0, NOW)
        marker = build_end_marker(
            producer_id=7,
            producer_epoch=0,
            commit=number % 2 == 1,
            coordinator_epoch=0,
            timestamp=NOW,
        )
        log.append(marker, 0, NOW, Origin.COORDINATOR)
    log.advance_high_watermark(log.end_offset)


@pytest.mark.parametrize("damage", ["byte", "cut", "random", "directory", "loop"])
def test_a_damaged_transaction_index_hides_and_shows_nothing(
    bench: Bench, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    log = bench.open()
    transact(log)
    wanted = aborted_txns(log, 0, log.end_offset)
    assert len(wanted) == 4
    path = first(log, names.TXN_INDEX)
    log.close()
    data = bytearray(path.read_bytes())
    if damage == "byte":
        data[9] ^= 1
        path.write_bytes(data)
    elif damage == "cut":
        os.truncate(path, len(data) - 34)
    elif damage == "random":
        path.write_bytes(os.urandom(len(data)))
    else:
        path.unlink()
        path.mkdir() if damage == "directory" else path.symlink_to(path)
    log = bench.open()
    assert aborted_txns(log, 0, log.end_offset) == wanted
    assert "transaction index" in caplog.text
    assert path.is_file()


def test_a_transaction_index_that_is_right_is_left_alone(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    log = bench.open()
    transact(log)
    wanted = aborted_txns(log, 0, log.end_offset)
    log = reopened(bench, log)
    assert aborted_txns(log, 0, log.end_offset) == wanted
    assert caplog.text == ""


# --- epochs ---


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"", b"0\n1\n", b"0\n1\nx y\n", b"0\n2\n5 0\n3 9\n", b"0\n1\n9 0\n"]
)
def test_damaged_leader_epochs_are_found_in_the_batches(bench: Bench, content: bytes) -> None:
    log = bench.open()
    for number in range(40):
        log.append(batch(2), 1 + number // 15, NOW)
    wanted = log.epochs.entries()
    assert len(wanted) == 3
    log.close()
    path = Path(log.directory) / names.LEADER_EPOCHS
    path.write_bytes(content)
    log = bench.open()
    assert log.epochs.entries() == wanted
    log.close()
    assert bench.open().epochs.entries() == wanted


def test_an_empty_file_of_epochs_beside_an_empty_log_is_no_damage(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """As Apache Kafka leaves it where nothing was written yet."""
    log = bench.open()
    log.close()
    (Path(log.directory) / names.LEADER_EPOCHS).write_bytes(b"")
    log = bench.open()
    assert log.epochs.entries() == []
    assert not caplog.records
    fill(log, 1)
    assert reopened(bench, log).epochs.entries() == [(0, 0)]


# --- recovery ---


def test_what_a_recovery_cuts_is_counted_and_said(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    log = bench.open()
    fill(log)
    log.flush()
    segment = log.segments[1]
    found = segment.find(segment.base_offset + 4)
    assert found is not None
    size = log.size_bytes
    bench.close()
    path = Path(segment.path)
    data = bytearray(path.read_bytes())
    data[found.position + 70] ^= 1
    path.write_bytes(data)
    losses = Losses()
    log = open_again(bench, losses)
    assert log.end_offset == found.base_offset
    lost = 120 - found.base_offset
    assert (losses.records, losses.logs) == (lost, 1)
    assert losses.size_bytes == size - log.size_bytes
    (line,) = [one.getMessage() for one in caplog.records if "is cut" in one.getMessage()]
    assert f"cut at offset {found.base_offset}" in line
    assert f"with {lost} records" in line
    assert f"offsets {found.base_offset} to 119" in line
    assert segment.path in line


def test_a_torn_end_says_what_it_cannot_know(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    log = bench.open()
    fill(log, 3)
    bench.close()
    with first(log, names.LOG).open("ab") as file:
        file.write(b"torn")
    losses = Losses()
    assert open_again(bench, losses).end_offset == 6
    assert (losses.records, losses.size_bytes, losses.logs) == (0, 4, 1)
    assert "4 bytes are gone, in which no record can be made out" in caplog.text


def test_an_end_that_is_missing_is_said(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.settings = Settings()
    log = bench.open()
    fill(log, 5)
    log.close()
    found = log.segments[0].find(6)
    assert found is not None
    os.truncate(log.segments[0].path, found.position)
    losses = Losses()
    log = open_again(bench, losses, clean=True, recovery_point=10)
    assert (log.end_offset, losses.records) == (6, 4)
    assert "4 records are gone, offsets 6 to 9" in caplog.text


def test_a_last_batch_that_lies_about_its_offset_is_not_served(bench: Bench) -> None:
    bench.settings = Settings()
    log = bench.open()
    fill(log, 5)
    log.close()
    path = first(log, names.LOG)
    data = bytearray(path.read_bytes())
    position, _ = list(iter_batches(data, 0, len(data)))[-1]
    data[position + 6] = 1
    path.write_bytes(data)
    with pytest.raises(DamagedLog, match="where 10 is due"):
        open_again(bench, Losses(), clean=True, recovery_point=10)
    log = open_again(bench, Losses(), clean=True, recovery_point=266)
    assert log.end_offset == 266


def test_neither_of_two_batches_that_contradict_each_other_is_served(bench: Bench) -> None:
    bench.settings = Settings()
    log = bench.open()
    fill(log, 5)
    log.close()
    path = first(log, names.LOG)
    data = bytearray(path.read_bytes())
    position, _ = list(iter_batches(data, 0, len(data)))[2]
    data[position + 7] = 9
    path.write_bytes(data)
    log = bench.open()
    assert all_until(log, 4) == [0, 1, 2, 3]
    for offset in (4, 5):
        with pytest.raises(CorruptBatch):
            log.read(offset, 10_000, log.end_offset)


def all_until(log: Log, end: int) -> list[int]:
    (part,) = log.read(0, 10_000, log.end_offset).slices
    with part:
        data = part.read()
    found: list[int] = []
    for _, header in iter_batches(data, 0, len(data)):
        found += range(header.base_offset, header.next_offset)
    return found


def test_whole_batches_are_kept_where_that_is_asked(bench: Bench) -> None:
    bench.settings = Settings()
    log = bench.open()
    fill(log, 5)
    found = log.segments[0].find(4)
    assert found is not None
    bench.close()
    path = first(log, names.LOG)
    data = bytearray(path.read_bytes())
    data[found.position + 70] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedLog, match=f"truncate -s {found.position} {path}"):
        open_again(bench, Losses(), keep_whole=True)
    assert path.read_bytes() == data
    os.truncate(path, len(data) - 1)
    os.truncate(path, found.position + 80)
    assert open_again(bench, Losses(), keep_whole=True).end_offset == 4


def test_a_wrong_start_drops_nothing(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    log = bench.open()
    fill(log)
    log.close()
    log = bench.open(start=5000)
    assert (log.log_start_offset, log.end_offset) == (0, 120)
    assert names.LOG_STARTS in caplog.text


def open_again(
    bench: Bench,
    losses: Losses,
    *,
    clean: bool = False,
    recovery_point: int = 0,
    keep_whole: bool = False,
) -> Log:
    return open_log(
        bench.directory,
        TP,
        bench.settings,
        bench.cache,
        bench.clock,
        bench.trash,
        clean=clean,
        recovery_point=recovery_point,
        losses=losses,
        keep_whole=keep_whole,
    )


# --- the directory ---


def two_logs(path: Path) -> LogDir:
    found = open_dir(path)
    for partition in (A, B):
        log = found.create_log(partition, TOPIC_ID)
        log.append(batch(2), 0, 5)
    return found


def test_one_damaged_log_goes_offline_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    two_logs(tmp_path).close()
    path = tmp_path / "a-0" / "00000000000000000000.log"
    path.write_bytes(b"x" * 200)
    found = open_dir(tmp_path)
    for _ in range(3):
        with pytest.raises(ApiError) as raised:
            found.log(A)
        assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert caplog.text.count("a-0 goes offline") == 1
    assert found.offline is None
    log = found.log(B)
    assert log is not None
    assert log.append(batch(), 0, 5).first_offset == 2
    found.delete_log(A)
    assert not found.damaged
    assert found.create_log(A, TOPIC_ID).end_offset == 0
    found.close()


@pytest.mark.parametrize(
    "name",
    [
        names.RECOVERY_POINTS,
        names.LOG_STARTS,
        names.HIGH_WATERMARKS,
        names.CLEAN_SHUTDOWN,
    ],
)
@pytest.mark.parametrize("kind", ["random", "directory", "loop", "huge", "pipe"])
def test_checkpoints_are_begun_anew(
    tmp_path: Path, name: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    two_logs(tmp_path).close()
    path = tmp_path / name
    if kind == "random":
        path.write_bytes(b"\xc3\x28" * 20)
    elif kind == "huge":
        os.truncate(path, 1 << 40)
    else:
        path.unlink()
        {"directory": path.mkdir, "loop": lambda: path.symlink_to(path)}.get(
            kind, lambda: os.mkfifo(path)
        )()
    found = open_dir(tmp_path)
    assert str(path) in caplog.text
    found.recover()
    log = found.log(A)
    assert log is not None
    assert log.end_offset == 2
    found.close()
    assert open_dir(tmp_path).was_clean


def test_an_error_of_the_disk_still_takes_the_directory_offline(tmp_path: Path) -> None:
    class BrokenDisk(RealDisk):
        def __init__(self) -> None:
            self.errno = 0
            self.pread = self._pread

        def _pread(self, fd: int, length: int, offset: int) -> bytes:
            if self.errno:
                raise OSError(self.errno, os.strerror(self.errno))
            return os.pread(fd, length, offset)

    disk = BrokenDisk()
    found = open_dir(tmp_path, disk)
    log = found.create_log(A, TOPIC_ID)
    for _ in range(3):
        log.append(batch(2), 0, 5)
    log.active.verified_from = log.active.verified_to = 0
    disk.errno = errno.EACCES
    with pytest.raises(DamagedLog):
        log.read(0, 100, 6)
    assert found.offline is None
    disk.errno = errno.EIO
    with pytest.raises(StorageError):
        log.read(0, 100, 6)
    assert found.offline is not None


def test_names_that_only_look_like_partitions(tmp_path: Path) -> None:
    for name in ("t-00", "t-٣", "-1", "t-99999999999", "é-0", "a b-1", "x" * 250 + "-0", "t-0x"):
        assert names.parse_partition_dir(name) is None, name
    assert names.parse_partition_dir("a-b-10") == TopicPartition("a-b", 10)
    assert names.parse_segment_name("99999999999999999999.log") is None
    for name in ("t-00", "stray", "t-0.log", "lost+found"):
        (tmp_path / name).mkdir()
    found = open_dir(tmp_path)
    assert list(found.partitions()) == []
    found.close()


def test_small_files(tmp_path: Path) -> None:
    disk = RealDisk()
    path = tmp_path / "f"
    with pytest.raises(FileNotFoundError):
        read_small(disk, str(path))
    for _ in range(3):
        path.mkdir()
        (path / "x").touch()
        with pytest.raises(DamagedFile):
            read_small(disk, str(path))
        assert Path(put_aside(disk, str(path)), "x").exists()
        assert not path.exists()
    assert len(list(tmp_path.iterdir())) == 3


def test_the_marker_of_a_clean_stop(tmp_path: Path) -> None:
    disk = RealDisk()
    assert not take_clean(disk, str(tmp_path))
    note_clean(disk, str(tmp_path), 4)
    assert take_clean(disk, str(tmp_path))
    assert not take_clean(disk, str(tmp_path))
    (tmp_path / names.CLEAN_SHUTDOWN).touch()
    assert take_clean(disk, str(tmp_path))


def test_a_log_that_cannot_be_closed_keeps_no_other_from_it(tmp_path: Path) -> None:
    found = two_logs(tmp_path)
    for path in (tmp_path / "a-0").iterdir():
        path.unlink()
    (tmp_path / "a-0").rmdir()
    found.close()
    again = open_dir(tmp_path)
    assert not again.was_clean
    again.recover()
    log = again.log(B)
    assert log is not None
    assert log.end_offset == 2
    again.close()


# --- threads ---


def test_whatever_a_sync_raises_somebody_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = two_logs(tmp_path)
    loop = Loop(found.disk)

    def fail(*_: object) -> None:
        raise ValueError("not an error of the disk")

    monkeypatch.setattr(FlushTicket, "sync", fail)
    log = found.logs[A]
    loop.request(log)
    loop.run_one()
    assert [type(error) for error in loop.failed] == [StorageError]
    assert log.recovery_point == 0
    loop.flusher.close()


def test_a_crew_that_fails_ends_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = two_logs(tmp_path)
    loop = Loop(found.disk)
    work = loop.flusher._crew.work

    def fail(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(loop.flusher._crew, "work", fail)
    with caplog.at_level(logging.ERROR):
        loop.request(found.logs[A])
        loop.run_one()
    assert len(loop.failed) == 1
    monkeypatch.setattr(loop.flusher._crew, "work", work)
    assert loop.flusher._threads[0].is_alive()
    loop.flusher.close()


def test_a_sync_that_misses_a_name_fails_its_log_alone(tmp_path: Path) -> None:
    found = two_logs(tmp_path)
    loop = Loop(found.disk)
    for path in (tmp_path / "a-0").iterdir():
        path.unlink()
    (tmp_path / "a-0").rmdir()
    for partition in (A, B):
        loop.request(found.logs[partition])
    while len(loop.failed) + len(loop.flushed) < 2:
        loop.run_one()
    assert [type(error) for error in loop.failed] == [DamagedLog]
    assert loop.flushed == [2]
    loop.flusher.close()


# --- trash ---


def test_trash_goes_whatever_is_in_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    trash = Trash(RealDisk())
    for number in range(100):
        home = tmp_path / f"t-{number}-delete"
        (home / "deeper" / "still").mkdir(parents=True)
        (home / "deeper" / "file").touch()
        (home / "loop").symlink_to(home / "loop")
        trash.add_directory(str(home), 10 + number)
    (tmp_path / "file-delete").touch()
    trash.add_directory(str(tmp_path / "file-delete"), 0)
    trash.add_directory(str(tmp_path / "missing-delete"), 0)
    assert trash.is_due(0)
    assert trash.empty(9) == 2
    assert not trash.is_due(9)
    assert trash.empty(59) == 50
    assert len(trash) == 50
    assert trash.empty(1000) == 50
    assert list(tmp_path.iterdir()) == []
    assert caplog.text == ""


def test_emptying_ends_when_its_time_is_over(tmp_path: Path) -> None:
    trash = Trash(RealDisk())
    for number in range(200):
        trash.add_file(str(tmp_path / str(number)), 0)
    clock = FixedClock()

    def now_s() -> float:
        clock.ms += 100
        return clock.ms / 1000

    assert 0 < trash.empty(1, time_s=0.15, now_s=now_s) < 200
    assert trash.is_due(1)


def test_what_cannot_be_removed_keeps_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Stubborn(RealDisk):
        def __init__(self) -> None:
            self.unlink = self._unlink

        def _unlink(self, path: str) -> None:
            if path.endswith("stubborn"):
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
            Path(path).unlink()

    trash = Trash(Stubborn())
    for name in ("a", "stubborn", "b"):
        (tmp_path / name).touch()
        trash.add_file(str(tmp_path / name), 0)
    assert trash.empty(1) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["stubborn"]
    assert "stubborn" in caplog.text
