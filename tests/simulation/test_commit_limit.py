"""A coordinator whose replicas are silent: clients hear so in time, and what was written stays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from penstock.model.error import ErrorCode
from penstock.peer.error import PeerError
from penstock.protocol.entity import Entity
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_kit import ClusterClient

NAMES = ("a", "b", "c")
TOPIC = "t"
NAME = "g"
GROUP, TRANSACTION = 0, 1
SETTINGS = {
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    # Replicas that hear nothing stay in the in-sync set for as long as this test runs.
    "replica.lag.time.max.ms": 600_000,
    "broker.session.timeout.ms": 600_000,
}


@contextmanager
def started(seed: int) -> Iterator[tuple[SimulatedCluster, ClusterClient]]:
    with SimulatedCluster(seed, build=build_member) as cluster:
        add_members(cluster, NAMES, SETTINGS)
        cluster.start(*NAMES)
        client = ClusterClient(cluster, NAMES)
        cluster.run(client.create(TOPIC, 1))
        yield cluster, client


async def coordinator(client: ClusterClient, kind: int) -> int:
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[NAME])
    while True:
        with suppress(PeerError):
            response: Any = await client.any().call(request, timeout_s=10)
            (found,) = response.coordinators
            if found.error_code == ErrorCode.NONE:
                return int(found.node_id)
        await asyncio.sleep(0.1)


def commit(offset: int) -> OffsetCommitRequest:
    part = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topic = OffsetCommitRequestTopic(name=TOPIC, partitions=[part])
    return OffsetCommitRequest(group_id=NAME, topics=[topic])


def commit_error(response: Any) -> int:
    return int(response.topics[0].partitions[0].error_code)


def init_error(response: Any) -> int:
    return int(response.error_code)


async def ask(client: ClusterClient, node: int, request: Entity, version: int) -> Any:
    return await client.peer(node).call(request, version=version, timeout_s=120)


async def until_good(
    client: ClusterClient, node: int, request: Entity, version: int, error: Callable[[Any], int]
) -> None:
    """The internal topic has to be made and loaded first."""
    while error(await ask(client, node, request, version)):
        await asyncio.sleep(0.1)


async def committed_offset(client: ClusterClient, node: int) -> int:
    topic = OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[0])
    group = OffsetFetchRequestGroup(group_id=NAME, topics=[topic])
    response = await ask(client, node, OffsetFetchRequest(groups=[group]), 9)
    return int(response.groups[0].topics[0].partitions[0].committed_offset)


def silence(cluster: SimulatedCluster, node: int) -> list[str]:
    others = [name for number, name in enumerate(NAMES, 1) if number != node]
    for name in others:
        cluster.pause(name)
    return others


def test_a_commit_that_replicas_do_not_take_is_answered_in_time_and_holds_later() -> None:
    with started(1) as (cluster, client):
        node = cluster.run(coordinator(client, GROUP))
        cluster.run(until_good(client, node, commit(1), 9, commit_error))
        others = silence(cluster, node)
        began_s = cluster.now_s
        refused = cluster.run(ask(client, node, commit(7), 9))
        assert commit_error(refused) == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert 5 <= cluster.now_s - began_s < 6
        for name in others:
            cluster.resume(name)
        assert cluster.run(committed_offset(client, node)) == 7
        assert commit_error(cluster.run(ask(client, node, commit(8), 9))) == 0
        assert cluster.run(committed_offset(client, node)) == 8


def test_a_transaction_is_told_so_as_well() -> None:
    with started(2) as (cluster, client):
        node = cluster.run(coordinator(client, TRANSACTION))
        init = InitProducerIdRequest(transactional_id=NAME, transaction_timeout_ms=60_000)
        cluster.run(until_good(client, node, init, 4, init_error))
        others = silence(cluster, node)
        began_s = cluster.now_s
        refused = cluster.run(ask(client, node, init, 4))
        assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert 30 <= cluster.now_s - began_s < 31
        for name in others:
            cluster.resume(name)
        cluster.run(until_good(client, node, init, 4, init_error))
