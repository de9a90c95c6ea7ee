"""Telling the controller where replicas are: together, until it has heard, and only so much."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from penstock.model.error import ErrorCode, PenstockError
from penstock.node import directory_assignments
from penstock.node.directory_assignments import DirectoryAssignments
from penstock.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsResponse,
    ResponseDirectoryData,
    ResponsePartitionData,
    ResponseTopicData,
)
from penstock.testing.simulation.loop import VirtualLoop

TOPIC = b"t" * 16
HERE, THERE = b"h" * 16, b"w" * 16


class Controller:
    def __init__(self) -> None:
        self.requests: list[dict[int, bytes]] = []
        self.failures: list[Exception] = []
        self.code = ErrorCode.NONE

    async def ask(self, request: Any) -> Any:
        asked = {
            one.partition_index: directory.id
            for directory in request.directories
            for topic in directory.topics
            for one in topic.partitions
        }
        self.requests.append(asked)
        await asyncio.sleep(0.01)
        if self.failures:
            raise self.failures.pop()
        answered = [
            ResponsePartitionData(partition_index=one, error_code=self.code) for one in asked
        ]
        topic = ResponseTopicData(topic_id=TOPIC, partitions=answered)
        return AssignReplicasToDirsResponse(directories=[ResponseDirectoryData(topics=[topic])])


def run(work: Any) -> None:
    VirtualLoop(Random(1)).run_until_complete(work)


def test_what_comes_together_is_told_together() -> None:
    async def work() -> None:
        controller = Controller()
        assignments = DirectoryAssignments(1, lambda: 5, controller.ask)
        for index in range(3):
            assignments.add((TOPIC, index), HERE if index else THERE)
        await asyncio.sleep(1)
        assert controller.requests == [{0: THERE, 1: HERE, 2: HERE}]
        await assignments.close()

    run(work())


def test_it_is_told_until_it_was_heard() -> None:
    async def work() -> None:
        controller = Controller()
        controller.failures = [PenstockError("nobody is there"), ValueError("a mistake")]
        epoch = [-1]
        assignments = DirectoryAssignments(1, lambda: epoch[0], controller.ask)
        assignments.add((TOPIC, 0), HERE)
        await asyncio.sleep(1)
        assert controller.requests == []  # not before the broker was let in
        epoch[0] = 5
        await asyncio.sleep(30)
        assert controller.requests == [{0: HERE}] * 3
        await assignments.close()

    run(work())


def test_the_last_word_counts() -> None:
    async def work() -> None:
        controller = Controller()
        assignments = DirectoryAssignments(1, lambda: 5, controller.ask)
        assignments.add((TOPIC, 0), HERE)
        await asyncio.sleep(0.001)
        assignments.add((TOPIC, 0), THERE)
        await asyncio.sleep(1)
        assert controller.requests == [{0: HERE}, {0: THERE}]
        controller.code = ErrorCode.UNKNOWN_TOPIC_ID
        assignments.add((TOPIC, 0), HERE)
        await asyncio.sleep(30)
        assert len(controller.requests) == 3  # who is refused has moved away or is deleted
        await assignments.close()

    run(work())


def test_many_go_in_several_requests() -> None:
    async def work() -> None:
        controller = Controller()
        assignments = DirectoryAssignments(1, lambda: 5, controller.ask)
        count = directory_assignments.REQUEST_MAX + 10
        for index in range(count):
            assignments.add((TOPIC, index), HERE)
        await asyncio.sleep(1)
        assert [len(each) for each in controller.requests] == [count - 10, 10]
        await assignments.close()

    run(work())
