"""The kept state of share partitions, wherever its coordinator is: here, or at another broker.

Owns finding it and trying again while it moves or loads. What is written may have been kept though
no answer came: whoever writes once more writes the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from penstock.coordinator.brokers import Brokers, NoAnswer, NotSpoken
from penstock.coordinator.share_form import ShareCall
from penstock.coordinator.share_host import ShareHost
from penstock.metadata.image import ClusterImage
from penstock.model.error import ApiError, ErrorCode, StorageError
from penstock.share import ShareKey
from penstock.share.shard import Result

RETRY_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)

_PASSING = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
    }
)


class ShareStates:
    def __init__(
        self,
        node_id: int,
        image: ClusterImage,
        host: ShareHost,
        brokers: Brokers,
        now_ms: Callable[[], int],
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._host = host
        self._brokers = brokers
        self._now_ms = now_ms

    async def ask(self, key: ShareKey, call: ShareCall) -> Result:
        """The answer, after a few tries where it is worth it: an error that stays is in it."""
        result = await self._try(key, call)
        for pause_s in RETRY_S:
            if result.error not in _PASSING:
                break
            await asyncio.sleep(pause_s)
            result = await self._try(key, call)
        return result

    async def _try(self, key: ShareKey, call: ShareCall) -> Result:
        try:
            place = await self._host.wait_partition_of(key.name)
            image = self._image.topics.partition(*place)
            leader = -1 if image is None else image.leader
            if leader == self._node_id:
                return await self.ask_here(key, call)
            if leader < 0:
                return Result(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return await self._ask_there(leader, key, call)
        except (ApiError, StorageError) as error:
            return Result(_code_of(error), str(error))

    async def ask_here(self, key: ShareKey, call: ShareCall) -> Result:
        """Of the machine of this node; NOT_COORDINATOR if it has none for this key."""
        host = self._host
        if self._image.topics.partition(host.topic_name, 0) is None:
            return Result(ErrorCode.NOT_COORDINATOR)
        if call.needs_topic and not self._exists(key):
            return Result(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        try:
            runtime = await host.wait_runtime(key.name)
            now_ms = self._now_ms()
            return await runtime.submit(
                lambda shard: call.decide(shard, key, now_ms), limit_s=host.commit_limit_s
            )
        except (ApiError, StorageError) as error:
            return Result(_code_of(error), str(error))

    def _exists(self, key: ShareKey) -> bool:
        topic = self._image.topics.get_by_id(key.topic_id)
        return topic is not None and key.partition in topic.partitions

    async def _ask_there(self, node_id: int, key: ShareKey, call: ShareCall) -> Result:
        try:
            answer = await self._brokers.call(node_id, call.request(key), 0)
        except NoAnswer as error:
            return Result(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error))
        except NotSpoken as error:
            return Result(ErrorCode.UNSUPPORTED_VERSION, str(error))
        return call.result(cast(Any, answer))


def _code_of(error: ApiError | StorageError) -> ErrorCode:
    if isinstance(error, StorageError):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if error.code is ErrorCode.REQUEST_TIMED_OUT:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return error.code
