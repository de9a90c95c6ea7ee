"""Follows one leader broker: one request in flight, one session, all partitions led there.

Logs are opened here, a few at a time, so that taking over thousands of partitions holds up nobody.
What an answer brings is appended as it came, and made as safe as its topic asks before the next
request: a fetch offset says what this replica has. Flushes of one answer share one sync.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from penstock.model.clock import Clock
from penstock.model.error import ApiError, ErrorCode, PenstockError, StorageError
from penstock.protocol.entity import Entity
from penstock.protocol.messages.fetch import (
    FetchRequest,
    FetchResponse,
    PartitionData,
    ReplicaState,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.records.header import Buffer
from penstock.replication.divergence import EpochEnd
from penstock.replication.fetcher_session import NAMED_MAX, FetcherSession, Key
from penstock.replication.follower import AskOffset, FetchAnswer, FetchFrom, Follower
from penstock.replication.partition import Partition
from penstock.storage.damage import DamagedLog
from penstock.telemetry.log import get_logger

RETRY_S = 0.05
RETRY_S_MAX = 1.0
OPENED_PER_STEP = 16
_LOOK_AGAIN_MS = 1000
_WAIT_PER_LEADER_MS = 5

log = get_logger("fetcher")

Ask = Callable[[Entity], Awaitable[Any]]
"""Sends a request to the leader and waits for its answer; PenstockError if none comes."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Kafka's replica.fetch.* settings."""

    wait_ms: int = 500
    wait_ms_max: int = 500
    min_bytes: int = 1
    answer_bytes: int = 10 << 20
    partition_bytes: int = 1 << 20
    backoff_ms: int = 1000

    def wait_among(self, leader_count: int) -> int:
        """For how long a fetch waits at one of so many leaders: who follows hundreds of them would
        do nothing else than ask for what is not there."""
        return max(self.wait_ms, min(_WAIT_PER_LEADER_MS * leader_count, self.wait_ms_max))


class _Followed:
    __slots__ = ("follower", "key", "partition")

    def __init__(self, partition: Partition, follower: Follower) -> None:
        self.key: Key = (partition.topic_id, partition.index)
        self.partition = partition
        self.follower = follower


class Fetcher:
    def __init__(
        self,
        node_id: int,
        leader_id: int,
        ask: Ask,
        clock: Clock,
        broker_epoch: Callable[[], int],
        limits: FetchLimits,
        leader_count: Callable[[], int] = lambda: 1,
    ) -> None:
        self._node_id = node_id
        self._leader_id = leader_id
        self._ask = ask
        self._clock = clock
        self._broker_epoch = broker_epoch
        self._limits = limits
        self._leader_count = leader_count
        self._session = FetcherSession(limits.partition_bytes)
        self._followed: dict[Key, _Followed] = {}
        self._new: dict[Key, Partition] = {}
        # Their logs could not be opened for now, for want of files, say.
        self._unopened: dict[Key, Partition] = {}
        # What to ask for has to be thought over: the others are asked for as before.
        self._stirred: dict[_Followed, None] = {}
        self._backing_off: dict[_Followed, None] = {}
        self._held_back: dict[_Followed, None] = {}
        self._unsafe: set[Partition] = set()
        self._woken = asyncio.Event()
        self._retry_s = RETRY_S
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._followed) + len(self._new)

    def add(self, partition: Partition) -> None:
        """Anew for every leader epoch, also with the same leader (KAFKA-7164)."""
        self._new[_key(partition)] = partition
        self._woken.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"fetcher-{self._leader_id}")

    def remove(self, partition: Partition) -> None:
        key = _key(partition)
        for waiting in (self._new, self._unopened):
            if waiting.get(key) is partition:
                del waiting[key]
        followed = self._followed.get(key)
        if followed is not None and followed.partition is partition:
            del self._followed[followed.key]
            self._stirred.pop(followed, None)
            self._backing_off.pop(followed, None)
            self._held_back.pop(followed, None)
            self._session.want(followed.key, None)
            partition.on_moved = None
            self._unsafe.discard(partition)
            self._woken.set()

    async def close(self) -> None:
        self._followed.clear()
        self._new.clear()
        self._unopened.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    # --- the round ---

    async def _run(self) -> None:
        try:
            while self._followed or self._new:
                try:
                    await self._round()
                except PenstockError as error:
                    await self._on_unanswered(error)
                except Exception as error:
                    # A mistake of our own must not end the following of all partitions.
                    log.error("fetching failed", leader=self._leader_id, exc_info=error)
                    await self._on_unanswered(error)
        finally:
            self._task = None

    async def _round(self) -> None:
        await self._begin_new()
        while self._unsafe:
            await self._wait()
        now_ms = self._clock.now_ms()
        questions = self._think_over(now_ms)
        for question, followed in questions:
            await self._ask_offset(question, followed)
        if questions:
            return
        if not self._session.is_wanted:
            await self._wait(self._pause_ms(now_ms))
            return
        response = await self._ask(self._request())
        self._retry_s = RETRY_S
        if response.error_code:
            log.info(
                "fetch session begins anew",
                leader=self._leader_id,
                error=ErrorCode(response.error_code).name,
            )
            self._session.reset()
            return
        self._session.on_answer(response.session_id)
        self._apply(response)

    async def _begin_new(self) -> None:
        """As many as one request can name."""
        for count in range(1, NAMED_MAX + 1):
            if not self._new:
                return
            key = next(iter(self._new))
            partition = self._new.pop(key)
            try:
                self._begin(key, partition)
                self._unopened.pop(key, None)
            except (ApiError, StorageError) as error:
                self._put_off(key, partition, error)
            if count % OPENED_PER_STEP == 0:
                await asyncio.sleep(0)

    def _put_off(self, key: Key, partition: Partition, error: Exception) -> None:
        if self._unopened.get(key) is not partition:
            log.warning(
                "partition not followed",
                partition=f"{partition.topic}-{partition.index}",
                reason=str(error),
            )
        if not isinstance(error, DamagedLog):  # which is repaired, or stays so
            self._unopened[key] = partition
            asyncio.get_running_loop().call_later(RETRY_S_MAX, self._try_again, key, partition)

    def _try_again(self, key: Key, partition: Partition) -> None:
        if self._unopened.get(key) is partition:
            self.add(partition)

    def _begin(self, key: Key, partition: Partition) -> None:
        follower = Follower(
            self._leader_id, partition.leader_epoch, partition.log, self._limits.backoff_ms
        )
        cut = follower.begin()
        if cut is not None:
            partition.carry_out(cut)
        partition.on_moved = self._on_moved
        if partition.safe_offset < partition.log.end_offset:
            # What a recovery found: nobody else asks for it to be synced.
            self._wait_safe(partition)
            partition.make_safe()
        self._followed[key] = followed = _Followed(partition, follower)
        self._stirred[followed] = None

    def _think_over(self, now_ms: int) -> list[tuple[AskOffset, _Followed]]:
        """What is to be fetched from now on, and what has to be asked before."""
        questions: list[tuple[AskOffset, _Followed]] = []
        self._stir_due(now_ms)
        stirred, self._stirred = self._stirred, {}
        for followed in stirred:
            if self._is_held_back(followed):
                continue
            follower = followed.follower
            asked = follower.next_request(followed.partition.safe_offset, now_ms)
            if isinstance(asked, AskOffset):
                questions.append((asked, followed))
                asked = None
                # Answered or not, it is thought over again.
                self._stirred[followed] = None
            elif asked is None and now_ms < follower.wait_until_ms:
                self._backing_off[followed] = None
            self._session.want(followed.key, asked)
        return questions

    def _stir_due(self, now_ms: int) -> None:
        """What has waited long enough."""
        for followed in [one for one in self._backing_off if one.follower.wait_until_ms <= now_ms]:
            del self._backing_off[followed]
            self._stirred[followed] = None
        for followed in [one for one in self._held_back if not self._throttle_wait_s(one)]:
            del self._held_back[followed]
            self._stirred[followed] = None

    def _is_held_back(self, followed: _Followed) -> bool:
        if not self._throttle_wait_s(followed):
            return False
        self._held_back[followed] = None
        self._session.want(followed.key, None)
        return True

    def _throttle_wait_s(self, followed: _Followed) -> float:
        throttle = followed.partition.throttle
        return 0.0 if throttle is None else throttle.wait_s(self._clock.monotonic())

    @property
    def _wait_ms(self) -> int:
        return self._limits.wait_among(self._leader_count())

    def _request(self) -> FetchRequest:
        session = self._session
        topics, forgotten = session.tell()
        return FetchRequest(
            replica_state=ReplicaState(
                replica_id=self._node_id, replica_epoch=self._broker_epoch()
            ),
            max_wait_ms=0 if session.has_more or self._new else self._wait_ms,
            min_bytes=self._limits.min_bytes,
            max_bytes=self._limits.answer_bytes,
            session_id=session.id,
            session_epoch=session.epoch,
            topics=topics,
            forgotten_topics_data=forgotten,
        )

    def _apply(self, response: FetchResponse) -> None:
        now_ms = self._clock.now_ms()
        for topic in response.responses:
            for data in topic.partitions:
                key = (topic.topic_id, data.partition_index)
                followed, asked = self._followed.get(key), self._session.wanted(key)
                if followed is not None and asked is not None:
                    self._stirred[followed] = None
                    self._apply_one(followed, asked, data, now_ms)

    def _apply_one(
        self, followed: _Followed, asked: FetchFrom, data: PartitionData, now_ms: int
    ) -> None:
        partition, follower = followed.partition, followed.follower
        try:
            action = follower.on_answer(asked, _answer_of(data), now_ms)
            if action is not None:
                partition.carry_out(action)
        except ApiError as error:
            log.warning(
                "fetched records not appended",
                partition=f"{partition.topic}-{partition.index}",
                leader=self._leader_id,
                reason=str(error),
            )
            follower.back_off(now_ms)
            return
        if partition.is_open and partition.safe_offset < partition.log.end_offset:
            self._wait_safe(partition)
        if partition.throttle is not None and partition.is_open:
            is_level = 0 <= data.high_watermark <= partition.log.end_offset
            size_bytes = len(data.records or b"")
            partition.throttle.note_fetched(size_bytes, is_level, self._clock.monotonic())
            if self._throttle_wait_s(followed):
                # It holds for the others of the quota as well, also those that got nothing yet.
                self._stirred.update(dict.fromkeys(self._followed.values()))

    async def _ask_offset(self, question: AskOffset, followed: _Followed) -> None:
        """The leader's own ends of the log, after it said that what was asked for is out of it."""
        partition, follower = followed.partition, followed.follower
        asked = ListOffsetsPartition(
            partition_index=partition.index,
            current_leader_epoch=follower.leader_epoch,
            timestamp=question.value,
        )
        topic = ListOffsetsTopic(name=partition.topic, partitions=[asked])
        response = await self._ask(ListOffsetsRequest(replica_id=self._node_id, topics=[topic]))
        (answer,) = response.topics[0].partitions
        if self._followed.get(_key(partition)) is not followed:
            return
        action = follower.on_offset(
            question,
            follower.leader_epoch,
            answer.error_code,
            answer.offset,
            self._clock.now_ms(),
        )
        if action is not None:
            log.warning(
                "log cut to where its leader's is",
                partition=f"{partition.topic}-{partition.index}",
                action=str(action),
            )
            partition.carry_out(action)

    # --- waiting ---

    def _wait_safe(self, partition: Partition) -> None:
        self._unsafe.add(partition)

    def _on_moved(self, partition: Partition) -> None:
        followed = self._followed.get(_key(partition))
        if followed is not None:
            self._stirred[followed] = None
        if partition.safe_offset >= partition.log.end_offset:
            self._unsafe.discard(partition)
            if not self._unsafe:
                self._woken.set()

    def _pause_ms(self, now_ms: int) -> int:
        waits = [one.follower.wait_until_ms - now_ms for one in self._backing_off]
        waits += [
            math.ceil(min(self._throttle_wait_s(one) * 1000, _LOOK_AGAIN_MS))
            for one in self._held_back
        ]
        return min(max(min(waits, default=_LOOK_AGAIN_MS), 1), _LOOK_AGAIN_MS)

    async def _wait(self, timeout_ms: int | None = None) -> None:
        self._woken.clear()
        try:
            async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
                await self._woken.wait()
        except TimeoutError:
            pass

    async def _on_unanswered(self, error: Exception) -> None:
        """The leader is away; if it is gone for good, metadata names another."""
        log.info("leader does not answer", leader=self._leader_id, reason=str(error))
        self._session.reset()
        await asyncio.sleep(self._retry_s)
        self._retry_s = min(2 * self._retry_s, RETRY_S_MAX)


def _key(partition: Partition) -> Key:
    return partition.topic_id, partition.index


def _answer_of(data: PartitionData) -> FetchAnswer:
    diverging = data.diverging_epoch
    parted: EpochEnd | None = None
    if diverging is not None and diverging.end_offset >= 0:
        parted = EpochEnd(diverging.epoch, diverging.end_offset)
    # Records are views of the memory into which they were received.
    records = cast(Buffer, b"" if data.records is None else data.records)
    return FetchAnswer(data.error_code, records, data.high_watermark, data.log_start_offset, parted)
