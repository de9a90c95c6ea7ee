"""What other clients' admin tools ask, answered as Apache Kafka 4.3 answers it."""

from __future__ import annotations

from typing import Any

from penstock.model.error import ErrorCode
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from penstock.protocol.messages.describe_groups import DescribeGroupsRequest
from penstock.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.node.wire_kit import Wire

BROKER_RESOURCE = 4
STATIC_BROKER_CONFIG = 4
NOT_ASKED_FOR = -(2**31)
READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS = 3, 6, 8, 10, 11
EARLIEST_PENDING_UPLOAD = -6


def commit_as_admin(wire: Wire, group: str, topic: str) -> None:
    kept = OffsetCommitRequestPartition(partition_index=0, committed_offset=3)
    topics = [OffsetCommitRequestTopic(name=topic, partitions=[kept])]
    answer = wire.call(OffsetCommitRequest(group_id=group, topics=topics), 7)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE


def test_a_described_group_tells_what_may_be_done_with_it(penstock: Any) -> None:
    penstock.create_topic("told")
    with Wire(penstock.bootstrap_servers) as wire:
        commit_as_admin(wire, "told", "told")
        asked = DescribeGroupsRequest(groups=["told"], include_authorized_operations=True)
        bits = wire.call(asked, 5).groups[0].authorized_operations
        silent = wire.call(DescribeGroupsRequest(groups=["told"]), 5).groups[0]
    operations = {bit for bit in range(32) if bits >> bit & 1}
    assert operations == {READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS}
    assert silent.authorized_operations == NOT_ASKED_FOR


def test_nothing_waits_for_upload_without_tiered_storage(penstock: Any) -> None:
    penstock.create_topic("local")
    asked = ListOffsetsPartition(partition_index=0, timestamp=EARLIEST_PENDING_UPLOAD)
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name="local", partitions=[asked])]
    )
    with Wire(penstock.bootstrap_servers) as wire:
        found = wire.call(request, 11).topics[0].partitions[0]
    assert (found.error_code, found.offset) == (ErrorCode.NONE, -1)


def test_a_broker_tells_where_it_listens_and_keeps_its_data(penstock: Any) -> None:
    resource = DescribeConfigsResource(
        resource_type=BROKER_RESOURCE,
        resource_name="1",
        configuration_keys=["listeners", "log.dirs", "node.id", "broker.id"],
    )
    with Wire(penstock.bootstrap_servers) as wire:
        result = wire.call(DescribeConfigsRequest(resources=[resource]), 4).results[0]
    told = {one.name: (one.value, one.config_source) for one in result.configs}
    address = f"PLAINTEXT://{penstock.bootstrap_servers}"
    assert told["listeners"] == (address, STATIC_BROKER_CONFIG)
    assert told["log.dirs"] == (str(penstock.data_dir), STATIC_BROKER_CONFIG)
    assert told["node.id"] == told["broker.id"] == ("1", STATIC_BROKER_CONFIG)


def test_what_may_be_done_is_told_of_topics_that_are_not_there(penstock: Any) -> None:
    penstock.create_topic("there")
    names = [TopicRequest(name="absent"), TopicRequest(name="there")]
    with Wire(penstock.bootstrap_servers) as wire:
        absent, there = wire.call(DescribeTopicPartitionsRequest(topics=names), 0).topics
    assert absent.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert absent.topic_authorized_operations == there.topic_authorized_operations
