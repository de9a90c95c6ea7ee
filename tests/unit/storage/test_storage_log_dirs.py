"""Several data directories: who holds what, and what is left when one of them fails."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from penstock.model.directory_id import LOST, UNASSIGNED
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.storage.dir_lock import DirectoryInUse
from penstock.storage.log_dir import LogDir
from penstock.storage.log_dirs import LogDirs
from penstock.testing.disk import FaultyDisk
from tests.unit.storage.storage_kit import FixedClock, Settings, batch

TOPIC_ID = bytes(range(16))
KEYS = [TopicPartition("t", index) for index in range(6)]
IDS = {"/a": b"a" * 16, "/b": b"b" * 16, "/c": b"c" * 16}
BROKEN = StorageError("the disk is gone")


def log_dirs(disks: dict[str, FaultyDisk]) -> LogDirs:
    settings = Settings()
    found = LogDirs(
        [LogDir(path, FixedClock(), lambda _: settings, disk=disk) for path, disk in disks.items()]
    )
    found.set_ids(IDS)
    return found


def disks(*paths: str) -> dict[str, FaultyDisk]:
    return {path: FaultyDisk() for path in paths or ("/a", "/b", "/c")}


def held_by(directory: LogDir) -> list[TopicPartition]:
    return sorted(directory.partitions())


def refusal(dirs: LogDirs, key: TopicPartition, **where: bytes | bool) -> str:
    with pytest.raises(ApiError) as refused:
        dirs.create_log(key, TOPIC_ID, **where)  # type: ignore[arg-type]
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    return str(refused.value)


def test_new_partitions_go_where_fewest_are() -> None:
    dirs = log_dirs(disks())
    dirs.open()
    for key in KEYS:
        dirs.create_log(key, TOPIC_ID)
    assert [each.partition_count for each in dirs.all] == [2, 2, 2]
    dirs.delete_log(KEYS[0])
    assert KEYS[0] not in dirs
    dirs.create_log(TopicPartition("u", 0), TOPIC_ID)
    assert dirs.home(TopicPartition("u", 0)) is dirs.all[0]


def test_a_partition_is_found_where_it_was() -> None:
    there = disks()
    first = log_dirs(there)
    first.open()
    for key in KEYS:
        log = first.create_log(key, TOPIC_ID)
        log.append(batch(3), 0, 5)
    homes = {key: first.home(key).path for key in KEYS}  # type: ignore[union-attr]
    first.close(broker_epoch=7)
    second = log_dirs(there)
    second.open()
    assert second.was_clean and second.recover() == 0
    for key in KEYS:
        home = second.home(key)
        assert home is not None and home.path == homes[key]
        log = second.create_log(key, TOPIC_ID)
        assert log.end_offset == 3
    assert set(second.partitions()) == set(KEYS)


def test_metadata_says_where_a_replica_belongs() -> None:
    dirs = log_dirs(disks())
    dirs.open()
    dirs.create_log(KEYS[0], TOPIC_ID, directory_id=IDS["/c"])
    assert dirs.home(KEYS[0]) is dirs.all[2]
    # A disk that was replaced is filled again by others, and never begun anew by the only copy.
    assert "is away" in refusal(dirs, KEYS[1], directory_id=b"?" * 16)
    assert KEYS[1] not in dirs
    dirs.create_log(KEYS[1], TOPIC_ID, directory_id=b"?" * 16, is_copied=True)
    assert KEYS[1] in dirs


def test_a_failed_directory_takes_its_own_partitions_alone() -> None:
    dirs = log_dirs(disks())
    told: list[tuple[str, StorageError]] = []
    dirs.on_offline = lambda directory, error: told.append((directory.path, error))
    dirs.open()
    for key in KEYS:
        dirs.create_log(key, TOPIC_ID)
    lost = held_by(dirs.all[1])
    dirs.all[1].fail(BROKEN)
    dirs.all[1].fail(StorageError("again"))
    assert told == [("/b", BROKEN)]
    assert dirs.ids(dirs.online) == [IDS["/a"], IDS["/c"]]
    assert dirs.is_usable
    for key in KEYS:
        if key in lost:
            assert "is offline" in refusal(dirs, key)
        else:
            dirs.create_log(key, TOPIC_ID)
    assert held_by(dirs.all[1]) == lost
    dirs.checkpoint()
    dirs.close()


def test_what_may_be_in_a_failed_directory_is_not_made_anew() -> None:
    there = disks()
    first = log_dirs(there)
    first.open()
    first.create_log(KEYS[0], TOPIC_ID, directory_id=IDS["/b"])
    first.close()
    second = log_dirs(there)
    there["/b"].mkdir = _fail  # type: ignore[method-assign]
    second.open()
    assert [each.path for each in second.online] == ["/a", "/c"]
    assert "may be in a directory that is offline" in refusal(second, KEYS[0])
    assert "may be in a directory that is offline" in refusal(second, KEYS[0], directory_id=LOST)
    assert "is away" in refusal(second, KEYS[0], directory_id=IDS["/b"], is_copied=True)
    # One that never was anywhere cannot be there.
    second.create_log(KEYS[1], TOPIC_ID, directory_id=UNASSIGNED, is_new=True)
    assert second.home(KEYS[1]) in second.online


def _fail(path: str) -> None:
    raise OSError(errno.EIO, "Input/output error", path)


def test_without_the_metadata_there_is_no_node() -> None:
    there = disks()
    there["/a"].mkdir = _fail  # type: ignore[method-assign]
    with pytest.raises(StorageError, match="cannot use /a"):
        log_dirs(there).open()
    dirs = log_dirs(disks())
    dirs.open()
    dirs.metadata.fail(BROKEN)
    assert not dirs.is_usable


def test_a_partition_in_two_directories() -> None:
    there = disks("/a", "/b")
    for path in ("/a", "/b"):
        alone = log_dirs({path: there[path]})
        alone.open()
        alone.create_log(KEYS[0], TOPIC_ID)
        alone.close()
    with pytest.raises(StorageError, match="t-0 is in /a and in /b: move one of the two away"):
        log_dirs(there).open()


def test_a_directory_of_another_process(tmp_path: Path) -> None:
    """Is no failed disk: the node does not start without it."""
    settings = Settings()
    paths = [str(tmp_path / name) for name in "ab"]
    held = LogDir(paths[1], FixedClock(), lambda _: settings)
    held.open()
    second = LogDirs([LogDir(path, FixedClock(), lambda _: settings) for path in paths])
    with pytest.raises(DirectoryInUse, match="in use by another process"):
        second.open()
    second.abandon()
    held.abandon()


def test_one_that_may_not_be_written_to_is_no_failed_disk() -> None:
    there = disks("/a", "/b")

    def refuse(path: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    there["/b"].mkdir = refuse  # type: ignore[method-assign]
    alone = log_dirs({"/a": there["/a"]})
    alone.open()
    alone.close(broker_epoch=3)
    with pytest.raises(StorageError, match="give this user the right to write there"):
        log_dirs(there).open()
    # The start that was refused has left the other as it was.
    alone = log_dirs({"/a": there["/a"]})
    alone.open()
    assert alone.last_broker_epoch == 3


def test_metadata_may_have_a_directory_of_its_own() -> None:
    settings = Settings()
    apart, *data = [
        LogDir(path, FixedClock(), lambda _: settings, disk=disk) for path, disk in disks().items()
    ]
    dirs = LogDirs(data, apart)
    dirs.set_ids(IDS)
    dirs.open()
    for key in KEYS:
        dirs.create_log(key, TOPIC_ID)
    assert [each.partition_count for each in dirs.all] == [3, 3, 0]
    assert dirs.ids(dirs.online) == [IDS["/b"], IDS["/c"]]
    for each in data:
        assert dirs.is_usable
        each.fail(BROKEN)
    assert not dirs.is_usable
    dirs.abandon()


def test_an_unclean_stop_of_one_recovers_that_one() -> None:
    there = disks("/a", "/b")
    first = log_dirs(there)
    first.open()
    for key in KEYS[:2]:
        first.create_log(key, TOPIC_ID).append(batch(3), 0, 5)
    first.all[0].close()
    there["/b"].kill()
    second = log_dirs(there)
    second.open()
    assert not second.was_clean
    assert second.recover() == 1


def test_new_partitions_do_not_go_where_it_is_cordoned() -> None:
    dirs = log_dirs(disks())
    dirs.open()
    dirs.create_log(KEYS[0], TOPIC_ID)
    dirs.cordoned = frozenset({"/a", "/c"})
    for key in KEYS[1:3]:
        dirs.create_log(key, TOPIC_ID)
    assert [each.partition_count for each in dirs.all] == [1, 2, 0]
    # Chosen by the controller just before the last of them was cordoned.
    dirs.cordoned = frozenset({"/a", "/b", "/c"})
    dirs.create_log(KEYS[3], TOPIC_ID)
    assert [each.partition_count for each in dirs.all] == [1, 2, 1]
    # What is there stays, and is found where metadata has it.
    assert dirs.home(KEYS[0]) is dirs.all[0]
    dirs.create_log(KEYS[4], TOPIC_ID, directory_id=IDS["/a"])
    assert dirs.home(KEYS[4]) is dirs.all[0]
