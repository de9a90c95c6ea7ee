"""A group's coordinator moves to another broker: members keep their generation, offsets their
place, and whoever waits is sent on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock.coordinator.topic import CONSUMER_OFFSETS, TRANSACTION_STATE, partition_of
from penstock.model.error import ErrorCode
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.unit.coordinator.client_kit import (
    GROUP,
    commit_offset,
    commit_request,
    committed_offset,
    coordinator,
    retried,
)
from tests.unit.coordinator.cluster_kit import KitCluster


@pytest.fixture
def cluster(tmp_path: Path) -> KitCluster:
    return KitCluster(tmp_path)


def join_request(member_id: str = "", group: str = "g") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=30_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0" * 10)],
    )


async def join(cluster: KitCluster) -> Any:
    """A member of a stable group."""
    answers: list[Any] = []

    async def ask() -> int:
        node = await coordinator(cluster, GROUP, "g")
        member_id = answers[-1].member_id if answers else ""
        answer = await node.ask(join_request(member_id), 5)
        answers.append(answer)
        return int(answer.error_code)

    assert await retried(ask) == ErrorCode.MEMBER_ID_REQUIRED
    assert await retried(ask) == 0
    joined = answers[-1]
    node = await coordinator(cluster, GROUP, "g")
    synced = await node.ask(
        SyncGroupRequest(
            group_id="g",
            member_id=joined.member_id,
            generation_id=joined.generation_id,
            assignments=[
                SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"mine")
            ],
        ),
        3,
    )
    assert synced.error_code == 0
    return joined


async def heartbeat(cluster: KitCluster, member: Any) -> ErrorCode:
    request = HeartbeatRequest(
        group_id="g", member_id=member.member_id, generation_id=member.generation_id
    )

    async def ask() -> int:
        return int((await (await coordinator(cluster, GROUP, "g")).ask(request, 4)).error_code)

    return await retried(ask)


def test_members_keep_their_generation(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        member = await join(cluster)
        for leader in (3, 2, 1):
            cluster.move(CONSUMER_OFFSETS, leader)
            assert await heartbeat(cluster, member) == 0
            node = await coordinator(cluster, GROUP, "g")
            assert node.id == leader
            request = commit_request("g", leader, member.member_id, member.generation_id)
            answer = await node.ask(request, 8)
            assert answer.topics[0].partitions[0].error_code == 0
        assert await committed_offset(cluster, "g") == (1, 0)
        # A whole session from the last move on, and then it is over.
        await asyncio.sleep(9)
        assert await heartbeat(cluster, member) == 0
        await asyncio.sleep(11)
        assert await heartbeat(cluster, member) == ErrorCode.UNKNOWN_MEMBER_ID

    cluster.run(story)


def test_the_old_machine_expires_nobody(cluster: KitCluster) -> None:
    """Its timers stop with it: the member is the new coordinator's to watch."""

    async def story(cluster: KitCluster) -> None:
        member = await join(cluster)
        old = cluster.nodes[1].broker.groups.loaded_of("g")
        assert old is not None
        cluster.move(CONSUMER_OFFSETS, 3)
        for _ in range(5):
            await asyncio.sleep(4)
            assert await heartbeat(cluster, member) == 0
        assert old.failure is not None
        log = cluster.nodes[3].partition(CONSUMER_OFFSETS).log
        assert log.epochs.latest == 1

    cluster.run(story)


def test_offsets_are_there_after_the_move(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        for number in range(20):
            assert await commit_offset(cluster, f"g{number}", number) == 0
        cluster.move(CONSUMER_OFFSETS, 2)
        for number in range(20):
            assert await committed_offset(cluster, f"g{number}") == (number, 0)

    cluster.run(story)


def test_who_waits_is_sent_on(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        await join(cluster)
        node = cluster.nodes[1]
        asked = await node.ask(join_request(), 5)
        parked = asyncio.create_task(node.ask(join_request(asked.member_id), 5))
        cluster.stopped_replicas.add(CONSUMER_OFFSETS)
        uncommitted = asyncio.create_task(node.ask(commit_request("other", 7), 8))
        await asyncio.sleep(0.5)
        assert not parked.done() and not uncommitted.done()
        cluster.move(CONSUMER_OFFSETS, 3)
        cluster.stopped_replicas.clear()
        assert (await parked).error_code == ErrorCode.NOT_COORDINATOR
        answer = await uncommitted
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
        assert (await node.ask(join_request(), 5)).error_code == ErrorCode.NOT_COORDINATOR
        assert await committed_offset(cluster, "other") == (-1, 0), "it was never committed"

    cluster.run(story)


def test_nothing_is_told_that_a_successor_could_lack(cluster: KitCluster) -> None:
    """The new leader has records that nobody knows to be committed: it tells of them when they
    are."""

    async def story(cluster: KitCluster) -> None:
        assert await commit_offset(cluster, "g", 1) == 0
        node = cluster.nodes[1]
        cluster.nodes[2].is_deaf = True
        asked = asyncio.create_task(node.ask(commit_request("g", 2), 8))
        await asyncio.sleep(0.5)
        assert not asked.done(), "in sync, and does not have it"
        assert cluster.nodes[3].partition(CONSUMER_OFFSETS).log.end_offset == 2
        cluster.move(CONSUMER_OFFSETS, 3)
        code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        answer = await cluster.nodes[3].ask(commit_request("g", 3), 8)
        assert answer.topics[0].partitions[0].error_code == code
        assert (await cluster.nodes[3].ask(ListGroupsRequest(), 4)).error_code == code
        cluster.wake(2)
        assert await committed_offset(cluster, "g") == (2, 0)

    cluster.run(story)


def test_a_load_that_waits_for_replicas_holds_up_no_other(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        cluster.delete(CONSUMER_OFFSETS)
        cluster.create(CONSUMER_OFFSETS, 1, 1)
        cluster.tell()
        first = next(name for name in ("g", "h", "i", "j") if partition_of(name, 2) == 0)
        other = next(name for name in ("g", "h", "i", "j") if partition_of(name, 2) == 1)
        assert await commit_offset(cluster, first, 1) == await commit_offset(cluster, other, 1) == 0
        await asyncio.sleep(0.1)
        cluster.nodes[2].is_deaf = True
        asked = asyncio.create_task(cluster.nodes[1].ask(commit_request(first, 2), 8))
        await asyncio.sleep(0.1)
        for index in (0, 1):
            cluster.move(CONSUMER_OFFSETS, 3, index)
        await asyncio.sleep(10)
        groups = cluster.nodes[3].broker.groups
        assert groups.loaded_at(0) is None and groups.loaded_at(1) is not None
        answer = await asked
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR

    cluster.run(story)


def test_a_load_that_another_move_overtakes_is_thrown_away(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        assert await commit_offset(cluster, "g", 1) == 0
        await asyncio.sleep(0.1)
        third = cluster.nodes[3]
        cluster.move(CONSUMER_OFFSETS, 3)
        asked = asyncio.create_task(third.ask(commit_request("g", 5), 8))
        await asyncio.sleep(0)
        assert third.broker.groups.loaded_at(0) is None
        cluster.move(CONSUMER_OFFSETS, 2)
        answer = await asked
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
        assert await commit_offset(cluster, "g", 2) == 0
        assert third.broker.groups.loaded_at(0) is None
        cluster.move(CONSUMER_OFFSETS, 3)
        assert await committed_offset(cluster, "g") == (2, 0)
        assert await commit_offset(cluster, "g", 3) == 0

    cluster.run(story)


def test_led_again_it_is_loaded_anew(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        assert await commit_offset(cluster, "g", 1) == 0
        first = cluster.nodes[1].broker.groups.loaded_of("g")
        cluster.move(CONSUMER_OFFSETS, 2)
        assert await commit_offset(cluster, "g", 2) == 0
        cluster.move(CONSUMER_OFFSETS, 1)
        await asyncio.sleep(1)
        again = cluster.nodes[1].broker.groups.loaded_of("g")
        assert again is not None and again is not first, "in the background, asked by nobody"
        assert await committed_offset(cluster, "g") == (2, 0)

    cluster.run(story)


def test_the_coordinator_is_the_leader(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        async def find(node_id: int, kind: int = GROUP) -> tuple[int, int, str]:
            request = FindCoordinatorRequest(key_type=kind, coordinator_keys=["g"])
            (found,) = (await cluster.nodes[node_id].ask(request, 4)).coordinators
            return found.error_code, found.node_id, found.host

        assert await find(2) == (0, 1, "host1")
        cluster.move(CONSUMER_OFFSETS, 3)
        assert await find(1) == await find(2) == await find(3) == (0, 3, "host3")
        cluster.move(CONSUMER_OFFSETS, -1)
        away = (int(ErrorCode.COORDINATOR_NOT_AVAILABLE), -1, "")
        assert await find(1) == await find(3) == away
        answer = await cluster.nodes[3].ask(commit_request("g", 1), 8)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
        cluster.delete(TRANSACTION_STATE)
        assert await find(2, kind=1) == (0, 1, "host1"), "made by whoever asks first"

    cluster.run(story)


def test_nothing_is_lost_through_many_moves(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        async def wander() -> None:
            for step in range(60):
                await asyncio.sleep(0.029)
                cluster.move(CONSUMER_OFFSETS, 1 + step % 3)

        wandering = asyncio.create_task(wander())
        member = await join(cluster)
        acknowledged = 0
        while not wandering.done():
            assert await heartbeat(cluster, member) == 0
            assert await commit_offset(cluster, "simple", acknowledged + 1) == 0
            acknowledged += 1
            assert await committed_offset(cluster, "simple") == (acknowledged, 0)
        assert acknowledged > 20

    cluster.run(story)
