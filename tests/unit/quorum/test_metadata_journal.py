"""The metadata journal over real files: restarts, snapshots, damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.metadata import RecordKind, image_records
from penstock.model.error import ApiError, InvariantError, StorageError
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.protocol.messages.records.no_op_record import NoOpRecord
from penstock.quorum.metadata_batch import read_controls
from penstock.quorum.metadata_snapshot import file_name
from penstock.records.control import KRAFT_VOTERS, LEADER_CHANGE
from penstock.records.record import iter_records
from tests.unit.quorum.journal_kit import Plane, play

METADATA = "__cluster_metadata-0"


def test_everything_is_there_again_after_a_restart(tmp_path: Path) -> None:
    async def first() -> object:
        plane = Plane(tmp_path)
        await plane.join()
        await plane.create("orders", 3)
        plane.close()
        return plane.image

    before = play(first())
    plane = Plane(tmp_path)
    assert plane.image == before
    assert plane.image.topics.partition("orders", 2).leader == 1
    assert plane.image.next_offset == plane.journal.end_offset
    plane.close()


def test_every_start_leads_in_an_epoch_of_its_own(tmp_path: Path) -> None:
    async def story() -> list[int]:
        epochs = []
        for life in (1, 2, 3):
            plane = Plane(tmp_path)
            await plane.join(life)
            epochs.append(plane.journal.epoch)
            plane.close()
        return epochs

    assert play(story()) == [1, 2, 3]
    state = json.loads((tmp_path / METADATA / "quorum-state").read_text())
    assert (state["leaderId"], state["leaderEpoch"], state["data_version"]) == (1, 3, 0)
    plane = Plane(tmp_path)
    leaders = [
        (header.partition_leader_epoch, kind)
        for header, batch in plane.journal._log.batches(0, plane.journal.end_offset)
        for kind, _ in read_controls(header, batch)
    ]
    assert leaders == [(1, LEADER_CHANGE), (2, LEADER_CHANGE), (3, LEADER_CHANGE)]
    plane.close()


def test_no_epoch_is_used_twice_even_if_nothing_of_it_was_flushed(tmp_path: Path) -> None:
    plane = Plane(tmp_path)
    plane.journal.begin_epoch(1)
    plane.crash()
    (tmp_path / METADATA / "00000000000000000000.log").write_bytes(b"")
    plane = Plane(tmp_path)
    assert plane.journal.begin_epoch(1) == 2
    plane.close()


def test_writing_before_leading_is_a_mistake(tmp_path: Path) -> None:
    plane = Plane(tmp_path)
    with pytest.raises(InvariantError):
        plane.journal.append([NoOpRecord()])
    plane.close()


def test_a_torn_transaction_never_counts(tmp_path: Path) -> None:
    """A large creation is several batches; the log ends in the middle of them."""

    async def write() -> None:
        plane = Plane(tmp_path)
        await plane.join()
        await plane.create("kept")
        await plane.create("wide", 10_000)
        plane.close()

    play(write())
    whole = Plane(tmp_path)
    assert len(whole.image.topics.get("wide").partitions) == 10_000
    whole.close()

    path = tmp_path / METADATA / "00000000000000000000.log"
    data = path.read_bytes()
    path.write_bytes(data[:-1])

    async def recover() -> None:
        plane = Plane(tmp_path)
        assert "wide" not in plane.image.topics and "kept" in plane.image.topics
        await plane.join(2)
        assert not plane.image.has_open_transaction
        await plane.create("wide", 2)
        plane.close()
        again = Plane(tmp_path)
        assert again.image == plane.image
        again.close()

    play(recover())


def test_a_transaction_of_several_batches_is_aborted_if_its_end_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.quorum.metadata_batch.BATCH_BYTES_MAX", 100_000)

    async def write() -> None:
        plane = Plane(tmp_path)
        await plane.join()
        await plane.create("wide", 10_000)
        plane.close()

    play(write())
    path = tmp_path / METADATA / "00000000000000000000.log"
    path.write_bytes(path.read_bytes()[:-1])

    async def recover() -> None:
        plane = Plane(tmp_path)
        assert plane.image.has_open_transaction and "wide" not in plane.image.topics
        await plane.join(2)
        assert not plane.image.has_open_transaction and "wide" not in plane.image.topics
        await plane.create("small")
        plane.close()
        again = Plane(tmp_path)
        assert [topic.name for topic in again.image.topics] == ["small"]
        again.close()

    play(recover())


def test_what_fits_no_batch_and_is_no_transaction_is_refused_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.quorum.metadata_batch.BATCH_BYTES_MAX", 1000)
    plane = Plane(tmp_path)
    plane.journal.begin_epoch(1)
    end = plane.journal.end_offset
    record = ConfigRecord(resource_type=4, resource_name="", name="a", value="x" * 800)
    with pytest.raises(ApiError, match="excessively large"):
        plane.journal.append([record, record])
    assert plane.journal.end_offset == end
    plane.close()


def test_a_snapshot_replaces_the_log_before_it(tmp_path: Path) -> None:
    async def story() -> object:
        plane = Plane(tmp_path, snapshot_bytes=5_000)
        await plane.join()
        assert not plane.journal.wants_snapshot
        await plane.create("wide", 200)
        assert plane.journal.wants_snapshot
        end = plane.image.next_offset
        written = await plane.journal.write_snapshot(list(image_records(plane.image)), end)
        assert file_name(written) == f"{end:020d}-0000000001.checkpoint"
        assert not plane.journal.wants_snapshot
        assert plane.log.log_start_offset == end
        await plane.create("later")
        plane.close()
        return plane.image

    before = play(story())
    files = sorted(path.name for path in (tmp_path / METADATA).glob("*.log"))
    assert len(files) == 1 and int(files[0][:20]) > 200
    plane = Plane(tmp_path)
    assert plane.image == before
    plane.close()


def test_older_snapshots_go_once_a_newer_one_is_safe(tmp_path: Path) -> None:
    async def story() -> None:
        plane = Plane(tmp_path)
        await plane.join()
        for name in ("a", "b"):
            await plane.create(name)
            records = list(image_records(plane.image))
            await plane.journal.write_snapshot(records, plane.image.next_offset)
        plane.close()

    play(story())
    assert len(list((tmp_path / METADATA).glob("*.checkpoint"))) == 1
    plane = Plane(tmp_path)
    assert {topic.name for topic in plane.image.topics} == {"a", "b"}
    plane.close()


def test_only_what_is_committed_goes_into_a_snapshot(tmp_path: Path) -> None:
    async def story() -> None:
        plane = Plane(tmp_path)
        await plane.join()
        plane.journal.append([NoOpRecord()])
        with pytest.raises(InvariantError, match="before it is committed"):
            await plane.journal.write_snapshot([], plane.journal.end_offset)
        plane.close()

    play(story())


def test_a_damaged_snapshot_is_passed_over_while_the_log_still_has_it_all(tmp_path: Path) -> None:
    async def story() -> object:
        plane = Plane(tmp_path)
        await plane.join()
        await plane.create("orders")
        plane.close()
        return plane.image

    before = play(story())
    damaged = tmp_path / METADATA / "00000000000000000009-0000000001.checkpoint"
    damaged.write_bytes(b"not a snapshot at all")
    plane = Plane(tmp_path)
    assert plane.image == before
    plane.close()


def test_a_damaged_snapshot_that_is_needed_stops_the_start(tmp_path: Path) -> None:
    async def story() -> Path:
        plane = Plane(tmp_path)
        await plane.join()
        await plane.create("orders")
        records = list(image_records(plane.image))
        written = await plane.journal.write_snapshot(records, plane.image.next_offset)
        await plane.create("later")
        plane.close()
        return tmp_path / METADATA / file_name(written)

    path = play(story())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(StorageError, match="put a copy of the snapshot back"):
        Plane(tmp_path)


def test_voters_survive_a_snapshot(tmp_path: Path) -> None:
    """They stand in the log alone: dropping its beginning must not forget them."""

    async def story() -> None:
        plane = Plane(tmp_path)
        plane.journal._keep_controls([(KRAFT_VOTERS, b"\0\0voters"), (LEADER_CHANGE, b"")])
        await plane.join()
        await plane.journal.write_snapshot([], plane.image.next_offset)
        plane.close()
        again = Plane(tmp_path)
        assert again.journal._quorum_controls == {KRAFT_VOTERS: b"\0\0voters"}
        again.close()

    play(story())


def test_a_cluster_at_an_older_level_gets_records_it_can_go_back_with(tmp_path: Path) -> None:
    level = FeatureLevelRecord(name="metadata.version", feature_level=20)

    async def story() -> None:
        plane = Plane(tmp_path)
        plane.journal.begin_epoch(1)
        await plane.runtime.submit(lambda shard: shard.decide_activate([level]))
        await plane.join()
        await plane.create("orders")
        records = list(image_records(plane.image))
        await plane.journal.write_snapshot(records, plane.image.next_offset)
        await plane.create("later")
        plane.close()

    play(story())
    plane = Plane(tmp_path)
    assert {topic.name for topic in plane.image.topics} == {"orders", "later"}
    versions = {
        (record.value[1], record.value[2])
        for header, batch in plane.journal._log.batches(
            plane.log.log_start_offset, plane.journal.end_offset
        )
        for record in iter_records(batch)
        if record.value is not None and not header.is_control
    }
    assert versions == {(RecordKind.TOPIC, 0), (RecordKind.PARTITION, 1)}
    plane.close()
