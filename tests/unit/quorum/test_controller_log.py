"""A controller over the metadata log of a voter that is alone: restarts, snapshots, damage."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from penstock.metadata import RecordKind
from penstock.metadata.image import ClusterImage
from penstock.model.error import ApiError, StorageError
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.feature_level_record import FeatureLevelRecord
from penstock.quorum.control_record import snapshot_controls
from penstock.quorum.metadata_batch import read_controls
from penstock.quorum.metadata_snapshot import encode_snapshot, file_name
from penstock.raft import ControlEntry, ReplicaKey, SnapshotId, Voter, VoterHistory, VoterSet
from penstock.records.control import LEADER_CHANGE
from penstock.records.record import iter_records
from tests.unit.quorum.journal_kit import DIRECTORY_ID, Plane, play

METADATA = "__cluster_metadata-0"


async def opened(directory: Path, **options: int) -> Plane:
    return await Plane(directory, **options).lead()


def test_everything_is_there_again_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        plane = await Plane(tmp_path).join()
        await plane.create("orders", 3)
        await plane.close()
        again = await opened(tmp_path)
        assert again.image == plane.image == again.working_image
        partition = again.image.topics.partition("orders", 2)
        assert partition is not None and partition.leader == 1
        await again.close()

    play(story())


def test_the_controllers_image_runs_ahead_of_what_is_committed(tmp_path: Path) -> None:
    async def story() -> None:
        plane = await Plane(tmp_path).join()
        before = plane.image.copy()
        answer = asyncio.create_task(plane.create("orders"))
        while "orders" not in plane.working_image.topics:
            await asyncio.sleep(0)
        assert plane.image == before and not answer.done()
        await answer
        assert "orders" in plane.image.topics and plane.image == plane.working_image
        await plane.close()

    play(story())


def test_every_start_leads_in_an_epoch_of_its_own(tmp_path: Path) -> None:
    async def story() -> None:
        epochs = []
        for life in (1, 2, 3):
            plane = await Plane(tmp_path).join(life)
            epochs.append(plane.epoch)
            await plane.close()
        assert epochs == [1, 2, 3]
        state = json.loads((tmp_path / METADATA / "quorum-state").read_text())
        assert (state["leaderId"], state["leaderEpoch"], state["data_version"]) == (1, 3, 0)
        plane = await opened(tmp_path)
        leaders = [
            (header.partition_leader_epoch, kind)
            for header, batch in plane.metadata_log.batches(0, plane.log.end_offset)
            for kind, _ in read_controls(header, batch)
        ]
        assert leaders == [(epoch, LEADER_CHANGE) for epoch in (1, 2, 3, 4)]
        await plane.close()

    play(story())


def test_no_epoch_is_used_twice_even_if_nothing_of_it_was_flushed(tmp_path: Path) -> None:
    async def story() -> None:
        plane = await opened(tmp_path)
        plane.crash()
        (tmp_path / METADATA / "00000000000000000000.log").write_bytes(b"")
        again = await opened(tmp_path)
        assert again.epoch == 2
        await again.close()

    play(story())


def test_a_torn_transaction_never_counts(tmp_path: Path) -> None:
    """A large creation is several batches; the log ends in the middle of them."""

    async def story() -> None:
        plane = await Plane(tmp_path).join()
        await plane.create("kept")
        await plane.create("wide", 10_000)
        await plane.close()
        path = tmp_path / METADATA / "00000000000000000000.log"
        path.write_bytes(path.read_bytes()[:-1])
        again = await opened(tmp_path)
        assert "wide" not in again.image.topics and "kept" in again.image.topics
        await again.join(2)
        assert not again.image.has_open_transaction
        await again.create("wide", 2)
        await again.close()
        last = await opened(tmp_path)
        assert last.image == again.image
        await last.close()

    play(story())


def test_a_transaction_of_several_batches_is_aborted_if_its_end_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.quorum.metadata_batch.BATCH_BYTES_MAX", 100_000)

    async def story() -> None:
        plane = await Plane(tmp_path).join()
        await plane.create("wide", 10_000)
        await plane.close()
        path = tmp_path / METADATA / "00000000000000000000.log"
        path.write_bytes(path.read_bytes()[:-1])
        again = await opened(tmp_path)
        assert again.image.has_open_transaction and "wide" not in again.image.topics
        await again.join(2)
        assert not again.image.has_open_transaction and "wide" not in again.image.topics
        await again.create("small")
        await again.close()
        last = await opened(tmp_path)
        assert [topic.name for topic in last.image.topics] == ["small"]
        await last.close()

    play(story())


def test_what_fits_no_batch_and_is_no_transaction_is_refused_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.quorum.metadata_batch.BATCH_BYTES_MAX", 1000)

    async def story() -> None:
        plane = await opened(tmp_path)
        end = plane.journal.end_offset
        record = ConfigRecord(resource_type=4, resource_name="", name="a", value="x" * 800)
        with pytest.raises(ApiError, match="excessively large"):
            plane.journal.append([record, record])
        assert plane.journal.end_offset == end
        await plane.close()

    play(story())


def test_a_snapshot_replaces_the_log_before_it(tmp_path: Path) -> None:
    async def story() -> None:
        plane = await Plane(tmp_path, snapshot_bytes=5_000).join()
        assert not plane.quorum.wants_snapshot
        await plane.create("wide", 200)
        assert plane.quorum.wants_snapshot
        end = plane.image.next_offset
        written = await plane.write_snapshot()
        assert written == SnapshotId(end, 1)
        assert not plane.quorum.wants_snapshot
        assert plane.log.log_start_offset == end
        await plane.create("later")
        await plane.close()
        files = sorted(path.name for path in (tmp_path / METADATA).glob("*.log"))
        assert len(files) == 1 and int(files[0][:20]) > 200
        again = await opened(tmp_path)
        assert again.image == plane.image
        await again.close()

    play(story())


def test_older_snapshots_go_once_a_newer_one_is_safe(tmp_path: Path) -> None:
    async def story() -> None:
        plane = await Plane(tmp_path).join()
        for name in ("a", "b"):
            await plane.create(name)
            await plane.write_snapshot()
        await plane.close()
        assert len(list((tmp_path / METADATA).glob("*.checkpoint"))) == 1
        again = await opened(tmp_path)
        assert {topic.name for topic in again.image.topics} == {"a", "b"}
        await again.close()

    play(story())


def test_a_damaged_snapshot_is_passed_over_while_the_log_still_has_it_all(tmp_path: Path) -> None:
    async def story() -> None:
        plane = await Plane(tmp_path).join()
        await plane.create("orders")
        await plane.close()
        damaged = tmp_path / METADATA / file_name(SnapshotId(4, 1))
        damaged.write_bytes(b"not a snapshot at all")
        again = await opened(tmp_path)
        assert again.image == plane.image
        await again.close()

    play(story())


def test_a_damaged_snapshot_that_is_needed_stops_the_start(tmp_path: Path) -> None:
    async def story() -> None:
        plane = await Plane(tmp_path).join()
        await plane.create("orders")
        written = await plane.write_snapshot()
        assert written is not None
        await plane.create("later")
        await plane.close()
        path = tmp_path / METADATA / file_name(written)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(StorageError, match="put a copy of the snapshot back"):
            await opened(tmp_path)

    play(story())


def format_with_voters(directory: Path, *voters: Voter) -> None:
    """As `kafka-storage format --standalone` leaves it."""
    entries = [ControlEntry(-1, voters=VoterSet(voters)), ControlEntry(-1, kraft_version=1)]
    controls = snapshot_controls(VoterHistory(None, entries), 0)
    (directory / METADATA).mkdir(parents=True)
    path = directory / METADATA / file_name(SnapshotId(0, 0))
    path.write_bytes(encode_snapshot([], controls, 0, 0, 30))


def test_voters_survive_a_snapshot(tmp_path: Path) -> None:
    """They stand in the log alone: dropping its beginning must not forget them."""
    voter = Voter(ReplicaKey(1, b"v" * 16))
    format_with_voters(tmp_path, voter)

    async def story() -> None:
        plane = await Plane(tmp_path).join()
        written = await plane.write_snapshot()
        assert written is not None
        await plane.close()
        assert json.loads((tmp_path / METADATA / "quorum-state").read_text())["data_version"] == 1
        controls = plane.metadata_log.snapshots.read(written).controls
        assert len(controls) == 2
        again = await opened(tmp_path)
        assert again.quorum._machine.voters == VoterSet([voter])
        assert again.quorum._machine.kraft_version == 1
        await again.close()

    play(story())


def test_a_log_that_others_vote_on_is_not_led_alone(tmp_path: Path) -> None:
    format_with_voters(
        tmp_path, Voter(ReplicaKey(1, DIRECTORY_ID)), Voter(ReplicaKey(2, b"2" * 16))
    )

    async def story() -> None:
        with pytest.raises(StorageError, match="has the voters 1, 2, and this node is 1"):
            await opened(tmp_path)

    play(story())


def test_a_record_that_fits_nowhere_ends_the_start_with_its_reason(tmp_path: Path) -> None:
    async def story() -> None:
        plane = await Plane(tmp_path).join()
        await plane.create("orders")
        topic = plane.image.topics.get("orders")
        assert topic is not None
        twice = next(one for one in plane.committed if one.API_KEY == RecordKind.TOPIC)
        plane.image = ClusterImage()
        plane.journal.append([twice])
        await plane.quorum.log.wait_flushed()
        await plane.close()
        again = Plane(tmp_path)
        with pytest.raises(Exception, match="makes topic orders twice"):
            await again.lead()
        assert again.quorum.failure is not None

    play(story())


def test_a_cluster_at_an_older_level_gets_records_it_can_go_back_with(tmp_path: Path) -> None:
    level = FeatureLevelRecord(name="metadata.version", feature_level=20)

    async def story() -> None:
        plane = await opened(tmp_path)
        await plane.runtime.submit(lambda shard: shard.decide_activate([level]))
        await plane.join()
        await plane.create("orders")
        await plane.write_snapshot()
        await plane.create("later")
        await plane.close()
        again = await opened(tmp_path)
        assert {topic.name for topic in again.image.topics} == {"orders", "later"}
        await again.create("last")
        versions = {
            (record.value[1], record.value[2])
            for header, batch in again.metadata_log.batches(
                again.log.log_start_offset, again.log.end_offset
            )
            for record in iter_records(batch)
            if record.value is not None and not header.is_control
        }
        assert versions == {(RecordKind.TOPIC, 0), (RecordKind.PARTITION, 1)}
        await again.close()

    play(story())
