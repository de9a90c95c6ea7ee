"""Power cuts, full disks and failing syncs under the metadata journal: what was answered stays."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path

import pytest

from penstock.model.error import ApiError, StorageError
from penstock.runtime import JournalError
from penstock.testing.disk import FaultyDisk
from tests.unit.quorum.journal_kit import Plane, play

ROOT = Path("/data")


def new_disk(seed: int = 0) -> FaultyDisk:
    disk = FaultyDisk(seed)
    disk.mkdir(str(ROOT))
    disk.sync_all()
    return disk


async def opened(disk: FaultyDisk) -> Plane:
    return await Plane(ROOT, disk).lead()


@pytest.mark.parametrize("seed", range(40))
def test_power_cuts_lose_nothing_that_was_answered(seed: int) -> None:
    async def live(disk: FaultyDisk, life: int, answered: set[str]) -> None:
        plane = await opened(disk)
        assert answered <= {topic.name for topic in plane.image.topics}
        await plane.join(life)
        for number in range(disk.random.randrange(4)):
            name = f"topic-{life}-{number}"
            await plane.create(name, disk.random.choice([1, 3, 300]))
            answered.add(name)
            if disk.random.random() < 0.3:
                await plane.write_snapshot()
        unanswered = asyncio.create_task(plane.create(f"maybe-{life}", 3))
        await asyncio.sleep(0)
        disk.crash()
        unanswered.cancel()
        await asyncio.gather(unanswered, return_exceptions=True)

    disk = new_disk(seed)
    answered: set[str] = set()
    for life in range(1, 6):
        play(live(disk, life, answered))
    plane = play(opened(disk))
    names = {topic.name for topic in plane.image.topics}
    assert answered <= names
    assert all(
        sorted(one.partitions) == list(range(len(one.partitions))) for one in plane.image.topics
    )


def test_a_failed_sync_is_answered_as_lost_and_stops_the_machine() -> None:
    async def story() -> None:
        disk = new_disk()
        plane = await opened(disk)
        await plane.join()
        await plane.create("safe")
        disk.sync_errno = errno.EIO
        with pytest.raises(JournalError, match="cannot sync"):
            await plane.create("lost")
        assert isinstance(plane.runtime.failure, StorageError)
        with pytest.raises(JournalError):
            await plane.create("never")
        assert "lost" not in plane.image.topics and "safe" in plane.image.topics
        disk.sync_errno = 0
        disk.crash()
        again = await opened(disk)
        assert "safe" in again.image.topics

    play(story())


def test_a_full_disk_refuses_and_recovers() -> None:
    async def story() -> None:
        disk = new_disk()
        plane = await opened(disk)
        await plane.join()
        disk.free_bytes = 100
        with pytest.raises(ApiError, match="no space"):
            await plane.create("wide", 50)
        assert plane.runtime.failure is None and "wide" not in plane.image.topics
        with pytest.raises(ApiError, match="no space"):
            await plane.write_snapshot()
        disk.free_bytes = None
        await plane.create("wide", 50)
        await plane.write_snapshot()
        disk.crash()
        wide = (await opened(disk)).image.topics.get("wide")
        assert wide is not None and len(wide.partitions) == 50

    play(story())
