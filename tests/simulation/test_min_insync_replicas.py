"""`min.insync.replicas` counts as it was set last, was a partition in use by then or not."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.testing.simulation.cluster import SimulatedCluster
from penstock.testing.simulation.member import add_members, build_member
from tests.simulation.cluster_kit import ClusterClient, Refused

NAMES = ("a", "b", "c")
WHERE = TopicPartition("t", 0)
TOPIC = 2


async def create(client: ClusterClient) -> None:
    """On the nodes 1 and 2."""
    assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2])
    wanted = CreatableTopic(
        name=WHERE.topic, num_partitions=-1, replication_factor=-1, assignments=[assignment]
    )
    request = CreateTopicsRequest(topics=[wanted], timeout_ms=5000)
    response: Any = await client.peer(1).call(request, timeout_s=10)
    assert response.topics[0].error_code == ErrorCode.NONE


async def ask_for(client: ClusterClient, replicas: int) -> None:
    config = AlterableConfig(name="min.insync.replicas", value=str(replicas))
    resource = AlterConfigsResource(
        resource_type=TOPIC, resource_name=WHERE.topic, configs=[config]
    )
    request = IncrementalAlterConfigsRequest(resources=[resource])
    response: Any = await client.peer(3).call(request, timeout_s=10)
    assert response.responses[0].error_code == ErrorCode.NONE


def test_a_setting_reaches_a_partition_that_nobody_has_touched_since_the_start() -> None:
    with SimulatedCluster(1, build=build_member) as cluster:
        add_members(cluster, NAMES)
        cluster.start(*NAMES)
        client = ClusterClient(cluster, NAMES)
        cluster.run(create(client))
        cluster.run(client.send_until_taken(WHERE, b"before"))
        cluster.stop("b")
        cluster.stop("a")
        cluster.start("a")
        cluster.run(ask_for(client, 2))
        cluster.run_for(1)
        client.forget_leader(WHERE)
        with pytest.raises(Refused) as refused:
            cluster.run(client.send(WHERE, b"alone"))
        assert refused.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
