"""A topic that has just been made, asked for at every node while some have not heard of it yet.

Nodes may know of it or not, as in Kafka; none knows a part of it, and none that leads a partition
denies it in a way that clients do not ask again after.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_kit import ClusterClient

NAMES = ("a", "b", "c")
PARTITIONS = 6
REPLICAS = 3
LATEST = -1
PASSING = {
    ErrorCode.NONE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.OFFSET_NOT_AVAILABLE,
}


async def leaders(client: ClusterClient, node: int, topic: str) -> dict[int, int]:
    """Of all partitions, or nothing."""
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=topic)])
    response: Any = await client.peer(node).call(request, timeout_s=10)
    (told,) = response.topics
    if told.error_code:
        assert told.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return {}
    assert len(told.partitions) == PARTITIONS
    return {one.partition_index: one.leader_id for one in told.partitions}


async def latest(client: ClusterClient, node: int, topic: str, index: int) -> tuple[int, int]:
    asked = ListOffsetsPartition(partition_index=index, timestamp=LATEST)
    wanted = ListOffsetsTopic(name=topic, partitions=[asked])
    response: Any = await client.peer(node).call(ListOffsetsRequest(topics=[wanted]), timeout_s=10)
    (told,) = response.topics[0].partitions
    return told.error_code, told.offset


async def ask_everybody(client: ClusterClient, topic: str) -> bool:
    """Whether all know all of it by now."""
    is_known = True
    for node in (1, 2, 3):
        named = await leaders(client, node, topic)
        is_known &= bool(named)
        for index, leader in named.items():
            code, offset = await latest(client, leader, topic, index)
            assert code in PASSING
            assert (code == ErrorCode.NONE) == (offset == 0)
            is_known &= code == ErrorCode.NONE
    return is_known


@pytest.mark.parametrize("number", range(1, 4))
def test_all_of_it_or_nothing(number: int) -> None:
    with SimulatedCluster(number, build=build_member) as cluster:
        add_members(cluster, NAMES)
        cluster.start(*NAMES)
        client = ClusterClient(cluster, NAMES)
        for one, other in (("a", "b"), ("b", "c"), ("a", "c")):
            cluster.slow(one, other, cluster.random.uniform(0, 0.4))

        async def story() -> int:
            making = asyncio.ensure_future(client.create("t", PARTITIONS))
            looks = 0
            while not await ask_everybody(client, "t") or not making.done():
                looks += 1
                await asyncio.sleep(0.01)
            await making
            return looks

        assert cluster.run(story(), 120) > 0


async def make_at(client: ClusterClient, node: int, topic: str) -> None:
    wanted = CreatableTopic(name=topic, num_partitions=PARTITIONS, replication_factor=REPLICAS)
    request = CreateTopicsRequest(topics=[wanted], timeout_ms=5000)
    response: Any = await client.peer(node).call(request, timeout_s=10)
    assert response.topics[0].error_code == ErrorCode.NONE


async def delete_at(client: ClusterClient, node: int, topic: str) -> None:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=5000)
    response: Any = await client.peer(node).call(request, timeout_s=10)
    assert response.responses[0].error_code == ErrorCode.NONE


def test_the_node_that_was_asked_knows_of_it_when_it_answers() -> None:
    with SimulatedCluster(7, build=build_member) as cluster:
        add_members(cluster, NAMES)
        cluster.start(*NAMES)
        client = ClusterClient(cluster, NAMES)

        async def story() -> None:
            for number in range(30):
                node, topic = 1 + number % 3, f"t{number}"
                await make_at(client, node, topic)
                assert await leaders(client, node, topic)
                await delete_at(client, node, topic)
                assert not await leaders(client, node, topic)

        cluster.run(story())
