"""What nodes ask of controllers: the active one answers, and the others say that they are not."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.peer.peer import Peer
from penstock.protocol.entity import Entity
from penstock.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from penstock.protocol.messages.alter_partition import AlterPartitionRequest
from penstock.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.describe_cluster import DescribeClusterRequest
from penstock.testing.simulation.cluster import CLIENT, SimulatedCluster
from penstock.testing.simulation.member import (
    BROKER_PORT,
    CLUSTER_ID,
    CONTROLLER_PORT,
    add_members,
    build_member,
)
from penstock.testing.simulation.socket import HostSockets

NAMES = ("a", "b", "c")
BROKERS, CONTROLLERS = 1, 2


def codes(response: Any) -> list[int]:
    if hasattr(response, "error_code"):
        return [response.error_code]
    return [topic.error_code for topic in response.topics]


@pytest.mark.parametrize(
    "request_",
    [
        AlterPartitionRequest(broker_id=1, broker_epoch=-1),
        AllocateProducerIdsRequest(broker_id=1, broker_epoch=-1),
        BrokerHeartbeatRequest(broker_id=1, broker_epoch=-1),
        CreateTopicsRequest(
            topics=[CreatableTopic(name="t", num_partitions=1, replication_factor=1)]
        ),
    ],
    ids=lambda request: request.NAME,
)
def test_only_the_active_controller_decides(request_: Entity) -> None:
    with SimulatedCluster(1, build=build_member) as cluster:
        add_members(cluster, NAMES)
        cluster.start(*NAMES)
        answers = []
        for name in NAMES:
            dialer = HostSockets(cluster.network, CLIENT, cluster.hosts[name].disk)
            peer = Peer(dialer, name, CONTROLLER_PORT, client_id=CLIENT, random=lambda: 0.5)
            answers += codes(cluster.run(peer.call(request_, timeout_s=10)))
        assert answers.count(ErrorCode.NOT_CONTROLLER) == len(NAMES) - 1


def test_controllers_tell_tools_who_they_are() -> None:
    """`--bootstrap-controller` of Kafka's tools asks them so (KIP-919)."""
    with SimulatedCluster(1, build=build_member) as cluster:
        add_members(cluster, NAMES)
        cluster.start(*NAMES)
        cluster.run_for(5)

        def ask(name: str, port: int, kind: int) -> Any:
            dialer = HostSockets(cluster.network, CLIENT, cluster.hosts[name].disk)
            peer = Peer(dialer, name, port, client_id=CLIENT, random=lambda: 0.5)
            request = DescribeClusterRequest(endpoint_type=kind)
            return cluster.run(peer.call(request, timeout_s=10))

        active = set()
        for name in NAMES:
            told = ask(name, CONTROLLER_PORT, CONTROLLERS)
            assert (told.error_code, told.endpoint_type) == (ErrorCode.NONE, CONTROLLERS)
            assert told.cluster_id == CLUSTER_ID
            found = {(one.broker_id, one.host, one.port) for one in told.brokers}
            assert found == {(at, one, CONTROLLER_PORT) for at, one in enumerate(NAMES, 1)}
            active.add(told.controller_id)
            refused = ask(name, CONTROLLER_PORT, BROKERS)
            assert refused.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE
            assert ask(name, BROKER_PORT, BROKERS).error_code == ErrorCode.NONE
            refused = ask(name, BROKER_PORT, CONTROLLERS)
            assert refused.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE
        (controller_id,) = active
        assert 1 <= controller_id <= len(NAMES)
