"""One share fetch: looks through the session's partitions, hands out what there is, and waits for
more if there is nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple, cast

from penstock.handlers.broker import Broker
from penstock.handlers.share.log_read import LogRead
from penstock.handlers.share.partition import SharePartition
from penstock.handlers.share.partitions import SharePartitions
from penstock.handlers.share.session import Place, ShareSession
from penstock.handlers.share.setting import ShareSettings
from penstock.model.acl import Operation, ResourceType
from penstock.model.error import ApiError, ErrorCode, StorageError, code_of
from penstock.protocol.messages.share_fetch import (
    AcquiredRecords,
    PartitionData,
    ShareFetchRequest,
)
from penstock.replication.partition import Partition
from penstock.share import Acquired
from penstock.storage.slice import FileSlice

if TYPE_CHECKING:
    from penstock.security.access import Access

RECORD_LIMIT_MODE = 1
"""Not more records than were asked for, even of one batch (KIP-1206)."""


class _Target(NamedTuple):
    place: Place
    share: SharePartition


class ShareFetch:
    """`outcomes` are the partitions that the member is to hear of."""

    def __init__(
        self,
        broker: Broker,
        shares: SharePartitions,
        session: ShareSession,
        request: ShareFetchRequest,
        settings: ShareSettings,
        access: Access | None,
    ) -> None:
        self._broker = broker
        self._shares = shares
        self._session = session
        self._request = request
        self._settings = settings
        self._access = access
        self._bytes_max = min(request.max_bytes, broker.config.fetch_bytes_max)
        if broker.throttle.is_on:
            quota_bytes = broker.throttle.fetch_bytes_max(session.client)
            self._bytes_max = int(min(self._bytes_max, quota_bytes))
        self._news = asyncio.Event()
        self._watched: dict[SharePartition, None] = {}
        self.outcomes: dict[Place, PartitionData] = {}
        self.size_bytes = 0

    async def run(self) -> None:
        until_s = self._broker.loop.time() + self._request.max_wait_ms / 1000
        is_last = self._request.max_wait_ms <= 0
        try:
            while not self._session.is_over:
                self._look(is_last)
                left_s = until_s - self._broker.loop.time()
                if self.outcomes or is_last:
                    return
                is_last = not await self._wait_news(left_s)
        finally:
            self._unwatch()

    # Looking

    def _look(self, is_last: bool) -> None:
        self._news.clear()
        targets = self._targets()
        if self._request.min_bytes > 1 and not is_last and not self._has_enough(targets):
            return
        left = self._request.max_records
        for target in targets:
            if left <= 0 or self.size_bytes >= self._bytes_max:
                break
            try:
                left -= self._hand_out(target, left)
            except (ApiError, StorageError) as error:
                self._refuse(target.place, error)

    def _targets(self) -> list[_Target]:
        """Partitions that are loaded; those that are not yet say so when they are."""
        found: list[_Target] = []
        for place in tuple(self._session.places):
            try:
                self._check_allowed(place)
                share = self._shares.find(self._session.group_id, *place)
                if share.failure is not None:
                    raise share.failure
            except ApiError as error:
                self._refuse(place, error)
                continue
            target = _Target(place, share)
            self._watch(target)
            if share.window is not None:
                found.append(target)
        return found

    def _check_allowed(self, place: Place) -> None:
        if self._access is None:
            return
        topic = self._broker.image.topics.get_by_id(place[0])
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        if not self._access.may(Operation.READ, ResourceType.TOPIC, topic.name):
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    def _has_enough(self, targets: list[_Target]) -> bool:
        size = 0
        for target in targets:
            try:
                read = self._read(target.share)
            except (ApiError, StorageError) as error:
                self._refuse(target.place, error)
                return True
            size += read.size_bytes
            read.release()
        return size >= min(self._request.min_bytes, self._bytes_max)

    def _read(self, share: SharePartition) -> LogRead:
        offset = share.next_offset
        bytes_max = self._bytes_max - self.size_bytes if share.has_room else 0
        min_one = share.has_room and not self.size_bytes
        isolation = self._settings.isolation
        return LogRead(share.partition, offset, max(0, bytes_max), isolation, min_one)

    def _hand_out(self, target: _Target, records_max: int) -> int:
        """The number of records."""
        share, session = target.share, self._session
        offset = share.next_offset
        read = self._read(share)
        if read.slice is None:
            return 0
        acquired = share.acquire(
            session.member_id,
            read.batches(),
            records_max,
            self._shares.now_ms(),
            exact=self._request.share_acquire_mode == RECORD_LIMIT_MODE,
            batch_size=self._request.batch_size,
        )
        if not acquired:
            read.release()
            if share.next_offset != offset:
                # Only markers, or what was aborted: there may be more behind it.
                self._news.set()
            return 0
        self._shares.note_locks(share)
        self._answer(target.place, read.taken(), acquired)
        session.move_to_end(target.place)
        return sum(one.last - one.first + 1 for one in acquired)

    def _answer(self, place: Place, records: FileSlice | None, acquired: list[Acquired]) -> None:
        assert records is not None
        self.size_bytes += records.length
        self.outcomes[place] = PartitionData(
            partition_index=place[1],
            # A stretch of the segment file: the writer hands it to the socket undecoded.
            records=cast(memoryview, records),
            acquired_records=[
                AcquiredRecords(
                    first_offset=one.first, last_offset=one.last, delivery_count=one.deliveries
                )
                for one in gathered(acquired, self._request.batch_size)
            ],
        )

    def _refuse(self, place: Place, error: ApiError | StorageError) -> None:
        code = code_of(error)
        self._broker.metrics.count_error("ShareFetch", code.name)
        self.outcomes[place] = PartitionData(
            partition_index=place[1], error_code=code, error_message=str(error), records=b""
        )

    # Waiting

    async def _wait_news(self, left_s: float) -> bool:
        """False when the time is up."""
        if left_s <= 0:
            return False
        try:
            async with asyncio.timeout(left_s):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    def wake(self) -> None:
        self._news.set()

    def on_news(self, partition: Partition) -> None:
        self._news.set()

    def _watch(self, target: _Target) -> None:
        target.share.watch(self)
        target.share.partition.watch(self)
        self._watched[target.share] = None

    def _unwatch(self) -> None:
        for share in self._watched:
            share.unwatch(self)
            share.partition.unwatch(self)


def gathered(acquired: list[Acquired], size_min: int) -> list[Acquired]:
    """Neighbours in one, until it has as many records as the member likes to have in one."""
    found: list[Acquired] = []
    for one in acquired:
        if found and _belongs(found[-1], one, size_min):
            found[-1] = found[-1]._replace(last=one.last)
        else:
            found.append(one)
    return found


def _belongs(before: Acquired, one: Acquired, size_min: int) -> bool:
    is_next = before.last + 1 == one.first and before.deliveries == one.deliveries
    return is_next and (size_min <= 0 or before.last - before.first + 1 < size_min)
