"""The metadata log: a tail that may go, epochs, and what other nodes read of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.model.error import InvariantError
from penstock.quorum.metadata_log import MetadataLog
from penstock.raft import EpochEnd
from penstock.records.header import CorruptBatch
from penstock.storage.flush.ticket import FlushTicket
from tests.unit.quorum.log_kit import NOW_MS, batch, fill, open_metadata_log


@pytest.fixture
def log(tmp_path: Path) -> MetadataLog:
    return open_metadata_log(tmp_path)


def test_a_follower_holds_the_bytes_of_its_leader(log: MetadataLog, tmp_path: Path) -> None:
    fill(log, (1, 1), (1, 3), (4, 2))
    follower = open_metadata_log(tmp_path / "follower")
    while follower.end_offset < log.end_offset:
        follower.append_fetched(log.read(follower.end_offset, 1), 4, NOW_MS)
    assert follower.read(0, 1 << 20) == log.read(0, 1 << 20)
    assert follower.last_epoch == 4 and follower.end_offset == 6


def test_the_first_batch_is_whole_however_large_and_the_last_is_never_cut(log: MetadataLog) -> None:
    fill(log, (1, 50), (1, 1), (1, 1))
    first = batch(0, 1, 50)
    assert log.read(0, 1) == first
    assert log.read(0, len(first) + 10) == first
    assert log.read(0, len(first) + len(batch(50, 1))) == first + batch(50, 1)
    assert log.read(52, 1 << 20) == b""


def test_a_batch_that_the_size_of_the_answer_cut_off_waits_for_the_next_fetch(
    log: MetadataLog,
) -> None:
    data = batch(0, 1, 2) + batch(2, 1)[:-3]
    assert bytes(log.append_fetched(data, 1, NOW_MS)) == batch(0, 1, 2)
    assert log.end_offset == 2
    assert not log.append_fetched(batch(2, 1)[:20], 1, NOW_MS)


@pytest.mark.parametrize("damage", ["bit", "gap", "overlap"])
def test_nothing_is_taken_of_an_answer_with_a_damaged_batch(log: MetadataLog, damage: str) -> None:
    fill(log, (1, 1))
    second = bytearray(batch({"gap": 3, "overlap": 1}.get(damage, 2), 1))
    if damage == "bit":
        second[-1] ^= 1
    with pytest.raises(CorruptBatch):
        log.append_fetched(batch(1, 1) + second, 1, NOW_MS)
    assert log.end_offset == 1


def test_batches_of_a_later_epoch_than_the_leaders_are_left(log: MetadataLog) -> None:
    """KAFKA-18723: the answer of a deposed leader may have been read after its log changed."""
    assert bytes(log.append_fetched(batch(0, 2) + batch(1, 3), 2, NOW_MS)) == batch(0, 2)
    assert log.last_epoch == 2 and log.end_offset == 1


def test_an_uncommitted_tail_goes_with_its_epoch_and_stays_gone(tmp_path: Path) -> None:
    log = open_metadata_log(tmp_path)
    fill(log, (1, 2), (2, 2), (3, 1))
    log.advance_high_watermark(2)
    log.truncate(2)
    assert (log.end_offset, log.last_epoch) == (2, 1)
    assert log.end_of_epoch(3) == EpochEnd(1, 2)
    fill(log, (5, 1))
    log.log.close()
    again = open_metadata_log(tmp_path)
    assert (again.end_offset, again.last_epoch) == (3, 5)
    assert again.end_of_epoch(4) == EpochEnd(1, 2)


def test_what_is_committed_never_goes(log: MetadataLog) -> None:
    """KAFKA-12460."""
    fill(log, (1, 2), (1, 2))
    log.advance_high_watermark(2)
    with pytest.raises(InvariantError, match="committed up to 2"):
        log.truncate(1)
    assert log.end_offset == 4


def test_the_high_watermark_waits_for_the_records_themselves(log: MetadataLog) -> None:
    fill(log, (1, 2))
    log.advance_high_watermark(9)
    assert log.high_watermark == 2
    log.advance_high_watermark(1)
    assert log.high_watermark == 2


def test_where_an_epoch_ends(log: MetadataLog) -> None:
    assert log.end_of_epoch(0) == log.end_of_epoch(3) == EpochEnd(0, 0)
    fill(log, (2, 3), (5, 4), (7, 1))
    assert log.end_of_epoch(0) == log.end_of_epoch(1) == EpochEnd(0, 0)
    assert log.end_of_epoch(2) == log.end_of_epoch(4) == EpochEnd(2, 3)
    assert log.end_of_epoch(6) == EpochEnd(5, 7)
    assert log.end_of_epoch(7) == log.end_of_epoch(8) == EpochEnd(7, 8)
    assert [log.epoch_before(offset) for offset in (0, 3, 4, 7, 8)] == [0, 2, 5, 5, 7]


def test_only_what_is_synced_counts_for_a_voter(tmp_path: Path) -> None:
    async def story() -> None:
        log = open_metadata_log(tmp_path / "voter")
        fill(log, (1, 2))
        assert log.flushed_offset == 0
        await log.wait_flushed()
        assert log.flushed_offset == 2

    asyncio.run(story())
    observer = open_metadata_log(tmp_path / "broker", synced=False)
    fill(observer, (1, 2))
    assert observer.flushed_offset == 2


def test_what_is_cut_off_during_its_flush_does_not_count_as_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        log = open_metadata_log(tmp_path)
        fill(log, (1, 1))
        await log.wait_flushed()
        fill(log, (1, 3))
        sync = FlushTicket.sync
        begun, go_on = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow_sync(ticket: FlushTicket, disk: object) -> None:
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
            sync(ticket, disk)  # type: ignore[arg-type]

        monkeypatch.setattr(FlushTicket, "sync", slow_sync)
        waiting = asyncio.create_task(log.wait_flushed())
        await begun.wait()
        log.truncate(1)
        fill(log, (2, 1))
        go_on.set()
        await waiting
        assert log.flushed_offset == 1
        await log.wait_flushed()
        assert log.flushed_offset == 2

    asyncio.run(story())
