"""Records that are deleted on every replica, or not within the time that was given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_kit import ClusterClient

NAMES = ("a", "b", "c")
WHERE = TopicPartition("t", 0)
RECORDS = 10


@contextmanager
def started(seed: int) -> Iterator[tuple[SimulatedCluster, ClusterClient]]:
    with SimulatedCluster(seed, build=build_member) as cluster:
        add_members(cluster, NAMES)
        cluster.start(*NAMES)
        client = ClusterClient(cluster, NAMES)
        cluster.run(client.create(WHERE.topic, 1))
        cluster.run(client.wait_in_sync([WHERE]))
        cluster.run(_fill(client))
        yield cluster, client


async def _fill(client: ClusterClient) -> None:
    for number in range(RECORDS):
        await client.send(WHERE, b"%d" % number)


async def _delete(client: ClusterClient, offset: int, timeout_ms: int) -> tuple[int, int]:
    asked = DeleteRecordsPartition(partition_index=WHERE.partition, offset=offset)
    topic = DeleteRecordsTopic(name=WHERE.topic, partitions=[asked])
    leader = await client.leader(WHERE)
    response: Any = await client.peer(leader.leader_id).call(
        DeleteRecordsRequest(topics=[topic], timeout_ms=timeout_ms), timeout_s=60
    )
    (told,) = response.topics[0].partitions
    return told.error_code, told.low_watermark


def starts(cluster: SimulatedCluster) -> list[int]:
    nodes = [cluster.hosts[name].node for name in NAMES]
    homes = [node.log_dirs.home(WHERE) for node in nodes if node is not None]
    return [home.logs[WHERE].log_start_offset for home in homes if home is not None]


def a_follower(cluster: SimulatedCluster, client: ClusterClient) -> str:
    leader = cluster.run(client.leader(WHERE)).leader_id
    return NAMES[leader % len(NAMES)]


def test_answered_when_every_replica_has_done_it() -> None:
    with started(1) as (cluster, client):
        assert cluster.run(_delete(client, 4, 30_000)) == (ErrorCode.NONE, 4)
        assert starts(cluster) == [4, 4, 4]
        assert cluster.run(_delete(client, -1, 30_000)) == (ErrorCode.NONE, RECORDS)
        assert starts(cluster) == [RECORDS] * 3


def test_a_follower_that_hears_nothing_is_waited_for_until_the_time_is_up() -> None:
    with started(2) as (cluster, client):
        follower = a_follower(cluster, client)
        cluster.pause(follower)
        began_s = cluster.now_s
        code, low = cluster.run(_delete(client, 7, 2000))
        assert (code, low) == (ErrorCode.REQUEST_TIMED_OUT, 0)
        assert 2 <= cluster.now_s - began_s < 3
        cluster.resume(follower)
        assert cluster.run(_delete(client, 7, 60_000)) == (ErrorCode.NONE, 7)
        assert starts(cluster) == [7, 7, 7]


def test_who_is_fenced_is_not_waited_for() -> None:
    with started(3) as (cluster, client):
        cluster.crash(a_follower(cluster, client))
        began_s = cluster.now_s
        assert cluster.run(_delete(client, 5, 60_000)) == (ErrorCode.NONE, 5)
        # It takes the session timeout until it is known to be away.
        assert 5 < cluster.now_s - began_s < 30
