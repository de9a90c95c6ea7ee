"""Tells the controller in which of its directories this broker's replicas are (KIP-858).

Only where metadata has it otherwise: with one directory the controller knows by itself. One request
in flight, sent until it is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import islice

from penstock.model.error import ErrorCode, PenstockError
from penstock.model.id import TopicId
from penstock.protocol.entity import Entity
from penstock.protocol.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    RequestDirectoryData,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.telemetry.log import get_logger

REQUEST_MAX = 2250
RETRY_S, RETRY_S_MAX = 0.1, 10.0

log = get_logger("directories")

Key = tuple[TopicId, int]
Ask = Callable[[Entity], Awaitable[AssignReplicasToDirsResponse]]

_PASSING = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT})


class DirectoryAssignments:
    def __init__(self, node_id: int, broker_epoch: Callable[[], int], ask: Ask) -> None:
        self._node_id = node_id
        self._broker_epoch = broker_epoch
        self._ask = ask
        self._waiting: dict[Key, bytes] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, key: Key, directory_id: bytes) -> None:
        """The replica is there; what was said of it before no longer counts."""
        self._waiting[key] = directory_id
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="directory-assignments")

    async def close(self) -> None:
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        retry_s = RETRY_S
        try:
            # What one change of metadata brings goes out together.
            await asyncio.sleep(0)
            while self._waiting:
                if self._broker_epoch() >= 0 and await self._send():
                    retry_s = RETRY_S
                else:
                    await asyncio.sleep(retry_s)
                    retry_s = min(2 * retry_s, RETRY_S_MAX)
        finally:
            self._task = None

    async def _send(self) -> bool:
        """Whether it was answered."""
        asked = dict(islice(self._waiting.items(), REQUEST_MAX))
        try:
            response = await self._ask(self._request(asked))
        except PenstockError as error:
            log.info("directories not told", count=len(asked), reason=str(error))
            return False
        except Exception as error:
            # A mistake of our own must not leave replicas that nobody knows of.
            log.error("directories not told", exc_info=error)
            return False
        if response.error_code:
            log.info("directories not told", error=ErrorCode(response.error_code).name)
            return False
        return self._settle(asked, response)

    def _request(self, asked: dict[Key, bytes]) -> AssignReplicasToDirsRequest:
        directories: dict[bytes, dict[TopicId, RequestTopicData]] = {}
        for (topic_id, index), directory_id in asked.items():
            topics = directories.setdefault(directory_id, {})
            topic = topics.setdefault(topic_id, RequestTopicData(topic_id=topic_id))
            topic.partitions.append(RequestPartitionData(partition_index=index))
        return AssignReplicasToDirsRequest(
            broker_id=self._node_id,
            broker_epoch=self._broker_epoch(),
            directories=[
                RequestDirectoryData(id=directory_id, topics=list(topics.values()))
                for directory_id, topics in directories.items()
            ],
        )

    def _settle(self, asked: dict[Key, bytes], response: AssignReplicasToDirsResponse) -> bool:
        """A refusal is about a partition that is gone or no longer this broker's: it is dropped."""
        again = set()
        for directory in response.directories:
            for topic in directory.topics:
                for one in topic.partitions:
                    if one.error_code in _PASSING:
                        again.add((topic.topic_id, one.partition_index))
        for key, directory_id in asked.items():
            if key not in again and self._waiting.get(key) == directory_id:
                del self._waiting[key]
        return not again
