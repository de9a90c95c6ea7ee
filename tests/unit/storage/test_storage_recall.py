"""What a producer had on its way when a node stopped is known as a duplicate afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.records.header import SEQUENCE_MAX
from penstock.storage.log import Log
from penstock.storage.producer.recall import earlier_batches
from penstock.storage.trim import truncate_to
from tests.unit.storage.storage_kit import Bench, Settings, batch

NOW = 1_000_000
SIZE = 3
"""Records of a batch."""


def part(number: int, *, pid: int = 5, epoch: int = 1, first: int = 0, size: int = 10) -> bytearray:
    sequence = (first + number * SIZE) & SEQUENCE_MAX
    return batch(SIZE, size=size, producer_id=pid, producer_epoch=epoch, base_sequence=sequence)


def fill(log: Log, numbers: range, **fields: int) -> list[int]:
    """The first offsets of the batches."""
    return [log.append(part(number, **fields), 0, NOW).first_offset for number in numbers]


def repeat(log: Log, number: int, **fields: int) -> int:
    """The offset that a repeated batch is answered with."""
    end = log.end_offset
    result = log.append(part(number, **fields), 0, NOW)
    assert result.duplicate and log.end_offset == end
    assert result.last_offset == result.first_offset + SIZE - 1
    return result.first_offset


def is_out_of_order(log: Log, number: int, **fields: int) -> bool:
    with pytest.raises(ApiError) as raised:
        log.append(part(number, **fields), 0, NOW)
    return raised.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_the_last_five_are_duplicates_after_a_clean_stop(tmp_path: Path) -> None:
    bench = Bench(str(tmp_path))
    log = bench.open()
    offsets = fill(log, range(7))
    log.close()
    log = bench.open()
    assert [repeat(log, number) for number in range(2, 7)] == offsets[2:]
    assert is_out_of_order(log, 1)
    assert is_out_of_order(log, 8)
    fill(log, range(7, 8))
    assert repeat(log, 3) == offsets[3]
    assert is_out_of_order(log, 2)


def test_they_are_found_among_other_producers_and_segments(tmp_path: Path) -> None:
    bench = Bench(str(tmp_path), Settings(segment_bytes=2000, index_interval_bytes=200))
    log = bench.open()
    offsets: dict[int, list[int]] = {pid: [] for pid in range(1, 6)}
    for number in range(8):
        for pid in offsets:
            offsets[pid] += fill(log, range(number, number + 1), pid=pid)
    assert len(log.segments) > 2
    log.close()
    log = bench.open()
    for pid, expected in offsets.items():
        assert [repeat(log, number, pid=pid) for number in range(3, 8)] == expected[3:]
        assert is_out_of_order(log, 2, pid=pid)


def test_a_crash_behind_a_new_segment_forgets_none(tmp_path: Path) -> None:
    bench = Bench(str(tmp_path))
    log = bench.open()
    offsets = fill(log, range(4))
    log.roll()
    offsets += fill(log, range(4, 6))
    log.flush()
    bench.close()
    log = bench.open(clean=False, recovery_point=log.end_offset)
    assert [repeat(log, number) for number in range(1, 6)] == offsets[1:]
    assert is_out_of_order(log, 0)


def test_a_follower_knows_what_it_was_given(tmp_path: Path) -> None:
    leader, follower = Bench(str(tmp_path / "leader")), Bench(str(tmp_path / "follower"))
    Path(leader.root).mkdir()
    Path(follower.root).mkdir()
    source, replica = leader.open(), follower.open()
    offsets = fill(source, range(6))
    (found,) = source.read(0, 1 << 20, source.end_offset).slices
    replica.append_replica(found.read(), NOW)
    assert [repeat(replica, number) for number in range(1, 6)] == offsets[1:]
    replica.close()
    replica = follower.open()
    # It is elected at once, and the producer, unanswered, comes back.
    assert [repeat(replica, number) for number in range(1, 6)] == offsets[1:]


def test_what_was_cut_off_is_not_a_duplicate(tmp_path: Path) -> None:
    bench = Bench(str(tmp_path))
    log = bench.open()
    offsets = fill(log, range(4))
    log.roll()
    offsets += fill(log, range(4, 8))
    truncate_to(log, offsets[5])
    assert [repeat(log, number) for number in range(5)] == offsets[:5]
    assert log.append(part(5), 0, NOW).first_offset == offsets[5]


def test_earlier_epochs_are_left_alone(tmp_path: Path) -> None:
    bench = Bench(str(tmp_path))
    log = bench.open()
    fill(log, range(2), epoch=1)
    offsets = fill(log, range(2), epoch=2)
    log.close()
    log = bench.open()
    assert repeat(log, 0, epoch=2) == offsets[0]
    entry = log.producers.get(5)
    assert entry is not None and len(entry.batches) == 2


def test_sequences_wrap(tmp_path: Path) -> None:
    bench = Bench(str(tmp_path))
    log = bench.open()
    first = SEQUENCE_MAX - SIZE
    offsets = fill(log, range(4), first=first)
    log.close()
    log = bench.open()
    assert repeat(log, 0, first=first) == offsets[0]


def test_looking_back_ends(tmp_path: Path) -> None:
    bench = Bench(str(tmp_path), Settings(index_interval_bytes=500))
    log = bench.open()
    fill(log, range(2))
    fill(log, range(30), pid=6)
    fill(log, range(2, 3))
    log.close()
    log = bench.open()
    entry = log.producers.get(5)
    assert entry is not None
    assert earlier_batches(log.segments, entry, 20) == []
    found = earlier_batches(log.segments, entry, 40)
    assert [each.first_offset for each in found] == [0, SIZE]


def test_a_damaged_batch_is_no_duplicate(tmp_path: Path) -> None:
    bench = Bench(str(tmp_path))
    log = bench.open()
    offsets = fill(log, range(4))
    path, damaged = Path(log.active.path), log.active.find(offsets[1])
    log.close()
    assert damaged is not None
    data = bytearray(path.read_bytes())
    data[damaged.position + damaged.size - 1] ^= 1
    path.write_bytes(data)
    log = bench.open()
    assert repeat(log, 2) == offsets[2]
    assert is_out_of_order(log, 1)
    assert is_out_of_order(log, 0)
