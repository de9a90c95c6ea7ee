"""Share partitions whose state is kept by another broker: one that does not always answer, or that
has heard of another leader meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.coordinator.brokers import NoAnswer
from penstock.coordinator.topic import SHARE_STATE
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.delete_groups import DeleteGroupsRequest
from penstock.protocol.messages.delete_share_group_state import DeleteShareGroupStateRequest
from penstock.protocol.messages.write_share_group_state import WriteShareGroupStateRequest
from tests.unit.coordinator.client_kit import GROUP as GROUP_KIND
from tests.unit.coordinator.client_kit import TxnProducer, coordinator
from tests.unit.coordinator.cluster_kit import DATA, KitCluster
from tests.unit.coordinator.share_kit import GROUP, RELEASE, RENEW, Member, switch_on

LOCK_S = 30.0


@pytest.fixture
def cluster(tmp_path: Path) -> KitCluster:
    return KitCluster(tmp_path)


async def produce(cluster: KitCluster, *values: bytes) -> None:
    producer = TxnProducer(cluster)
    assert await producer.init() == ErrorCode.NONE
    assert await producer.produce(*values) == ErrorCode.NONE
    assert await producer.end() == ErrorCode.NONE
    await producer.wait_complete()


def break_off(cluster: KitCluster, kind: type[Entity]) -> None:
    """No broker hears of such a request."""

    async def refuse(_: int, request: Entity) -> None:
        if isinstance(request, kind):
            raise NoAnswer("down")

    cluster.before_call = refuse


async def delete_group(cluster: KitCluster) -> ErrorCode:
    node = await coordinator(cluster, GROUP_KIND, GROUP)
    (result,) = (await node.ask(DeleteGroupsRequest(groups_names=[GROUP]))).results
    return ErrorCode(result.error_code)


def test_records_whose_acknowledgement_is_not_kept_are_handed_out_once_more(
    cluster: KitCluster,
) -> None:
    async def story(cluster: KitCluster) -> None:
        switch_on(cluster)
        await produce(cluster, b"a", b"b")
        member = Member(cluster)
        await member.join()
        assert await member.fetch() == [(0, 1, 1)]
        break_off(cluster, WriteShareGroupStateRequest)
        assert await member.acknowledge(0, 1) == ErrorCode.COORDINATOR_NOT_AVAILABLE
        cluster.before_call = None
        await asyncio.sleep(LOCK_S)
        assert await member.fetch() == [(0, 1, 2)]

    cluster.run(story)


def test_a_group_that_is_deleted_with_a_second_try_leaves_nothing_to_the_next(
    cluster: KitCluster,
) -> None:
    async def story(cluster: KitCluster) -> None:
        switch_on(cluster)
        await produce(cluster, b"a", b"b")
        before = Member(cluster)
        await before.join()
        assert await before.fetch() == [(0, 1, 1)]
        assert await before.acknowledge(0, 1) == ErrorCode.NONE
        await before.close()
        cluster.move(SHARE_STATE, 3)
        break_off(cluster, DeleteShareGroupStateRequest)
        assert await delete_group(cluster) == ErrorCode.COORDINATOR_NOT_AVAILABLE
        cluster.before_call = None
        assert await delete_group(cluster) == ErrorCode.NONE
        after = Member(cluster)
        await after.join()
        assert await after.fetch() == [(0, 1, 1)]
        assert await after.acknowledge(0, 1) == ErrorCode.NONE

    cluster.run(story)


def test_a_leader_that_was_none_for_a_while_hears_what_was_acknowledged(
    cluster: KitCluster,
) -> None:
    async def story(cluster: KitCluster) -> None:
        switch_on(cluster)
        await produce(cluster, b"a", b"b")
        here, there = Member(cluster), Member(cluster, "other")
        await here.join()
        assert await here.fetch() == [(0, 1, 1)]
        assert await here.acknowledge(0, 1, RELEASE) == ErrorCode.NONE
        # The state is kept without the node that hears nothing.
        cluster.nodes[2].is_deaf = True
        cluster.move(SHARE_STATE, 1, isr=[1, 3])
        cluster.move(DATA, 3)
        assert await there.fetch() == [(0, 1, 2)]
        assert await there.acknowledge(0, 0) == ErrorCode.NONE
        cluster.move(DATA, 2)
        cluster.wake(2)
        assert await here.fetch() == [(1, 1, 2)]
        assert await here.acknowledge(1, 1) == ErrorCode.NONE

    cluster.run(story)


def test_a_leader_that_stays_in_the_next_epoch_knows_who_has_what(cluster: KitCluster) -> None:
    async def story(cluster: KitCluster) -> None:
        switch_on(cluster)
        await produce(cluster, b"a", b"b")
        member = Member(cluster)
        await member.join()
        assert await member.fetch() == [(0, 1, 1)]
        for _ in range(3):
            cluster.move(DATA, 2)
            assert await member.fetch() == []
        assert await member.acknowledge(0, 1) == ErrorCode.NONE

    cluster.run(story)


@pytest.mark.parametrize(
    ("enable", "code"), [("true", ErrorCode.NONE), ("false", ErrorCode.INVALID_RECORD_STATE)]
)
def test_locks_are_renewed_where_the_group_has_it_so(
    cluster: KitCluster, enable: str, code: ErrorCode
) -> None:
    async def story(cluster: KitCluster) -> None:
        switch_on(cluster, renew_acknowledge_enable=enable)
        await produce(cluster, b"a")
        member = Member(cluster)
        await member.join()
        assert await member.fetch() == [(0, 0, 1)]
        assert await member.acknowledge(0, 0, RENEW) == code
        assert await member.acknowledge(0, 0) == ErrorCode.NONE

    cluster.run(story)
