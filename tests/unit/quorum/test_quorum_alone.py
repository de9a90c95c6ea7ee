"""A voter that is alone: leads at once, commits with its own flush, and never calls anybody."""

from __future__ import annotations

import asyncio
import errno
import json
from pathlib import Path

import pytest

from penstock.model.error import ApiError, ErrorCode, InvariantError, StorageError
from penstock.quorum.metadata_batch import read_controls
from penstock.raft import Role
from penstock.records.control import LEADER_CHANGE
from penstock.testing.disk import FaultyDisk
from tests.unit.quorum.quorum_kit import Member, Network, setting, until, voters_of

METADATA = "__cluster_metadata-0"


def alone(directory: Path, **options: object) -> Member:
    return Member(Network(), directory, 1, voters_of(1), **options)  # type: ignore[arg-type]


def new_disk(seed: int = 0) -> FaultyDisk:
    disk = FaultyDisk(seed)
    disk.mkdir("/data/node-1")
    disk.sync_all()
    return disk


def test_it_leads_without_a_message_and_before_start_returns(tmp_path: Path) -> None:
    async def story() -> None:
        member = alone(tmp_path).start()
        assert member.quorum.view.role is Role.LEADER and member.quorum.view.epoch == 1
        state = json.loads((member.directory / METADATA / "quorum-state").read_text())
        assert (state["leaderId"], state["leaderEpoch"]) == (1, 1)
        assert not member.led, "nothing is committed before it is synced"
        await until(lambda: member.led)
        assert member.led == [1]
        await member.write("a", "b")
        assert member.settings == {"a": "1", "b": "1"} and member.offsets == [1, 2]
        assert not member.network.calls
        await member.stop()

    asyncio.run(story())


def test_every_life_leads_in_an_epoch_of_its_own_and_has_all_that_was_committed(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        for life in (1, 2, 3):
            member = alone(tmp_path).start()
            await until(lambda member=member: member.led)  # type: ignore[misc]
            assert member.led == [life]
            assert len(member.settings) == life - 1
            await member.write(f"life-{life}")
            await (member.stop() if life == 1 else member.kill())
        member = alone(tmp_path).start()
        changes = [
            (header.partition_leader_epoch, kind)
            for header, batch in member.log.batches(0, member.log.end_offset)
            for kind, _ in read_controls(header, batch)
        ]
        assert changes == [(epoch, LEADER_CHANGE) for epoch in (1, 2, 3, 4)]
        await member.kill()

    asyncio.run(story())


def test_what_is_written_shows_only_once_it_is_synced(tmp_path: Path) -> None:
    async def story() -> None:
        member = alone(tmp_path).start()
        await until(lambda: member.led)
        journal = member.quorum.journal
        assert journal is not None
        end = journal.append([setting("a")]) + 1
        assert not journal.is_committed(end) and member.settings == {}
        await journal.wait_committed(end)
        assert journal.is_committed(end) and member.settings == {"a": "1"}
        await member.stop()

    asyncio.run(story())


def test_a_failed_sync_ends_it_and_is_told_to_who_waits() -> None:
    async def story() -> None:
        disk = new_disk()
        member = alone(Path("/data"), disk=disk).start()
        await until(lambda: member.led)
        await member.write("safe")
        disk.sync_errno = errno.EIO
        with pytest.raises(StorageError, match="cannot sync"):
            await member.write("lost")
        assert isinstance(member.quorum.failure, StorageError)
        assert "lost" not in member.settings

    asyncio.run(story())


def test_a_snapshot_ends_where_a_batch_does_and_before_nothing_uncommitted(tmp_path: Path) -> None:
    async def story() -> None:
        member = alone(tmp_path, retained_bytes=0).start()
        await until(lambda: member.led)
        await member.write("a", "b", "c")
        with pytest.raises(InvariantError, match="inside a batch"):
            await member.quorum.write_snapshot([], member.quorum.committed_offset - 1)
        with pytest.raises(InvariantError, match="before it is committed"):
            await member.quorum.write_snapshot([], member.quorum.committed_offset + 1)
        written = await member.take_snapshot()
        assert written == (4, 1) and member.log.start_offset == 4
        assert await member.take_snapshot() is None
        await member.write("d")
        await member.stop()
        again = alone(tmp_path).start()
        await until(lambda: again.led)
        assert again.snapshots == [4] and sorted(again.settings) == ["a", "b", "c", "d"]
        await again.stop()

    asyncio.run(story())


def test_a_snapshot_carries_the_epoch_of_its_last_record_not_of_its_writer(tmp_path: Path) -> None:
    async def story() -> None:
        member = alone(tmp_path).start()
        await until(lambda: member.led)
        await member.write("a")
        end = member.quorum.committed_offset
        await member.stop()
        again = alone(tmp_path).start()
        await until(lambda: again.led)
        assert await again.quorum.write_snapshot([setting("a")], end) == (end, 1)
        await again.stop()

    asyncio.run(story())


def test_a_full_disk_refuses_and_nothing_of_it_is_told(tmp_path: Path) -> None:
    async def story() -> None:
        disk = new_disk()
        member = alone(Path("/data"), disk=disk).start()
        await until(lambda: member.led)
        disk.free_bytes = 20
        with pytest.raises(ApiError) as refused:
            await member.write(*(f"name-{number}" for number in range(100)))
        assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
        disk.free_bytes = None
        await member.write("a")
        assert member.settings == {"a": "1"}

    asyncio.run(story())


def test_a_snapshot_is_due_by_size_or_by_age_and_only_if_something_is_new(tmp_path: Path) -> None:
    async def story() -> None:
        member = alone(tmp_path, snapshot_bytes=1 << 20, snapshot_interval_ms=50).start()
        await until(lambda: member.led)
        await member.write("a")
        await until(lambda: member.quorum.wants_snapshot)
        await member.take_snapshot()
        await asyncio.sleep(0.1)
        assert not member.quorum.wants_snapshot
        await member.write("b")
        await until(lambda: member.quorum.wants_snapshot)
        await member.stop()
        large = alone(tmp_path, snapshot_bytes=10_000).start()
        await until(lambda: large.led)
        assert not large.quorum.wants_snapshot
        await large.write(*(f"name-{number}" for number in range(1000)))
        assert large.quorum.wants_snapshot
        await large.stop()

    asyncio.run(story())


@pytest.mark.parametrize("seed", range(20))
def test_power_cuts_lose_nothing_that_was_answered(seed: int) -> None:
    async def live(disk: FaultyDisk, answered: set[str], life: int) -> None:
        member = alone(Path("/data"), disk=disk, snapshot_bytes=1, retained_bytes=0).start()
        await until(lambda: member.led)
        assert answered <= set(member.settings)
        for number in range(disk.random.randrange(4)):
            name = f"{life}-{number}"
            await member.write(name)
            answered.add(name)
            if disk.random.random() < 0.4:
                await member.take_snapshot()
        member.append(f"{life}-maybe")
        await asyncio.sleep(0)
        disk.crash()
        member.quorum._end(StorageError("power cut"))

    disk = new_disk(seed)
    answered: set[str] = set()
    for life in range(6):
        asyncio.run(live(disk, answered, life))
