"""What stands in answers beside error codes: messages, null or empty, and who is refused first."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from penstock.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from penstock.protocol.messages.describe_producers import DescribeProducersRequest
from penstock.protocol.messages.describe_producers import TopicRequest as ProducersTopic
from penstock.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    RequestPartitionData,
    RequestTopicData,
)
from penstock.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from penstock.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from penstock.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from penstock.protocol.messages.share_fetch import ShareFetchRequest
from penstock.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from penstock.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from penstock.protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from penstock.protocol.messages.sync_group import SyncGroupRequest
from penstock.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.conformance.clients.raw import Connection
from tests.patience import wait_until

pytestmark = pytest.mark.client("raw requests")

TOPIC = 2
NOT_HOSTED = "This server does not host this topic-partition."
NOT_ALLOWED = "Topic name is invalid: the empty string is not allowed"
SHARE = 2
OTHER_ID = bytes(15) + b"\x09"
NOT_ASKED_FOR = -(2**31)


def told(one: Any) -> tuple[int, str | None]:
    return one.error_code, getattr(one, "error_message", None)


@pytest.mark.feature("A coordinator that is found has Kafka's message")
@pytest.mark.usefixtures("coordinator")
def test_coordinator_found(connection: Connection) -> None:
    alone = connection.call(FindCoordinatorRequest(key="some-group"), 3)
    assert told(alone) == (0, "NONE")
    among = connection.call(FindCoordinatorRequest(coordinator_keys=["some-group"]), 4)
    assert [told(one) for one in among.coordinators] == [(0, "")]


@pytest.mark.feature("A coordinator that cannot be is nowhere")
def test_coordinator_nowhere(connection: Connection) -> None:
    request = FindCoordinatorRequest(key_type=SHARE, coordinator_keys=["no-such-form"])
    (one,) = connection.call(request, 6).coordinators
    assert (one.node_id, one.host, one.port) == (-1, "", -1)
    assert told(one) == (ErrorCode.INVALID_REQUEST, "")


@pytest.mark.feature("A fetch that fails has no aborted transactions, and not null")
def test_failed_fetch(connection: Connection, topic_name: str) -> None:
    asked = FetchTopic(topic=topic_name, partitions=[FetchPartition(partition=0)])
    answer = connection.call(FetchRequest(max_wait_ms=0, topics=[asked]), 12)
    (partition,) = answer.responses[0].partitions
    assert partition.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert partition.aborted_transactions == []


def fetch_error(connection: Connection, topic: str, **asked: int) -> Any:
    wanted = FetchTopic(topic=topic, partitions=[FetchPartition(partition=0, **asked)])
    answer = connection.call(FetchRequest(max_wait_ms=0, topics=[wanted]), 12)
    return answer.responses[0].partitions[0]


@pytest.mark.feature("A fetch that fails in the log has null for aborted transactions")
def test_fetch_failed_in_the_log(connection: Connection, topic: str) -> None:
    failed = fetch_error(connection, topic, fetch_offset=99)
    assert failed.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert failed.aborted_transactions is None


@pytest.mark.feature("A fetch with any leader epoch below zero names none")
def test_fetch_without_epoch(connection: Connection, topic: str) -> None:
    assert fetch_error(connection, topic, current_leader_epoch=-9).error_code == ErrorCode.NONE


@pytest.mark.feature("A fetch from a topic without a name (UNKNOWN_TOPIC_OR_PARTITION)")
def test_fetch_from_nowhere(connection: Connection) -> None:
    assert fetch_error(connection, "").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.feature("Metadata by id, before there was such a thing (INVALID_REQUEST)")
def test_metadata_by_id_too_early(connection: Connection, topic: str) -> None:
    wanted = [MetadataRequestTopic(name=topic), MetadataRequestTopic(name=None, topic_id=OTHER_ID)]
    answer = connection.call(MetadataRequest(topics=wanted), 11)
    assert {one.error_code for one in answer.topics} == {ErrorCode.INVALID_REQUEST}
    assert answer.brokers == []


@pytest.mark.feature("Metadata by name and by id in one request: by id alone")
def test_metadata_by_both(connection: Connection, topic: str) -> None:
    wanted = [MetadataRequestTopic(name=topic), MetadataRequestTopic(name=None, topic_id=OTHER_ID)]
    request = MetadataRequest(topics=wanted, include_topic_authorized_operations=True)
    (one,) = connection.call(request, 12).topics
    assert (one.error_code, one.topic_id) == (ErrorCode.UNKNOWN_TOPIC_ID, OTHER_ID)
    assert one.topic_authorized_operations == NOT_ASKED_FOR


def _first_of(topic: str) -> TopicPartitions:
    return TopicPartitions(topic=topic, partitions=[0])


def leaves(answer: Entity) -> set[tuple[int, str | None]]:
    """What is told of single topics or partitions."""
    lists = [value for _, value in answer._values() if isinstance(value, list) and value]
    inner = [one for each in lists for one in each if isinstance(one, Entity)]
    return {told(answer)} if not inner else set().union(*map(leaves, inner))


@pytest.mark.feature("An election of a kind that there is not: told of each partition")
def test_unknown_election(connection: Connection, topic: str) -> None:
    request = ElectLeadersRequest(election_type=9, topic_partitions=[_first_of(topic)])
    answer = connection.call(request, 2)
    (one,) = answer.replica_election_results[0].partition_result
    assert answer.error_code == one.error_code == ErrorCode.INVALID_REQUEST
    assert one.error_message


@pytest.mark.feature("A share group that is not there has no offsets, which is no error")
@pytest.mark.usefixtures("coordinator")
def test_offsets_of_no_share_group(connection: Connection, topic: str) -> None:
    asked = DescribeShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[0])
    group = DescribeShareGroupOffsetsRequestGroup(group_id=topic, topics=[asked])
    request = DescribeShareGroupOffsetsRequest(groups=[group])

    def told_now() -> Any:
        return connection.call(request, 0).groups[0]

    wait_until(
        lambda: bool(told_now().topics and not told_now().topics[0].partitions[0].error_code)
    )
    (one,) = told_now().topics[0].partitions
    assert (told(told_now()), one.start_offset) == ((0, None), -1)


@pytest.mark.feature("Offsets of a share group without a name (INVALID_GROUP_ID)")
@pytest.mark.parametrize(
    "request_class", [AlterShareGroupOffsetsRequest, DeleteShareGroupOffsetsRequest]
)
def test_nameless_share_group(connection: Connection, request_class: Any) -> None:
    assert connection.call(request_class(), 0).error_code == ErrorCode.INVALID_GROUP_ID


@pytest.mark.feature("Settings have an empty message; a name that no topic can have says why")
def test_described_settings(connection: Connection, topic: str, topic_name: str) -> None:
    names = (topic, f"{topic_name}-absent", "")
    resources = [DescribeConfigsResource(resource_type=TOPIC, resource_name=one) for one in names]
    answer = connection.call(DescribeConfigsRequest(resources=resources), 4)
    assert {one.resource_name: told(one) for one in answer.results} == {
        names[0]: (0, ""),
        names[1]: (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""),
        names[2]: (ErrorCode.INVALID_TOPIC_EXCEPTION, NOT_ALLOWED),
    }


@pytest.mark.feature("Producers of a topic there is not, and of one that cannot be")
@pytest.mark.one_node("Kafka's own client asks the leader, which neither has")
def test_producers_of_nothing(connection: Connection, topic_name: str) -> None:
    topics = [ProducersTopic(name=name, partition_indexes=[0]) for name in (topic_name, "")]
    answer = connection.call(DescribeProducersRequest(topics=topics), 0)
    assert {topic.name: told(topic.partitions[0]) for topic in answer.topics} == {
        topic_name: (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED),
        "": (ErrorCode.INVALID_TOPIC_EXCEPTION, NOT_ALLOWED),
    }


@pytest.mark.feature("More partitions for a topic there is not: no message")
def test_partitions_of_nothing(connection: Connection, topic_name: str) -> None:
    asked = CreatePartitionsTopic(name=topic_name, count=3, assignments=None)
    answer = connection.call(CreatePartitionsRequest(topics=[asked], timeout_ms=30_000), 3)
    assert told(answer.results[0]) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)


@pytest.mark.feature("The quorum is described for its own partition alone")
def test_quorum_of_other_partition(connection: Connection) -> None:
    ours = RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData()])
    answer = connection.call(DescribeQuorumRequest(topics=[ours]), 2)
    assert told(answer) == told(answer.topics[0].partitions[0]) == (0, "")
    assert answer.nodes
    other = RequestTopicData(topic_name="other", partitions=[RequestPartitionData()])
    answer = connection.call(DescribeQuorumRequest(topics=[other]), 2)
    refused = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED)
    assert told(answer.topics[0].partitions[0]) == refused
    assert not answer.nodes


NAMELESS: dict[str, tuple[Entity, int, str]] = {
    "consumer": (ConsumerGroupHeartbeatRequest(member_id="m"), 1, "GroupId"),
    "consumer-nobody": (ConsumerGroupHeartbeatRequest(), 1, "MemberId"),
    "consumer-first-version": (ConsumerGroupHeartbeatRequest(), 0, "GroupId"),
    "share": (ShareGroupHeartbeatRequest(member_id="m"), 1, "GroupId"),
    "streams": (StreamsGroupHeartbeatRequest(member_id="m"), 0, "GroupId"),
}


@pytest.mark.feature("A heartbeat to a group without a name says what is missing")
@pytest.mark.parametrize("name", NAMELESS)
def test_nameless_heartbeat(connection: Connection, name: str) -> None:
    request, version, missing = NAMELESS[name]
    answer = connection.call(request, version)
    assert told(answer) == (ErrorCode.INVALID_REQUEST, f"{missing} can't be empty.")


@pytest.mark.feature("Describing a group without a name (INVALID_GROUP_ID)")
@pytest.mark.parametrize("request_class", [ConsumerGroupDescribeRequest, ShareGroupDescribeRequest])
def test_nameless_description(connection: Connection, request_class: Any) -> None:
    answer = connection.call(request_class(group_ids=[""]), 1)
    assert told(answer.groups[0]) == (ErrorCode.INVALID_GROUP_ID, None)


@pytest.mark.feature("A sync that names neither group nor protocol (INCONSISTENT_GROUP_PROTOCOL)")
def test_nameless_sync(connection: Connection) -> None:
    answer = connection.call(SyncGroupRequest(), 5)
    assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.feature("Offsets in a transaction for a group without a name (INVALID_GROUP_ID)")
def test_nameless_commit(connection: Connection, topic: str) -> None:
    offset = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topics = [TxnOffsetCommitRequestTopic(name=topic, partitions=[offset])]
    request = TxnOffsetCommitRequest(transactional_id="t", group_id="", topics=topics)
    answer = connection.call(request, 5)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.INVALID_GROUP_ID


@pytest.mark.feature("Share fetches and acknowledgements for no group (INVALID_REQUEST)")
def test_share_for_nobody(connection: Connection) -> None:
    member = "AAAAAAAAAAAAAAAAAAAAAQ"
    fetched = connection.call(ShareFetchRequest(group_id=None, member_id=member), 2)
    said = connection.call(
        ShareAcknowledgeRequest(group_id=None, member_id=member, share_session_epoch=1), 2
    )
    assert [fetched.error_code, said.error_code] == [ErrorCode.INVALID_REQUEST] * 2
