"""Gives share partitions their state when a group comes to read them, and tells the group.

Owns which groups are seen to just now. What fails is tried again with a later heartbeat.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from penstock.coordinator.share_form import Initialize
from penstock.coordinator.share_state import ShareStates
from penstock.group import Beat
from penstock.group.share.record import SharedTopic, SharedTopics
from penstock.group.share.state_topic import places
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.model.id import TopicId
from penstock.share import ShareKey
from penstock.share.kept import UNKNOWN_OFFSET
from penstock.telemetry.log import get_logger

if TYPE_CHECKING:
    from penstock.handlers.broker import Broker

AT_ONCE = 64

log = get_logger("share")


class ShareBeginnings:
    def __init__(self, broker: Broker, states: ShareStates) -> None:
        self._broker = broker
        self._states = states
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, group_id: str, beat: Beat) -> None:
        """Unless somebody is at it."""
        if group_id not in self._tasks:
            task = asyncio.create_task(self._begin(group_id, beat), name="share-beginning")
            self._tasks[group_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(group_id, None))

    async def _begin(self, group_id: str, beat: Beat) -> None:
        topics = beat.initializing
        wanted = places(topics)
        done: list[tuple[TopicId, int]] = []
        for at in range(0, len(wanted), AT_ONCE):
            some = wanted[at : at + AT_ONCE]
            results = await asyncio.gather(
                *(self._initialize(ShareKey(group_id, *place), beat.epoch) for place in some)
            )
            done += [place for place, is_done in zip(some, results, strict=True) if is_done]
        if done:
            await self._tell(group_id, _picked(topics, done))

    async def _initialize(self, key: ShareKey, epoch: int) -> bool:
        result = await self._states.ask(key, Initialize(epoch, UNKNOWN_OFFSET))
        if result.error is not ErrorCode.NONE:
            log.warning("share state not made yet", share=key.name, reason=str(result.message))
        return result.error is ErrorCode.NONE

    async def _tell(self, group_id: str, topics: SharedTopics) -> None:
        broker = self._broker
        try:
            runtime = await broker.groups.wait_runtime(group_id)
            await runtime.submit(
                lambda shard: shard.share.decide_initialized(
                    group_id, topics, broker.clock.now_ms()
                )
            )
        except (ApiError, StorageError) as error:
            log.warning("share group not told of its state", group=group_id, reason=str(error))

    def close(self) -> None:
        for task in tuple(self._tasks.values()):
            task.cancel()


def _picked(topics: SharedTopics, done: list[tuple[TopicId, int]]) -> SharedTopics:
    found: dict[TopicId, set[int]] = {}
    for topic_id, index in done:
        found.setdefault(topic_id, set()).add(index)
    return {
        topic_id: SharedTopic(topics[topic_id].name, frozenset(indexes))
        for topic_id, indexes in found.items()
    }
