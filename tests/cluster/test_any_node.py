"""Raw requests to each of three nodes: to controller and leaders, and to those that are neither."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from penstock.metadata.config import ResourceType
from penstock.model.error import ErrorCode
from penstock.model.id import TopicPartition
from penstock.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from penstock.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from penstock.protocol.messages.end_txn import EndTxnRequest
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.testing.cluster import Cluster as ThreeNodes
from tests.conformance.clients.raw import Connection
from tests.conformance.conftest import Cluster
from tests.patience import wait_until

SETTING = "log.cleaner.backoff.ms"


@pytest.fixture
def nodes(cluster: Cluster) -> ThreeNodes:
    assert cluster.nodes is not None
    return cluster.nodes


@pytest.fixture(params=[1, 2, 3])
def node(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def asked(nodes: ThreeNodes, node: int) -> Iterator[Connection]:
    """A connection to that node alone."""
    with closing(Connection(nodes.nodes[node].bootstrap_servers)) as connection:
        yield connection


def create(nodes: ThreeNodes, node: int, topic: str) -> None:
    """And wait until that node knows of it."""
    nodes.create_topic(topic)
    wait_until(lambda: TopicPartition(topic, 0) in nodes.partitions(node))


def test_topics_are_made_and_deleted_through_any_node(asked: Connection, topic_name: str) -> None:
    create = CreateTopicsRequest(topics=[CreatableTopic(name=topic_name, num_partitions=2)])
    create.topics[0].replication_factor = 3
    (made,) = asked.call(create, 7).topics
    assert (made.error_code, made.num_partitions, made.replication_factor) == (0, 2, 3)
    (again,) = asked.call(create, 7).topics
    assert again.error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    delete = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic_name)])
    assert asked.call(delete, 6).responses[0].error_code == 0
    gone = asked.call(delete, 6).responses[0].error_code
    assert gone == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def settings_of(*resources: tuple[int, str]) -> IncrementalAlterConfigsRequest:
    change = AlterableConfig(name=SETTING, config_operation=0, value="14000")
    return IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(resource_type=kind, resource_name=name, configs=[change])
            for kind, name in resources
        ],
        validate_only=True,
    )


def test_a_broker_takes_settings_for_itself_alone(asked: Connection, node: int) -> None:
    other = str(node % 3 + 1)
    request = settings_of(
        (ResourceType.BROKER, other), (ResourceType.BROKER, str(node)), (ResourceType.BROKER, "")
    )
    refused, own, for_all = asked.call(request, 1).responses
    assert (refused.error_code, refused.resource_name) == (ErrorCode.INVALID_REQUEST, other)
    assert refused.error_message == (f"Unexpected broker id, expected {node}, but received {other}")
    assert (own.error_code, own.resource_name) == (ErrorCode.NONE, str(node))
    assert (for_all.error_code, for_all.resource_name) == (ErrorCode.NONE, "")


def test_what_has_no_name_is_refused_by_any_node(asked: Connection) -> None:
    beat = HeartbeatRequest(group_id="", generation_id=1, member_id="m")
    assert asked.call(beat, 4).error_code == ErrorCode.INVALID_GROUP_ID
    join = ConsumerGroupHeartbeatRequest(
        group_id="", member_id="m", member_epoch=0, subscribed_topic_names=["t"]
    )
    assert asked.call(join, 1).error_code == ErrorCode.INVALID_REQUEST
    end = EndTxnRequest(transactional_id="", producer_id=1, producer_epoch=0, committed=True)
    assert asked.call(end, 4).error_code == ErrorCode.INVALID_REQUEST


def test_every_replica_knows_the_producers(
    asked: Connection, node: int, nodes: ThreeNodes, topic_name: str
) -> None:
    create(nodes, node, topic_name)
    nodes.produce(topic_name, ["1", "2"], settings={"enable.idempotence": True})
    topic = TopicRequest(name=topic_name, partition_indexes=[0])

    def known() -> bool:
        (found,) = asked.call(DescribeProducersRequest(topics=[topic]), 0).topics[0].partitions
        assert found.error_code == ErrorCode.NONE
        return [each.last_sequence for each in found.active_producers] == [1]

    wait_until(known)


def test_only_the_leader_answers_for_offsets(
    asked: Connection, node: int, nodes: ThreeNodes, topic_name: str
) -> None:
    create(nodes, node, topic_name)
    leader = nodes.leader(topic_name)
    part = ListOffsetsPartition(partition_index=0, current_leader_epoch=-1, timestamp=-1)
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=topic_name, partitions=[part])]
    )
    (found,) = asked.call(request, 7).topics[0].partitions
    expected = ErrorCode.NONE if node == leader else ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert found.error_code == expected


def test_a_controller_that_is_not_active_says_so(nodes: ThreeNodes, node: int) -> None:
    """It sends nothing on: who asks it would wait for what it can find out by itself."""
    port = nodes.nodes[node].ports.controllers
    request = BrokerHeartbeatRequest(broker_id=99, broker_epoch=1, current_metadata_offset=0)
    with closing(Connection(f"127.0.0.1:{port}")) as connection:
        code = connection.call(request, 1).error_code
    if node == nodes.controller():
        assert code == ErrorCode.STALE_BROKER_EPOCH
    else:
        assert code == ErrorCode.NOT_CONTROLLER
