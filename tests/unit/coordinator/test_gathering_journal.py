"""Commits that are held until the end of a read: whether they count as committed before that."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.coordinator.gathering_journal import GatheringJournal
from penstock.coordinator.group_codec import decode_entries, encode_commits, encode_entries
from penstock.group import GroupEntry
from penstock.group.record import TxnMarker, offset_commit_record
from penstock.metadata.partition import PartitionImage
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.network.held import HeldWrites
from penstock.protocol.messages.records.offset_commit import OffsetCommitValue
from penstock.replication.partition import Partition
from tests.unit.replication.replica_kit import new_partition
from tests.unit.storage.storage_kit import FixedClock

NEVER = 2**63 - 1
AT_ONCE = 1


def led_partition(folder: Path, flush_messages: int, replicas: tuple[int, ...]) -> Partition:
    partition = new_partition(folder, flush_messages=flush_messages)
    state = PartitionImage(
        leader=1, leader_epoch=6, partition_epoch=7, replicas=replicas, isr=replicas
    )
    partition.lead(state, min_isr=1)
    return partition


def held_commit(partition: Partition) -> tuple[GatheringJournal[GroupEntry], HeldWrites, int]:
    """And the offset behind it."""
    held = HeldWrites()
    journal = GatheringJournal(
        partition, FixedClock(), encode_entries, decode_entries, held, encode_commits
    )
    held.begin()
    value = OffsetCommitValue(offset=5, leader_epoch=-1, metadata="", commit_timestamp=0)
    base_offset = journal.append([offset_commit_record("g", "t", 0, value)])
    assert partition.log.end_offset == 0, "written with the others of this read"
    return journal, held, base_offset + 1


def test_alone_a_held_commit_needs_no_other_wait(tmp_path: Path) -> None:
    partition = led_partition(tmp_path, NEVER, (1,))
    journal, held, end_offset = held_commit(partition)
    assert journal.is_committed(end_offset)
    assert held.end(), "nothing was lost"
    assert partition.log.high_watermark == end_offset


@pytest.mark.parametrize(
    ("flush_messages", "replicas"),
    [(AT_ONCE, (1,)), (NEVER, (1, 2, 3)), (AT_ONCE, (1, 2, 3))],
    ids=["disk", "replicas", "both"],
)
def test_a_held_commit_that_waits_for_more(
    tmp_path: Path, flush_messages: int, replicas: tuple[int, ...]
) -> None:
    journal, _, end_offset = held_commit(led_partition(tmp_path, flush_messages, replicas))
    assert not journal.is_committed(end_offset)


def test_one_that_lost_the_lead_commits_nothing(tmp_path: Path) -> None:
    partition = led_partition(tmp_path, NEVER, (1,))
    journal, held, end_offset = held_commit(partition)
    partition.follow(
        PartitionImage(leader=2, leader_epoch=7, partition_epoch=8, replicas=(1, 2), isr=(2,))
    )
    assert not journal.is_committed(end_offset)
    assert not held.end(), "replies that were made before must not leave"


def test_what_cannot_be_written_in_front_of_something_else_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the end of the read nothing is held any more. Its reply must not leave all the same."""
    partition = led_partition(tmp_path, NEVER, (1,))
    journal, held, end_offset = held_commit(partition)
    assert journal.is_committed(end_offset)
    monkeypatch.setattr(Partition, "append", _full)
    with pytest.raises(StorageError):
        journal.append([TxnMarker(1, 0, True, 0)])
    assert not held.end()


def _full(*_: object) -> None:
    raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "no space left")
