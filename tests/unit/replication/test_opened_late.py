"""A partition comes to be led without its log being touched; whoever comes first opens it."""

from __future__ import annotations

from pathlib import Path

from penstock.records.header import parse_header
from penstock.replication.partition import Partition
from penstock.storage.append_check import Origin
from tests.unit.replication.replica_kit import image, new_partition
from tests.unit.storage.storage_kit import batch


def led(folder: Path) -> Partition:
    """Of three replicas, and opened by nobody."""
    partition = new_partition(folder)
    partition.lead(image(leader=1, epoch=6), min_isr=1)
    return partition


def test_to_lead_opens_nothing(tmp_path: Path) -> None:
    partition = led(tmp_path)
    assert not partition.is_open
    assert partition.leader is not None
    assert partition.leader.isr == (1, 2, 3)


def test_the_first_fetch_finds_where_the_epoch_began(tmp_path: Path) -> None:
    before = led(tmp_path)
    before.append(memoryview(batch(4)), 1000, Origin.CLIENT)
    before.log.close()
    partition = led(tmp_path)
    partition.lead(image(leader=1, epoch=7), min_isr=1)
    partition.on_replica_fetch(2, 200, 4, 0)
    assert partition.leader is not None
    assert partition.leader.start_offset == 4
    assert partition.log.epochs.entries() == [(6, 0), (7, 4)]


def test_the_first_append_is_of_the_present_epoch(tmp_path: Path) -> None:
    partition = led(tmp_path)
    records = batch(1)
    partition.append(memoryview(records), 1000, Origin.CLIENT)
    assert parse_header(records).partition_leader_epoch == 6


def test_what_the_log_holds_counts_once_all_have_it(tmp_path: Path) -> None:
    before = led(tmp_path)
    before.append(memoryview(batch(4)), 1000, Origin.CLIENT)
    before.log.close()
    partition = led(tmp_path)
    for replica_id in (2, 3):
        partition.on_replica_fetch(replica_id, 100 * replica_id, 4, 0)
    assert partition.high_watermark == 4
