"""The small things that everything in storage does with a disk."""

from __future__ import annotations

import pytest

from penstock.storage.disk import RealDisk, SequentialFile, make_directory, replace_file
from penstock.testing.disk import FaultyDisk


@pytest.mark.parametrize("seed", range(10))
def test_a_new_directory_is_there_after_a_power_failure(seed: int) -> None:
    disk = FaultyDisk(seed)
    make_directory(disk, "/srv/kafka/data")
    replace_file(disk, "/srv/kafka/data/file", b"synced")
    disk.crash()
    assert list(disk.listdir("/srv/kafka/data")) == ["file"]


def test_a_directory_that_is_there_is_left_as_it_is() -> None:
    disk = FaultyDisk()
    make_directory(disk, "/data")
    synced: list[str] = []
    disk.fsync_dir = synced.append  # type: ignore[method-assign,assignment]
    make_directory(disk, "/data")
    assert synced == []
    make_directory(disk, "/data/a/b")
    assert synced == ["/data/a", "/data"]


def test_a_directory_above_that_cannot_be_read_is_no_reason_to_fail() -> None:
    class Forbidding(RealDisk):
        def __init__(self) -> None:
            self.mkdir = lambda path: None
            self.exists = lambda path: path == "/"
            self.fsync_dir = self._refuse

        @staticmethod
        def _refuse(path: str) -> None:
            raise PermissionError(path)

    make_directory(Forbidding(), "/data")


def test_a_file_is_read_from_its_beginning_in_pieces() -> None:
    disk = FaultyDisk()
    make_directory(disk, "/data")
    replace_file(disk, "/data/file", b"abcdefg")
    with SequentialFile(disk, "/data/file") as file:
        assert [file.read(3) for _ in range(4)] == [b"abc", b"def", b"g", b""]
    assert disk.open_count == 0
