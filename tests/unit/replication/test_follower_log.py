"""A follower over a real log, beside a leader's real log: what came apart grows together again."""

from __future__ import annotations

import errno
from itertools import permutations
from pathlib import Path

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.records.control import build_end_marker
from penstock.replication.divergence import find_divergence
from penstock.replication.follower import (
    Append,
    AskOffset,
    FetchAnswer,
    FetchFrom,
    Follower,
    RestartAt,
    Truncate,
)
from penstock.replication.follower_log import carry_out
from penstock.storage.append_check import Origin
from penstock.storage.index.txn import TxnIndex
from penstock.storage.log import Log
from penstock.storage.lookup import aborted_txns, end_offset_for_epoch, last_stable_offset
from penstock.storage.trim import advance_log_start, delete_first_segments
from penstock.testing.disk import FaultyDisk
from tests.unit.replication.replica_kit import new_partition
from tests.unit.storage.storage_kit import Bench, Settings, batch

NOW = 1_000_000
SMALL = Settings(segment_bytes=400, index_interval_bytes=100)


def open_log(path: Path, name: str, settings: Settings = SMALL) -> Log:
    return Bench(str(path / name), settings).open()


def lead(log: Log, epoch: int, *sizes: int, commit: bool = False) -> None:
    """Lead in this epoch, and append batches of so many records."""
    log.epochs.assign(epoch, log.end_offset)
    for size in sizes:
        log.append(batch(size, timestamp=NOW + 100 * epoch), epoch, NOW)
    if commit:
        log.advance_high_watermark(log.end_offset)


def answer_of(leader: Log, asked: FetchFrom) -> FetchAnswer:
    mark, start = leader.high_watermark, leader.log_start_offset
    try:
        diverging = find_divergence(leader, asked.offset, asked.last_fetched_epoch)
        if diverging is not None:
            return FetchAnswer(0, b"", mark, start, diverging)
        slices = leader.read(asked.offset, 150, leader.end_offset).slices
    except ApiError as error:
        return FetchAnswer(error.code)
    return FetchAnswer(0, b"".join(one.read() for one in slices), mark, start)


def follow(log: Log, leader: Log, epoch: int) -> None:
    """Until the log ends where the leader's does."""
    follower = Follower(1, epoch, log)
    begun = follower.begin()
    if begun is not None:
        carry_out(log, begun, NOW)
    for _ in range(100):
        log.flush()
        request = follower.next_request(log.recovery_point, NOW)
        if isinstance(request, FetchFrom):
            action = follower.on_answer(request, answer_of(leader, request), NOW)
        else:
            assert isinstance(request, AskOffset)
            latest = request is AskOffset.LATEST
            offset = leader.end_offset if latest else leader.log_start_offset
            action = follower.on_offset(request, epoch, 0, offset, NOW)
        if action is not None:
            carry_out(log, action, NOW)
        agreed = log.end_offset == leader.end_offset and log.epochs.latest == leader.epochs.latest
        if agreed and log.high_watermark == leader.high_watermark:
            return
    pytest.fail(f"{log.end_offset} is not {leader.end_offset} after 100 fetches")


def content(log: Log, start: int = 0) -> bytes:
    found = b""
    offset = max(start, log.log_start_offset)
    while offset < log.end_offset:
        data = b"".join(one.read() for one in log.read(offset, 1 << 20, log.end_offset).slices)
        found += data
        offset = log.segment_at(offset).next_offset()
    return found


def test_a_follower_with_an_old_watermark_keeps_its_log(tmp_path: Path) -> None:
    """KIP-101: it starts anew with the watermark of long ago, and its leader dies before the first
    fetch. What was acknowledged with its help is still there."""
    leader, other = open_log(tmp_path, "leader"), open_log(tmp_path, "other")
    lead(leader, 1, 2, 2, 2, commit=True)
    follow(other, leader, 1)
    other.high_watermark = 2
    assert Follower(1, 1, other).begin() is None
    lead(other, 2, 1, commit=True)
    follow(leader, other, 2)
    assert leader.end_offset == 7
    assert content(leader) == content(other)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_fast_failovers_leave_one_log(tmp_path: Path, order: tuple[int, ...]) -> None:
    """KIP-279: A, B and A again wrote apart from each other; whoever leads then, all agree."""
    logs = [open_log(tmp_path, name) for name in "abc"]
    lead(logs[0], 1, 2, 1, commit=True)
    for other in logs[1:]:
        follow(other, logs[0], 1)
    lead(logs[0], 2, 1, 1)
    lead(logs[1], 3, 2)
    lead(logs[0], 4, 1)
    lead(logs[2], 5)
    first, *rest = (logs[at] for at in order)
    lead(first, 6, 1)
    for other in rest:
        follow(other, first, 6)
        assert content(other) == content(first)
        assert other.epochs.entries()[-1] == first.epochs.entries()[-1]


def test_missed_epochs_of_one_leader_leave_one_log(tmp_path: Path) -> None:
    """KAFKA-7164: the same leader id, two epochs later, and a tail that nobody else has."""
    leader, other = open_log(tmp_path, "leader"), open_log(tmp_path, "other")
    lead(leader, 1, 3, commit=True)
    follow(other, leader, 1)
    lead(other, 2, 1, 1)
    lead(leader, 3, 2)
    lead(leader, 4, 1)
    follow(other, leader, 4)
    assert content(other) == content(leader)
    assert other.epochs.entries() == leader.epochs.entries()


def test_an_epoch_without_a_record_is_given_up(tmp_path: Path) -> None:
    leader, other = open_log(tmp_path, "leader"), open_log(tmp_path, "other")
    lead(leader, 1, 3, commit=True)
    follow(other, leader, 1)
    lead(other, 2)
    lead(leader, 3, 1)
    follow(other, leader, 3)
    assert other.epochs.entries() == [(1, 0), (3, 3)]
    assert end_offset_for_epoch(other, 2) == (1, 3)


def test_nothing_is_known_of_what_was_cut(tmp_path: Path) -> None:
    """KAFKA-10706, 12153: epochs, sequences and transactions end with the records."""
    # In one segment: a snapshot of the producers would spare the replay that is looked at here.
    leader, other = (open_log(tmp_path, name, Settings()) for name in ("leader", "other"))
    for sequence in range(4):
        fields = {"producer_id": 7, "producer_epoch": 0, "base_sequence": sequence}
        leader.append(batch(1, is_transactional=True, **fields), 1, NOW)
    marker = build_end_marker(
        producer_id=7, producer_epoch=0, commit=False, coordinator_epoch=1, timestamp=NOW
    )
    leader.append(marker, 1, NOW, Origin.COORDINATOR)
    leader.advance_high_watermark(5)
    follow(other, leader, 1)
    for log in (leader, other):
        assert len(aborted_txns(log, 0, 5)) == 1 and last_stable_offset(log) == 5
    fields = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 4}
    other.append(batch(3, is_transactional=True, **fields), 2, NOW)
    assert last_stable_offset(other) == 5
    lead(leader, 3, 1)
    follow(other, leader, 3)
    assert end_offset_for_epoch(other, 2) == (1, 5)
    entry = other.producers.get(7)
    assert entry is not None and entry.txn_first_offset == -1
    assert last_stable_offset(other) == 5, "what ended below the watermark stays complete"
    assert len(aborted_txns(other, 0, 6)) == 1
    leader.advance_high_watermark(6)
    follow(other, leader, 3)
    assert last_stable_offset(other) == 6


def test_a_log_that_fell_behind_the_leaders_start_begins_anew(tmp_path: Path) -> None:
    """KAFKA-9491: and its watermark with it."""
    leader, other = open_log(tmp_path, "leader"), open_log(tmp_path, "other")
    lead(leader, 1, *[2] * 3, commit=True)
    follow(other, leader, 1)
    lead(leader, 2, *[2] * 30, commit=True)
    delete_first_segments(leader, len(leader.segments) - 2)
    assert leader.log_start_offset > other.end_offset
    follow(other, leader, 2)
    assert other.log_start_offset == other.bases[0] == leader.log_start_offset
    assert other.high_watermark == leader.high_watermark == leader.end_offset
    assert content(other) == content(leader)


@pytest.mark.parametrize("held", [0, 3, 8])
def test_a_leaders_log_that_starts_within_a_batch(tmp_path: Path, held: int) -> None:
    leader, other = open_log(tmp_path, "leader"), open_log(tmp_path, "other")
    if held:
        lead(other, 1, *[1] * held)
    lead(leader, 2, 5, 5, 5, commit=True)
    advance_log_start(leader, 8)
    follow(other, leader, 2)
    assert (other.log_start_offset, other.end_offset, other.high_watermark) == (8, 15, 15)
    assert content(other, 10) == content(leader, 10)


def test_a_follower_shows_no_more_than_it_has(tmp_path: Path) -> None:
    leader, other = open_log(tmp_path, "leader"), open_log(tmp_path, "other")
    lead(leader, 1, *[1] * 9, commit=True)
    follower = Follower(1, 1, other)
    request = follower.next_request(0, NOW)
    assert isinstance(request, FetchFrom)
    action = follower.on_answer(request, answer_of(leader, request), NOW)
    assert action is not None
    carry_out(other, action, NOW)
    assert 0 < other.end_offset < 9
    assert other.high_watermark == other.end_offset
    assert follower.next_request(other.recovery_point, NOW) is None, "not flushed yet"
    other.flush()
    assert follower.next_request(other.recovery_point, NOW) is not None


def test_a_cut_is_told_so_that_checkpoints_follow_it(tmp_path: Path) -> None:
    leader, other = open_log(tmp_path, "leader"), open_log(tmp_path, "other")
    lead(other, 1, 2, 2, commit=True)
    other.flush()
    assert carry_out(other, Truncate(2), NOW) is True
    assert (other.recovery_point, other.high_watermark) == (2, 2)
    assert carry_out(other, Truncate(2), NOW) is False
    lead(leader, 2, 1, 1, 1)
    assert carry_out(other, Append(content(leader, 2), 3, 0), NOW) is False
    assert carry_out(other, RestartAt(9), NOW) is True
    assert (other.log_start_offset, other.recovery_point, other.high_watermark) == (9, 9, 9)


def test_damaged_records_of_a_leader_are_not_appended(tmp_path: Path) -> None:
    leader, other = open_log(tmp_path, "leader"), open_log(tmp_path, "other")
    lead(leader, 1, 2, commit=True)
    follower = Follower(1, 1, other)
    request = follower.next_request(0, NOW)
    assert isinstance(request, FetchFrom)
    answer = answer_of(leader, request)
    bad = bytearray(answer.records)
    bad[-1] ^= 1
    action = follower.on_answer(request, answer._replace(records=bytes(bad)), NOW)
    assert action is not None
    with pytest.raises(ApiError) as refused:
        carry_out(other, action, NOW)
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE
    assert other.end_offset == other.high_watermark == 0


@pytest.mark.parametrize("seed", range(20))
def test_what_was_cut_does_not_come_back_with_the_power(tmp_path: Path, seed: int) -> None:
    leader = open_log(tmp_path, "leader")
    disk = FaultyDisk(seed)
    bench = Bench("/other", SMALL, disk)
    disk.mkdir("/other")
    disk.sync_all()
    other = bench.open()
    lead(leader, 1, 2, commit=True)
    follow(other, leader, 1)
    lead(other, 2, 1, 1, 1)
    other.flush()
    lead(leader, 3, 1, 1)
    follow(other, leader, 3)
    other.flush()
    disk.crash()
    found = Bench("/other", SMALL, disk).open(clean=False, recovery_point=0)
    assert content(found) == content(leader)
    assert found.epochs.entries() == leader.epochs.entries()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("action", "start", "end"), [(Truncate(2), 0, 2), (RestartAt(9), 9, 9)], ids=["cut", "restart"]
)
def test_a_cut_is_on_disk_before_the_next_fetch_tells_of_it(
    seed: int, action: Truncate | RestartAt, start: int, end: int
) -> None:
    disk = FaultyDisk(seed)
    disk.mkdir("/other")
    disk.sync_all()
    other = Bench("/other", SMALL, disk).open()
    lead(other, 1, 2, 2, commit=True)
    other.flush()
    carry_out(other, action, NOW)
    disk.crash()
    found = Bench("/other", SMALL, disk).open(clean=False, recovery_point=other.recovery_point)
    assert (found.log_start_offset, found.end_offset) == (start, end)


def test_what_was_written_before_the_disk_was_full_is_made_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A follower fetches nothing more before that."""
    leader = open_log(tmp_path, "leader")
    leader.append(
        batch(2, producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True), 5, NOW
    )
    marker = build_end_marker(
        producer_id=1, producer_epoch=0, commit=False, coordinator_epoch=0, timestamp=NOW
    )
    leader.append(marker, 5, NOW, Origin.COORDINATOR)
    partition = new_partition(tmp_path / "other")
    monkeypatch.setattr(TxnIndex, "append", _full)
    with pytest.raises(ApiError):
        partition.carry_out(Append(content(leader), 0, 0))
    assert partition.log.end_offset == 2
    assert partition.safe_offset == 2
    monkeypatch.undo()
    partition.carry_out(Append(content(leader, 2), 3, 0))
    assert content(partition.log) == content(leader)
    assert [txn[:3] for txn in aborted_txns(partition.log, 0, 3)] == [(1, 0, 2)]


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "full")
