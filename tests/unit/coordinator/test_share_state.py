"""Share partitions whose state is kept by another broker, which does not always answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.coordinator.brokers import NoAnswer
from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.write_share_group_state import WriteShareGroupStateRequest
from tests.unit.coordinator.client_kit import TxnProducer
from tests.unit.coordinator.cluster_kit import KitCluster
from tests.unit.coordinator.share_kit import Member, switch_on

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


async def _is_silent(node_id: int, request: Entity) -> None:
    if isinstance(request, WriteShareGroupStateRequest):
        raise NoAnswer("down")


def test_records_whose_acknowledgement_is_not_kept_are_handed_out_once_more(
    cluster: KitCluster,
) -> None:
    async def story(cluster: KitCluster) -> None:
        switch_on(cluster)
        await produce(cluster, b"a", b"b")
        member = Member(cluster)
        await member.join()
        assert await member.fetch() == [(0, 1, 1)]
        cluster.before_call = _is_silent
        assert await member.acknowledge(0, 1) == ErrorCode.COORDINATOR_NOT_AVAILABLE
        cluster.before_call = None
        await asyncio.sleep(LOCK_S)
        assert await member.fetch() == [(0, 1, 2)]

    cluster.run(story)
