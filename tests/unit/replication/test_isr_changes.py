"""Changes of in-sync sets go out together, and no more in one request than it can take."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    ResponsePartitionData,
    ResponseTopicData,
)
from penstock.replication import isr_changes
from penstock.replication.isr_change import InSyncReplica, IsrChange
from penstock.replication.isr_changes import IsrChanges
from penstock.replication.partition import Partition
from tests.unit.replication.replica_kit import new_partition


class Controller:
    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    async def ask(self, request: AlterPartitionRequest) -> AlterPartitionResponse:
        (topic,) = request.topics
        indexes = [one.partition_index for one in topic.partitions]
        self.asked.append(indexes)
        await asyncio.sleep(0)
        answers = [ResponsePartitionData(partition_index=one) for one in indexes]
        return AlterPartitionResponse(
            topics=[ResponseTopicData(topic_id=topic.topic_id, partitions=answers)]
        )


def partitions(folder: Path, count: int) -> list[Partition]:
    """Not led any more, so that every answer ends a change."""
    found = []
    for index in range(count):
        home = folder / str(index)
        home.mkdir()
        partition = new_partition(home)
        partition.index = index
        found.append(partition)
    return found


def send(controller: Controller, given: list[Partition]) -> None:
    async def run() -> None:
        changes = IsrChanges(1, lambda: 100, controller.ask)
        for partition in given:
            changes.add(partition, IsrChange(5, 1, (InSyncReplica(1, 100),)))
        async with asyncio.timeout(30):
            while changes._asked:
                await asyncio.sleep(0.001)
        await changes.close()

    asyncio.run(run())


def test_changes_of_one_moment_are_one_request(tmp_path: Path) -> None:
    controller = Controller()
    send(controller, partitions(tmp_path, 3))
    assert controller.asked == [[0, 1, 2]]


def test_thousands_are_several_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isr_changes, "CHANGES_MAX", 2)
    controller = Controller()
    send(controller, partitions(tmp_path, 5))
    assert controller.asked == [[0, 1], [2, 3], [4]]
