"""The files of a spool: what a crash leaves, what is damaged, how much room there is."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from penstock.client.sender.record import Record, decode_frame, encode_frame
from penstock.client.sender.spool import SpoolFiles, SpoolFullError

RECORDS = some.builds(
    Record,
    topic=some.text(min_size=1, max_size=20),
    key=some.none() | some.binary(max_size=50),
    value=some.none() | some.binary(max_size=200),
    headers=some.lists(some.tuples(some.text(max_size=9), some.none() | some.binary(max_size=9))),
    partition=some.integers(-1, 1000),
    timestamp_ms=some.integers(0, 2**53),
)


@given(RECORDS, some.data())
def test_a_frame_is_read_as_written_or_not_at_all(record: Record, data: some.DataObject) -> None:
    frame = encode_frame(record)
    assert decode_frame(b"xy" + frame, 2) == (record, len(frame) + 2)
    cut = data.draw(some.integers(0, len(frame) - 1))
    assert decode_frame(frame[:cut], 0) is None


def record(number: int) -> Record:
    return Record("t", b"k", b"%d" % number + b"x" * 20_000, [], -1, 0)


def opened(folder: Path, bytes_max: int = 1_000_000) -> SpoolFiles:
    return SpoolFiles(folder, bytes_max, sync=False)


def numbers(files: SpoolFiles) -> list[int]:
    found = []
    while piece := files.read(50_000):
        found += [int((each.value or b"").rstrip(b"x")) for each, _ in piece]
        files.advance(piece[-1][1])
    return found


def test_segments_go_when_they_are_sent(tmp_path: Path) -> None:
    files = opened(tmp_path)
    for number in range(12):
        files.append([record(number)])
    assert len(list(tmp_path.glob("*.spool"))) == 3
    first = files.read(1)
    files.advance(first[0][1])
    files.close()
    files = opened(tmp_path)
    assert numbers(files) == list(range(1, 12))
    assert files.is_empty and not list(tmp_path.glob("*.spool"))
    files.append([record(50)])
    files.close()
    assert numbers(opened(tmp_path)) == [50]


def test_what_was_half_written_is_cut_off(tmp_path: Path) -> None:
    files = opened(tmp_path)
    files.append([record(1), record(2)])
    files.close()
    (segment,) = tmp_path.glob("*.spool")
    segment.write_bytes(segment.read_bytes() + encode_frame(record(3))[:-5])
    files = opened(tmp_path)
    files.append([record(4)])
    assert numbers(files) == [1, 2, 4]


def test_a_damaged_segment_stays_beside(tmp_path: Path) -> None:
    files = opened(tmp_path)
    for number in range(12):
        files.append([record(number)])
    files.close()
    first = min(tmp_path.glob("*.spool"))
    content = bytearray(first.read_bytes())
    content[25_000] ^= 1
    first.write_bytes(content)
    assert numbers(opened(tmp_path)) == [0, *range(4, 12)]
    assert len(list(tmp_path.glob("*.damaged"))) == 1


def test_no_room_is_said_and_nothing_half_kept(tmp_path: Path) -> None:
    files = opened(tmp_path, 50_000)
    files.append([record(1)])
    with pytest.raises(SpoolFullError, match="is full"):
        files.append([record(2), record(3)])
    files.append([record(4)])
    assert numbers(files) == [1, 4]


def short(number: int) -> Record:
    return Record("t", b"k", b"%d" % number + b"x" * 1_000, [], -1, 0)


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """As where a disk is full: a write takes what there is room for, and the rest is refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_a_full_disk_refused_is_not_in_the_way_of_what_comes_later(tmp_path: Path) -> None:
    files = opened(tmp_path)
    files.append([short(1)])
    with files_end_at(1_500), pytest.raises(SpoolFullError, match="File too large"):
        files.append([short(2)])
    files.append([short(3)])
    assert numbers(files) == [1, 3]
