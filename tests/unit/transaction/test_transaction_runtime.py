"""The shard under the real runtime: answers at commit, markers after it, a full disk, timeouts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from penstock.model.error import ApiError, ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from penstock.runtime.driver import Runtime
from penstock.transaction import (
    Addition,
    Identity,
    MarkerTask,
    TransactionConfig,
    TransactionRecord,
    TransactionShard,
    marker_task,
)

T0 = TopicPartition("t", 0)
FIRST = Identity(1, 0)


class MemoryJournal:
    def __init__(self) -> None:
        self.records: list[TransactionRecord] = []
        self.full = False
        self.committed = asyncio.Event()
        self.committed.set()

    @property
    def end_offset(self) -> int:
        return len(self.records)

    def append(self, records: Sequence[TransactionRecord]) -> int:
        if self.full:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "no space")
        self.records += records
        return len(self.records) - len(records)

    def is_committed(self, end_offset: int) -> bool:
        return False

    async def wait_committed(self, end_offset: int) -> None:
        await asyncio.sleep(0)
        await self.committed.wait()

    def load(self) -> Iterator[tuple[int, TransactionRecord]]:
        return iter(enumerate(self.records))


class WallClock:
    def now_ms(self) -> int:
        return int(asyncio.get_running_loop().time() * 1000)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


class Node:
    """Takes up the tasks of markers as a host would, and writes none by itself."""

    def __init__(self, journal: MemoryJournal) -> None:
        self.journal = journal
        self.tasks: list[MarkerTask] = []
        producer_ids = iter(range(1, 100))
        shard = TransactionShard(TransactionConfig(), lambda: next(producer_ids))
        self.clock = WallClock()
        self.runtime: Runtime[TransactionShard, TransactionRecord] = Runtime(
            shard, journal, self.clock, self._on_commit
        )

    def _on_commit(self, records: Sequence[TransactionRecord], base_offset: int) -> None:
        tasks = (marker_task(record) for record in records)
        self.tasks += [task for task in tasks if task is not None]

    async def start(self) -> None:
        self.runtime.load()
        await self.runtime.submit(lambda shard: shard.decide_loaded(self.clock.now_ms()))
        self.tasks += self.runtime.machine.pending_markers()

    async def init(self, timeout_ms: int = 60_000) -> InitProducerIdResponse:
        request = InitProducerIdRequest(transactional_id="a", transaction_timeout_ms=timeout_ms)
        return await self.runtime.submit(
            lambda shard: shard.decide_init_producer_id(request, 5, self.clock.now_ms())
        )

    async def add(self, identity: Identity) -> ErrorCode:
        addition = Addition("a", *identity, (T0,))
        result = await self.runtime.submit(
            lambda shard: shard.decide_add_partitions(addition, self.clock.now_ms())
        )
        return result[T0]

    async def commit(self, identity: Identity) -> EndTxnResponse:
        request = EndTxnRequest(
            transactional_id="a",
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            committed=True,
        )
        return await self.runtime.submit(
            lambda shard: shard.decide_end(request, 5, self.clock.now_ms())
        )

    async def write_markers(self) -> list[bool]:
        tasks, self.tasks = self.tasks, []
        return [await self._report(task) for task in tasks]

    async def _report(self, task: MarkerTask) -> bool:
        return await self.runtime.submit(
            lambda shard: shard.decide_markers_written(
                task.transactional_id, task.identity, task.partitions, self.clock.now_ms()
            )
        )


async def open_transaction(timeout_ms: int = 60_000) -> Node:
    node = Node(MemoryJournal())
    await node.start()
    assert (await node.init(timeout_ms)).producer_id == FIRST.producer_id
    assert await node.add(FIRST) is ErrorCode.NONE
    return node


def test_a_commit_is_told_and_marked_once_it_is_committed() -> None:
    async def story() -> None:
        node = await open_transaction()
        node.journal.committed.clear()
        commit = asyncio.create_task(node.commit(FIRST))
        await asyncio.sleep(0.01)
        assert not commit.done()
        assert node.tasks == []
        node.journal.committed.set()
        assert (await commit).producer_epoch == 1
        assert node.tasks == [MarkerTask("a", Identity(1, 1), True, 2, frozenset({T0}))]
        assert (await node.commit(FIRST)).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        assert await node.write_markers() == [True]
        assert (await node.commit(FIRST)).error_code == ErrorCode.NONE
        await node.runtime.close()

    asyncio.run(story())


def test_a_full_disk_ends_nothing() -> None:
    async def story() -> None:
        node = await open_transaction()
        node.journal.full = True
        with pytest.raises(ApiError):
            await node.commit(FIRST)
        with pytest.raises(ApiError):
            await node.init()
        node.journal.full = False
        assert (await node.commit(FIRST)).error_code == ErrorCode.NONE
        assert len(node.tasks) == 1
        await node.runtime.close()

    asyncio.run(story())


def test_a_timeout_aborts_even_where_the_disk_was_full() -> None:
    async def story() -> None:
        node = await open_transaction(timeout_ms=30)
        node.journal.full = True
        await asyncio.sleep(0.1)
        assert node.tasks == []
        node.journal.full = False
        for _ in range(300):
            if node.tasks:
                break
            await asyncio.sleep(0.01)
        assert node.tasks == [MarkerTask("a", Identity(1, 1), False, 2, frozenset({T0}))]
        assert await node.write_markers() == [True]
        assert await node.add(FIRST) is ErrorCode.PRODUCER_FENCED
        await node.runtime.close()

    asyncio.run(story())


def test_a_restart_goes_on_with_the_markers() -> None:
    async def story() -> None:
        node = await open_transaction()
        await node.commit(FIRST)
        await node.runtime.close()
        again = Node(node.journal)
        await again.start()
        assert again.tasks == node.tasks
        assert (await again.init()).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        assert await again.write_markers() == [True]
        assert (await again.init()).producer_epoch == 2
        await again.runtime.close()

    asyncio.run(story())
