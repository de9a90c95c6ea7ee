from __future__ import annotations

from pathlib import Path

import pytest

from penstock.storage.disk import RealDisk
from penstock.storage.file_cache import FileCache
from penstock.storage.slice import FileSlice


@pytest.fixture
def cache() -> FileCache:
    return FileCache(RealDisk(), 3)


def make(cache: FileCache, root: Path, count: int) -> list:
    return [cache.file(str(root / f"{number}.log"), create=True) for number in range(count)]


def test_no_more_files_are_open_than_allowed(cache: FileCache, tmp_path: Path) -> None:
    files = make(cache, tmp_path, 10)
    for file in files * 3:
        assert file.open_fd() >= 0
        assert cache.open_count <= 3
    cache.close_all()
    assert cache.open_count == 0


def test_a_pinned_file_is_not_evicted(cache: FileCache, tmp_path: Path) -> None:
    files = make(cache, tmp_path, 10)
    fd = files[0].pin()
    for file in files[1:] * 2:
        file.open_fd()
    assert files[0].fd == fd
    files[0].unpin()
    for file in files[1:] * 2:
        file.open_fd()
    assert files[0].fd == -1
    cache.close_all()


def test_a_slice_outlives_its_file(cache: FileCache, tmp_path: Path) -> None:
    (file,) = make(cache, tmp_path, 1)
    RealDisk.pwrite(file.open_fd(), b"0123456789", 0)
    part = FileSlice(cache.disk, file, 2, 5)
    file.retire()
    RealDisk.unlink(file.path)
    assert part.read() == b"23456"
    assert len(part) == 5
    assert cache.open_count == 1
    part.release()
    part.release()
    assert cache.open_count == 0


def test_a_missing_file_is_not_made_by_reading_it(cache: FileCache, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        cache.file(str(tmp_path / "gone.log")).open_fd()
