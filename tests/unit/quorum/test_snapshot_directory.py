"""Snapshots that come from another node, and the log behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.protocol.messages.records.no_op_record import NoOpRecord
from penstock.quorum.loading import load
from penstock.quorum.metadata_log import MetadataLog
from penstock.raft import EpochEnd, SnapshotId, VoterSet
from tests.unit.quorum.log_kit import fill, open_metadata_log, snapshot_bytes

METADATA = "__cluster_metadata-0"
DATA = Path(__file__).parent / "data" / "kafka-4.3" / METADATA


def install(log: MetadataLog, snapshot_id: SnapshotId, data: bytes, chunk: int = 100) -> None:
    partial = log.snapshots.begin(snapshot_id)
    for position in range(0, len(data), chunk):
        assert partial.size_bytes == position
        partial.append(data[position : position + chunk])
    partial.complete()
    log.snapshots.add(snapshot_id, partial.size_bytes)
    log.restart_behind(snapshot_id)


def test_a_snapshot_received_in_pieces_takes_the_place_of_the_log(tmp_path: Path) -> None:
    log = open_metadata_log(tmp_path)
    fill(log, (1, 3))
    install(log, SnapshotId(100, 7), snapshot_bytes([NoOpRecord()] * 20))
    assert (log.start_offset, log.end_offset, log.high_watermark) == (100, 100, 100)
    assert log.last_epoch == 7 and log.latest_snapshot == SnapshotId(100, 7)
    assert log.end_of_epoch(7) == EpochEnd(7, 100)
    fill(log, (9, 1))
    assert log.end_of_epoch(8) == EpochEnd(7, 100)
    assert log.epoch_before(100) == 7
    log.log.close()
    again = open_metadata_log(tmp_path)
    assert (again.start_offset, again.end_offset, again.last_epoch) == (100, 101, 9)
    assert len(again.snapshots.read(SnapshotId(100, 7)).records) == 20


@pytest.mark.parametrize("kept", [0, 30, -1])
def test_a_snapshot_cut_short_is_none(tmp_path: Path, kept: int) -> None:
    log = open_metadata_log(tmp_path)
    partial = log.snapshots.begin(SnapshotId(100, 7))
    partial.append(snapshot_bytes([NoOpRecord()])[:kept])
    with pytest.raises(StorageError):
        partial.complete()
    assert not list((tmp_path / METADATA).glob("*.checkpoint*"))
    assert log.latest_snapshot is None


def test_half_a_snapshot_is_gone_after_a_restart(tmp_path: Path) -> None:
    log = open_metadata_log(tmp_path)
    partial = log.snapshots.begin(SnapshotId(100, 7))
    partial.append(b"half")
    assert list((tmp_path / METADATA).glob("*.checkpoint.part"))
    again = open_metadata_log(tmp_path)
    assert not list((tmp_path / METADATA).glob("*.part"))
    assert again.latest_snapshot is None


def test_a_crash_before_the_log_was_dropped_is_made_up_for(tmp_path: Path) -> None:
    log = open_metadata_log(tmp_path)
    fill(log, (1, 3))
    partial = log.snapshots.begin(SnapshotId(100, 7))
    partial.append(snapshot_bytes())
    partial.complete()
    log.log.release_files()
    again = open_metadata_log(tmp_path)
    assert again.end_offset == 3
    loaded = load(again, VoterSet())
    assert loaded.snapshot_id == SnapshotId(100, 7)
    assert (again.start_offset, again.end_offset, again.last_epoch) == (100, 100, 7)
    assert again.high_watermark == 100


def test_a_damaged_snapshot_never_makes_the_log_go(tmp_path: Path) -> None:
    log = open_metadata_log(tmp_path)
    fill(log, (1, 3))
    log.log.close()
    damaged = tmp_path / METADATA / "00000000000000000100-0000000007.checkpoint"
    damaged.write_bytes(snapshot_bytes()[:-1])
    again = open_metadata_log(tmp_path)
    assert load(again, VoterSet()).snapshot is None
    assert (again.end_offset, again.high_watermark, again.latest_snapshot) == (3, 0, None)
    assert not damaged.exists()
    assert len(list((tmp_path / METADATA).glob("*.checkpoint.*"))) == 1


def test_chunks_are_served_by_position(tmp_path: Path) -> None:
    log = open_metadata_log(tmp_path)
    data = snapshot_bytes([NoOpRecord()] * 50)
    install(log, SnapshotId(60, 2), data)
    received = b""
    while len(received) < len(data):
        chunk = log.snapshots.read_chunk(SnapshotId(60, 2), len(received), 64)
        assert chunk.size_bytes == len(data) and 0 < len(chunk.data) <= 64
        received += chunk.data
    assert received == data


def test_what_is_not_there_is_said_with_kafkas_code(tmp_path: Path) -> None:
    log = open_metadata_log(tmp_path)
    install(log, SnapshotId(60, 2), snapshot_bytes())
    for snapshot_id, position, code in (
        (SnapshotId(61, 2), 0, ErrorCode.SNAPSHOT_NOT_FOUND),
        (SnapshotId(60, 2), 1 << 20, ErrorCode.POSITION_OUT_OF_RANGE),
        (SnapshotId(60, 2), -1, ErrorCode.POSITION_OUT_OF_RANGE),
    ):
        with pytest.raises(ApiError) as refused:
            log.snapshots.read_chunk(snapshot_id, position, 10)
        assert refused.value.code == code


def test_the_snapshot_that_formatting_leaves_is_never_served(tmp_path: Path) -> None:
    (tmp_path / METADATA).mkdir(parents=True)
    name = "00000000000000000000-0000000000.checkpoint"
    (tmp_path / METADATA / name).write_bytes((DATA / name).read_bytes())
    log = open_metadata_log(tmp_path)
    assert log.snapshots.ids == [SnapshotId(0, 0)]
    assert log.latest_snapshot is None and log.earliest_snapshot is None
    assert log.snapshot_size(SnapshotId(0, 0)) is None
    with pytest.raises(ApiError):
        log.snapshots.read_chunk(SnapshotId(0, 0), 0, 10)


def test_log_and_snapshots_are_trimmed_from_the_oldest_on(tmp_path: Path) -> None:
    log = open_metadata_log(tmp_path)
    sizes = {}
    for epoch in (1, 2, 3):
        fill(log, (epoch, 10))
        snapshot_id = SnapshotId(log.end_offset, epoch)
        sizes[epoch] = log.snapshots.encode_and_write(snapshot_id, [], [], 0, 30)
        log.snapshots.add(snapshot_id, sizes[epoch])
        log.log.roll()
    whole = log.log.size_bytes + log.snapshots.size_bytes
    log.trim(whole)
    assert log.start_offset == 0
    log.trim(whole - 1)
    assert log.start_offset == 10 and log.earliest_snapshot == SnapshotId(10, 1)
    log.trim(0)
    assert log.start_offset == log.end_offset == 30
    assert log.snapshots.ids == [SnapshotId(30, 3)]
    assert log.last_epoch == 3 and log.end_of_epoch(3) == EpochEnd(3, 30)
