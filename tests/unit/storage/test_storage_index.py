from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.storage.disk import RealDisk
from penstock.storage.file_cache import FileCache
from penstock.storage.index.offset import OffsetIndex
from penstock.storage.index.time import TimeIndex
from penstock.storage.index.txn import AbortedTxn, TxnIndex
from penstock.testing.disk import FaultyDisk


@pytest.fixture
def cache():
    cache = FileCache(RealDisk(), 8)
    yield cache
    cache.close_all()


def test_offset_entries_are_kafkas(cache: FileCache, tmp_path: Path) -> None:
    path = tmp_path / "a.index"
    index = OffsetIndex(cache, str(path), 1000, 0)
    index.append(1005, 300)
    index.append(1010, 600)
    index.release()
    assert path.read_bytes().hex() == "000000050000012c0000000a00000258"


def test_time_entries_are_kafkas_and_only_grow(cache: FileCache, tmp_path: Path) -> None:
    path = tmp_path / "a.timeindex"
    index = TimeIndex(cache, str(path), 1000, 0)
    index.append_if_later(5000, 1001)
    index.append_if_later(5000, 1002)
    index.append_if_later(4000, 1003)
    index.append_if_later(6000, 1004)
    assert index.last_entry() == (6000, 1004)
    index.release()
    assert path.read_bytes().hex() == "000000000000138800000001" + "000000000000177000000004"


@given(st.sets(st.integers(0, 100_000), max_size=700), st.integers(-5, 100_005))
def test_memory_and_file_find_the_same(keys: set[int], wanted: int) -> None:
    disk = FaultyDisk()
    disk.mkdir("/d")
    cache = FileCache(disk, 4)
    index = OffsetIndex(cache, "/d/0.index", 0, 0)
    ordered = sorted(keys)
    for slot, key in enumerate(ordered):
        index.append(key, slot * 10)
    slot = bisect_right(ordered, wanted) - 1
    expected = (ordered[slot], slot * 10) if slot >= 0 else None
    assert index.floor(wanted) == expected
    index.release()
    assert index.floor(wanted) == expected
    reopened = OffsetIndex(cache, "/d/0.index", 0, None)
    assert reopened.count == len(ordered)
    assert reopened.floor(wanted) == expected


@given(st.sets(st.integers(0, 1000), max_size=200), st.integers(0, 1000), st.booleans())
def test_truncation_leaves_what_is_before(keys: set[int], cut: int, released: bool) -> None:
    disk = FaultyDisk()
    disk.mkdir("/d")
    index = OffsetIndex(FileCache(disk, 4), "/d/0.index", 0, 0)
    for key in sorted(keys):
        index.append(key, key)
    if released:
        index.release()
    index.truncate(cut)
    index.release()
    assert index.entries() == [(key, key) for key in sorted(keys) if key < cut]
    assert disk.stat("/d/0.index").st_size == 8 * index.count


def test_aborted_transactions(cache: FileCache, tmp_path: Path) -> None:
    path = tmp_path / "a.txnindex"
    index = TxnIndex(cache, str(path))
    assert index.entries() == []
    assert not path.exists()
    first, second = AbortedTxn(7, 10, 20, 15), AbortedTxn(8, 15, 30, 31)
    index.append(first)
    index.append(second)
    assert path.stat().st_size == 68
    assert path.read_bytes()[:10].hex() == "00000000000000000007"
    found: list[AbortedTxn] = []
    assert TxnIndex(cache, str(path)).collect(21, 40, found) is False
    assert found == [second]
    index.truncate(25)
    assert index.entries() == [first]
