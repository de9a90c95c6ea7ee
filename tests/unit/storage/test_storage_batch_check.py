"""Finding damage in batches, wherever it is, and cutting the log in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.records.header import iter_batches
from penstock.storage.batch_check import check_batches, first_damage, whole
from penstock.storage.log import Log
from penstock.storage.trim import cut_at
from tests.unit.storage.storage_kit import Bench, Settings, batch

NOW = 1_000_000
EPOCH = range(12, 16)
"""Of a batch's bytes: no checksum covers them, and nothing contradicts them."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(str(tmp_path))
    yield bench
    bench.close()


def written(bench: Bench) -> Log:
    """Three segments of three batches of two records."""
    bench.settings = Settings(segment_bytes=300, index_interval_bytes=50)
    log = bench.open()
    for _ in range(9):
        log.append(batch(2), 0, NOW)
    assert len(log.segments) == 3
    return log


def flip(path: Path, position: int, mask: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= mask
    path.write_bytes(data)


def test_whole_batches_are_left_alone(bench: Bench) -> None:
    log = written(bench)
    assert first_damage(log, 0) is None
    stretch = whole(log, log.segments[1])
    fd = log.segments[1].file.open_fd()
    part = check_batches(log.disk, fd, stretch, 10)
    assert part.damage is None and 0 < part.position < stretch.end
    rest = stretch._replace(start=part.position, first_offset=part.offset)
    assert check_batches(log.disk, fd, rest, 1 << 20)[:2] == (stretch.end, stretch.end_offset)


@pytest.mark.parametrize("mask", [0x01, 0x80])
@pytest.mark.parametrize("slot", [0, 1, 2])
def test_every_byte_is_looked_at(bench: Bench, slot: int, mask: int) -> None:
    log = written(bench)
    segment = log.segments[slot]
    path = Path(segment.path)
    kept = path.read_bytes()
    starts = [(position, header) for position, header in iter_batches(kept, 0, len(kept))]
    for position in range(len(kept)):
        start, header = max(one for one in starts if one[0] <= position)
        if position - start in EPOCH:
            continue
        flip(path, position, mask)
        found = first_damage(log, 0)
        assert found is not None, f"byte {position - start} of a batch"
        assert found[0] is segment
        # In front of the batch; or one earlier, where two contradict each other.
        due = [other.base_offset for at, other in starts if at <= start][-2:]
        assert found[1].offset in due, f"byte {position - start} of {header.base_offset}"
        assert found[1].position in [at for at, _ in starts if at <= start][-2:]
        path.write_bytes(kept)


@pytest.mark.parametrize("slot", [0, 1, 2])
@pytest.mark.parametrize("byte", [3, 9, 16, 30, 70], ids=str)
def test_what_is_in_front_stays_and_the_rest_is_appended_again(
    bench: Bench, slot: int, byte: int
) -> None:
    log = written(bench)
    before = b"".join(Path(each.path).read_bytes() for each in log.segments)
    path = Path(log.segments[slot].path)
    second = list(iter_batches(path.read_bytes(), 0, path.stat().st_size))[1][0]
    flip(path, second + byte, 0x40)
    found = first_damage(log, 0)
    assert found is not None
    segment, checked = found
    cut_at(log, segment, checked.position, checked.offset)
    log.flush()
    assert log.end_offset == checked.offset
    assert path.stat().st_size == checked.position == log.active.size
    assert log.size_bytes == sum(Path(each.path).stat().st_size for each in log.segments)
    assert first_damage(log, 0) is None
    position = sum(each.size for each in log.segments)
    for at, header in list(iter_batches(before, 0, len(before))):
        if at >= position:
            log.append_replica(before[at : at + header.size], NOW)
    assert b"".join(Path(each.path).read_bytes() for each in log.segments) == before
    assert first_damage(log, 0) is None
    assert log.read(0, 10_000, log.end_offset).size_bytes > 0
