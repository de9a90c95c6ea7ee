"""The shard under the real runtime: parked callers, a full disk, timers on the wall clock."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from penstock.group import Caller, GroupConfig, GroupEntry, GroupShard
from penstock.model.error import ApiError, ErrorCode
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from penstock.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from penstock.runtime.driver import Runtime

CONFIG = GroupConfig(group_initial_rebalance_delay_ms=20, group_min_session_timeout_ms=1)


class MemoryJournal:
    def __init__(self) -> None:
        self.records: list[GroupEntry] = []
        self.full = False
        self.committed = asyncio.Event()
        self.committed.set()

    @property
    def end_offset(self) -> int:
        return len(self.records)

    def append(self, records: Sequence[GroupEntry]) -> int:
        if self.full:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "no space")
        self.records += records
        return len(self.records) - len(records)

    def is_committed(self, end_offset: int) -> bool:
        return False

    async def wait_committed(self, end_offset: int) -> None:
        await asyncio.sleep(0)
        await self.committed.wait()

    def load(self) -> Iterator[tuple[int, GroupEntry]]:
        return iter(enumerate(self.records))


class WallClock:
    def now_ms(self) -> int:
        return int(asyncio.get_running_loop().time() * 1000)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


class Node:
    def __init__(self, journal: MemoryJournal) -> None:
        self.journal = journal
        uuids = iter(range(1, 100))
        shard = GroupShard(CONFIG, lambda: str(next(uuids)))
        self.clock = WallClock()
        self.runtime: Runtime[GroupShard, GroupEntry] = Runtime(shard, journal, self.clock)

    async def start(self) -> None:
        self.runtime.load()
        await self.runtime.submit(lambda shard: shard.decide_loaded(self.clock.now_ms()))

    async def join(self, client: str, member_id: str = "", version: int = 3) -> JoinGroupResponse:
        request = JoinGroupRequest(
            group_id="g",
            member_id=member_id,
            session_timeout_ms=60,
            rebalance_timeout_ms=200,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range")],
        )
        caller = Caller(version, client)
        return await self.runtime.submit(
            lambda shard: shard.classic.decide_join(request, caller, self.clock.now_ms())
        )

    async def sync(self, member_id: str, *assigned: str) -> SyncGroupResponse:
        request = SyncGroupRequest(
            group_id="g",
            member_id=member_id,
            generation_id=1,
            assignments=[
                SyncGroupRequestAssignment(member_id=one, assignment=one.encode())
                for one in assigned
            ],
        )
        return await self.runtime.submit(
            lambda shard: shard.classic.decide_sync(request, Caller(4), self.clock.now_ms())
        )

    async def heartbeat(self, member_id: str) -> int:
        request = HeartbeatRequest(group_id="g", member_id=member_id, generation_id=1)
        response = await self.runtime.submit(
            lambda shard: shard.classic.decide_heartbeat(request, self.clock.now_ms())
        )
        return response.error_code


async def two_members(node: Node) -> None:
    await node.start()
    first, second = await asyncio.gather(node.join("a"), node.join("b"))
    assert (first.member_id, second.member_id) == ("a-1", "b-2")
    assert (first.generation_id, second.generation_id) == (1, 1)
    assert first.leader == second.leader == "a-1"


def test_members_join_sync_and_expire() -> None:
    async def story() -> None:
        node = Node(MemoryJournal())
        await two_members(node)
        follower, leader = await asyncio.gather(node.sync("b-2"), node.sync("a-1", "a-1", "b-2"))
        assert (leader.assignment, follower.assignment) == (b"a-1", b"b-2")
        assert await node.heartbeat("a-1") == ErrorCode.NONE
        await asyncio.sleep(0.5)
        assert await node.heartbeat("a-1") == ErrorCode.UNKNOWN_MEMBER_ID
        await node.runtime.close()

    asyncio.run(story())


def test_an_assignment_is_told_once_it_is_committed() -> None:
    async def story() -> None:
        node = Node(MemoryJournal())
        await two_members(node)
        node.journal.committed.clear()
        follower = asyncio.create_task(node.sync("b-2"))
        await asyncio.sleep(0)
        leader = asyncio.create_task(node.sync("a-1", "a-1", "b-2"))
        await asyncio.sleep(0.01)
        assert not follower.done()
        assert not leader.done()
        node.journal.committed.set()
        assert (await follower).assignment == b"b-2"
        assert (await leader).assignment == b"a-1"
        await node.runtime.close()

    asyncio.run(story())


def test_a_full_disk_refuses_the_leader_and_loses_nobody() -> None:
    async def story() -> None:
        node = Node(MemoryJournal())
        await two_members(node)
        follower = asyncio.create_task(node.sync("b-2"))
        await asyncio.sleep(0)
        node.journal.full = True
        with pytest.raises(ApiError):
            await node.sync("a-1", "a-1", "b-2")
        assert not follower.done()
        node.journal.full = False
        await node.sync("a-1", "a-1", "b-2")
        assert (await follower).assignment == b"b-2"
        await node.runtime.close()

    asyncio.run(story())


def test_a_restart_knows_the_members() -> None:
    async def story() -> None:
        journal = MemoryJournal()
        node = Node(journal)
        await two_members(node)
        await asyncio.gather(node.sync("b-2"), node.sync("a-1", "a-1", "b-2"))
        await node.runtime.close()
        again = Node(journal)
        await again.start()
        assert await again.heartbeat("b-2") == ErrorCode.NONE
        await asyncio.sleep(0.5)
        assert await again.heartbeat("b-2") == ErrorCode.UNKNOWN_MEMBER_ID
        await again.runtime.close()

    asyncio.run(story())
