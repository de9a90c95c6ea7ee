"""A partition that is moved with a throttle, in virtual time: no faster than it may be."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from penstock.model.id import TopicPartition
from penstock.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_kit import ClusterClient

NAMES = ("a", "b", "c")
WHERE = TopicPartition("t", 0)
RATE = 100_000
BATCH_BYTES = 50_000
BATCHES = 40
FETCH_BYTES = 100_000
TOPIC, BROKER = 2, 4
SET, DELETE = 0, 1


@contextmanager
def started(seed: int) -> Iterator[tuple[SimulatedCluster, ClusterClient]]:
    """With a topic of 2 MB on the first two nodes."""
    with SimulatedCluster(seed, build=build_member) as cluster:
        add_members(cluster, NAMES, {"replica.fetch.max.bytes": FETCH_BYTES})
        cluster.start(*NAMES)
        client = ClusterClient(cluster, NAMES)
        cluster.run(_create(client))
        cluster.run(_fill(client))
        yield cluster, client


async def _create(client: ClusterClient) -> None:
    place = CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2])
    flush = CreatableTopicConfig(name="flush.messages", value="1000000")
    topic = CreatableTopic(
        name=WHERE.topic,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[place],
        configs=[flush],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=5000)
    response: Any = await client.any().call(request, timeout_s=10)
    assert response.topics[0].error_code == 0, response


async def _fill(client: ClusterClient) -> None:
    for number in range(BATCHES):
        await client.send(WHERE, b"%d" % number + b"." * BATCH_BYTES)


async def _set(client: ClusterClient, resource: tuple[int, str], **values: str | None) -> None:
    kind, name = resource
    changes = [
        AlterableConfig(
            name=key.replace("_", "."),
            config_operation=DELETE if value is None else SET,
            value=value,
        )
        for key, value in values.items()
    ]
    asked = AlterConfigsResource(resource_type=kind, resource_name=name, configs=changes)
    peer = client.peer(int(name)) if kind == BROKER else client.any()
    response: Any = await peer.call(IncrementalAlterConfigsRequest(resources=[asked]), timeout_s=10)
    assert response.responses[0].error_code == 0, response


async def _throttle(client: ClusterClient, sides: tuple[str, ...]) -> None:
    replicas = {"leader": "0:1,0:2", "follower": "0:3"}
    for side in sides:
        for broker in (1, 2, 3):
            rate = {f"{side}_replication_throttled_rate": str(RATE)}
            await _set(client, (BROKER, str(broker)), **rate)
        named = {f"{side}_replication_throttled_replicas": replicas[side]}
        await _set(client, (TOPIC, WHERE.topic), **named)


async def _move(client: ClusterClient) -> None:
    wanted = ReassignablePartition(partition_index=0, replicas=[1, 3])
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=WHERE.topic, partitions=[wanted])], timeout_ms=5000
    )
    response: Any = await client.any().call(request, timeout_s=10)
    assert response.responses[0].partitions[0].error_code == 0, response


async def _wait_moved(client: ClusterClient) -> None:
    while True:
        one = await client.partition(*WHERE)
        if one is not None and list(one.replica_nodes) == [1, 3]:
            return
        await asyncio.sleep(0.05)


def copied_bytes(cluster: SimulatedCluster) -> int:
    node = cluster.hosts["c"].node
    home = None if node is None else node.log_dirs.home(WHERE)
    log = None if home is None else home.logs.get(WHERE)
    return 0 if log is None else log.size_bytes


def test_without_a_throttle_it_takes_no_time() -> None:
    with started(1) as (cluster, client):
        began_s = cluster.now_s
        cluster.run(_move(client))
        cluster.run(_wait_moved(client))
        assert cluster.now_s - began_s < BATCHES * BATCH_BYTES / RATE / 4


@pytest.mark.parametrize("sides", [("leader",), ("follower",), ("leader", "follower")])
def test_no_faster_than_it_may(sides: tuple[str, ...]) -> None:
    with started(2) as (cluster, client):
        cluster.run(_throttle(client, sides))
        began_s = cluster.now_s

        def keeps_the_rate() -> None:
            allowed = RATE * (cluster.now_s - began_s + 1.0) + 2 * FETCH_BYTES
            assert copied_bytes(cluster) <= allowed

        cluster.invariants.append(keeps_the_rate)
        cluster.run(_move(client))
        cluster.run(_wait_moved(client))
        took_s = cluster.now_s - began_s
        # Nor much slower, and not at all stopped.
        assert BATCHES * BATCH_BYTES / RATE - 4 < took_s < 3 * BATCHES * BATCH_BYTES / RATE
        assert len(cluster.run(client.read_all(WHERE))) == BATCHES


def test_who_is_in_sync_is_written_to_at_full_speed() -> None:
    with started(3) as (cluster, client):
        cluster.run(_throttle(client, ("leader", "follower")))
        cluster.run(_move(client))
        began_s = cluster.now_s
        cluster.run(_fill(client))
        assert cluster.now_s - began_s < BATCHES * BATCH_BYTES / RATE / 4
        assert set(cluster.run(client.partition(*WHERE)).isr_nodes) == {1, 2}


def test_a_throttle_taken_away_holds_nobody_back() -> None:
    with started(4) as (cluster, client):
        cluster.run(_throttle(client, ("leader", "follower")))
        cluster.run(_move(client))
        cluster.run_for(2)
        for side in ("leader", "follower"):
            named = {f"{side}_replication_throttled_replicas": None}
            cluster.run(_set(client, (TOPIC, WHERE.topic), **named))
        began_s = cluster.now_s
        cluster.run(_wait_moved(client))
        assert cluster.now_s - began_s < BATCHES * BATCH_BYTES / RATE / 4
