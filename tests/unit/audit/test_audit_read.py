"""What is read off requests and answers for the audit log."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.audit import access, change
from penstock.audit.entry import Access, Change, Entry, Read
from penstock.metadata.image import ClusterImage
from penstock.model.error import ErrorCode
from penstock.protocol.messages import (
    alter_share_group_offsets,
    fetch,
    offset_commit,
    produce,
    share_fetch,
    txn_offset_commit,
)
from penstock.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialUpsertion,
)
from penstock.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from penstock.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from penstock.protocol.messages.records.config_record import ConfigRecord
from penstock.protocol.messages.records.topic_record import TopicRecord
from penstock.records.builder import build_batch
from penstock.records.record import Record

DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.fixture
def image() -> ClusterImage:
    return ClusterImage()


def entries(read: Read | None, answer: Any) -> list[Entry]:
    assert read is not None
    return list(read(answer))


def batch(count: int) -> memoryview:
    return memoryview(build_batch([Record(n, 1, None, b"secret") for n in range(count)]))


def produce_request(**sizes: list[int]) -> produce.ProduceRequest:
    return produce.ProduceRequest(
        acks=-1,
        topic_data=[
            produce.TopicProduceData(
                name=name,
                partition_data=[
                    produce.PartitionProduceData(index=index, records=batch(count))
                    for index, count in enumerate(counts)
                ],
            )
            for name, counts in sizes.items()
        ],
    )


def produce_response(**codes: list[int]) -> produce.ProduceResponse:
    return produce.ProduceResponse(
        responses=[
            produce.TopicProduceResponse(
                name=name,
                partition_responses=[
                    produce.PartitionProduceResponse(index=index, error_code=code)
                    for index, code in enumerate(of_topic)
                ],
            )
            for name, of_topic in codes.items()
        ]
    )


def test_writes_are_counted_by_topic(image: ClusterImage) -> None:
    read = access.of_produce(produce_request(a=[3, 2], b=[1]), image)
    size = len(batch(3)) + len(batch(2))
    assert entries(read, produce_response(a=[0, 0], b=[DENIED])) == [
        Access("WRITE", "TOPIC", "a", 0, 5, size),
        Access("WRITE", "TOPIC", "b", DENIED),
    ]


def test_a_write_that_fails_for_another_reason_is_none(image: ClusterImage) -> None:
    read = access.of_produce(produce_request(a=[3]), image)
    assert entries(read, produce_response(a=[ErrorCode.NOT_LEADER_OR_FOLLOWER])) == []


def test_a_write_without_an_answer_counts(image: ClusterImage) -> None:
    read = access.of_produce(produce_request(a=[3]), image)
    assert entries(read, None) == [Access("WRITE", "TOPIC", "a", 0, 3, len(batch(3)))]


def test_sizes_are_taken_before_the_request_is_gone(image: ClusterImage) -> None:
    data = bytearray(batch(4))
    request = produce_request(a=[1])
    request.topic_data[0].partition_data[0].records = memoryview(data)
    read = access.of_produce(request, image)
    data[:] = bytes(len(data))
    (written,) = entries(read, produce_response(a=[0]))
    assert isinstance(written, Access) and written.records == 4


def test_reads_are_counted_and_followers_are_no_readers(image: ClusterImage) -> None:
    answer = fetch.FetchResponse(
        responses=[
            fetch.FetchableTopicResponse(
                topic="a",
                partitions=[
                    fetch.PartitionData(partition_index=0, records=b"12345"),
                    fetch.PartitionData(partition_index=1, records=None),
                ],
            ),
            fetch.FetchableTopicResponse(
                topic="b",
                partitions=[fetch.PartitionData(partition_index=0, error_code=DENIED)],
            ),
            fetch.FetchableTopicResponse(
                topic="c", partitions=[fetch.PartitionData(partition_index=0)]
            ),
        ]
    )
    assert entries(access.of_fetch(fetch.FetchRequest(), image), answer) == [
        Access("READ", "TOPIC", "a", 0, 0, 5),
        Access("READ", "TOPIC", "b", DENIED),
    ]
    assert access.of_fetch(fetch.FetchRequest(replica_id=2), image) is None
    follower = fetch.FetchRequest(replica_state=fetch.ReplicaState(replica_id=2))
    assert access.of_fetch(follower, image) is None


def test_members_of_share_groups_read_topics(image: ClusterImage) -> None:
    request = share_fetch.ShareFetchRequest(group_id="g", member_id="m")
    image.replay(TopicRecord(name="t", topic_id=b"\1" * 16), 0)
    read = access.BY_API[78](request, image)
    data = share_fetch.PartitionData(records=b"12345")
    topic = share_fetch.ShareFetchableTopicResponse(topic_id=b"\1" * 16, partitions=[data])
    answer = share_fetch.ShareFetchResponse(responses=[topic])
    assert entries(read, answer) == [Access("READ", "TOPIC", "t", 0, 0, 5)]
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    answer = share_fetch.ShareFetchResponse(error_code=refused)
    assert entries(read, answer) == [Access("READ", "GROUP", "g", refused)]


def test_offsets_of_share_groups_are_changed_on_record(image: ClusterImage) -> None:
    form = alter_share_group_offsets
    one = form.AlterShareGroupOffsetsRequestPartition(partition_index=2, start_offset=7)
    topic = form.AlterShareGroupOffsetsRequestTopic(topic_name="t", partitions=[one])
    request = form.AlterShareGroupOffsetsRequest(group_id="g", topics=[topic])
    read = change.BY_API[91](request, image)
    found = entries(read, form.AlterShareGroupOffsetsResponse())
    assert found == [Change("ALTER", "GROUP", "g", 0, None, {"offsets": {"t": {2: 7}}})]


def test_a_commit_is_refused_where_one_of_its_partitions_is(image: ClusterImage) -> None:
    read = access.of_group(offset_commit.OffsetCommitRequest(group_id="g"), image)
    code = ErrorCode.GROUP_AUTHORIZATION_FAILED
    answer = offset_commit.OffsetCommitResponse(
        topics=[
            offset_commit.OffsetCommitResponseTopic(
                name="t",
                partitions=[
                    offset_commit.OffsetCommitResponsePartition(partition_index=0, error_code=code)
                ],
            )
        ]
    )
    assert entries(read, answer) == [Access("READ", "GROUP", "g", code)]
    assert entries(read, offset_commit.OffsetCommitResponse()) == [Access("READ", "GROUP", "g")]


def test_offsets_of_a_transaction_are_a_read_of_their_topics(image: ClusterImage) -> None:
    topic = txn_offset_commit.TxnOffsetCommitRequestTopic(name="t")
    request = txn_offset_commit.TxnOffsetCommitRequest(group_id="g", topics=[topic])
    read = access.BY_API[28](request, image)
    answer = txn_offset_commit.TxnOffsetCommitResponse()
    assert entries(read, answer) == [Access("READ", "GROUP", "g"), Access("READ", "TOPIC", "t")]
    denied = [Access("READ", "GROUP", "g", DENIED)]
    assert entries(read, DENIED) == denied


def test_looking_is_on_record_where_it_is_refused(image: ClusterImage) -> None:
    answer = MetadataResponse(
        topics=[
            MetadataResponseTopic(name="open"),
            MetadataResponseTopic(name="closed", error_code=DENIED),
        ]
    )
    read = access.of_anything(answer, image)
    assert entries(read, answer) == [Access("DESCRIBE", "TOPIC", "closed", DENIED)]
    assert entries(read, ErrorCode.CLUSTER_AUTHORIZATION_FAILED) == [
        Access("DESCRIBE", "CLUSTER", "kafka-cluster", ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    ]
    assert entries(read, ErrorCode.UNKNOWN_SERVER_ERROR) == []


def test_creations_have_their_own_outcomes(image: ClusterImage) -> None:
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name="a", num_partitions=3), CreatableTopic(name="b")]
    )
    answer = CreateTopicsResponse(
        topics=[
            CreatableTopicResult(name="b", error_code=DENIED),
            CreatableTopicResult(name="a"),
        ]
    )
    found = entries(change.of_create_topics(request, image), answer)
    assert [(each.resource, each.error) for each in found] == [("a", 0), ("b", DENIED)]
    request.validate_only = True
    assert change.of_create_topics(request, image) is None


def test_settings_have_their_values_before_and_after_but_not_secrets(image: ClusterImage) -> None:
    image.replay(
        ConfigRecord(resource_type=4, resource_name="1", name="log.retention.ms", value="5"),
        0,
    )
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=4,
                resource_name="1",
                configs=[
                    AlterableConfig(name="log.retention.ms", value="7"),
                    AlterableConfig(name="ssl.keystore.password", value="hush"),
                    AlterableConfig(name="listener.name.x.plain.sasl.jaas.config", value="hush"),
                    AlterableConfig(name="log.cleaner.threads", config_operation=1),
                ],
            )
        ]
    )
    read = change.of_configs(request, image)
    answer = IncrementalAlterConfigsResponse(
        responses=[AlterConfigsResourceResponse(resource_type=4, resource_name="1")]
    )
    (found,) = entries(read, answer)
    assert isinstance(found, Change)
    assert found.before is not None and found.after is not None
    assert found.before["log.retention.ms"] == "5"
    assert found.after["log.retention.ms"] == "7"
    assert found.after["log.cleaner.threads"] is None
    assert "hush" not in str(found)


def test_passwords_are_changed_without_a_word_of_them(image: ClusterImage) -> None:
    request = AlterUserScramCredentialsRequest(
        upsertions=[
            ScramCredentialUpsertion(
                name="alice", mechanism=1, iterations=4096, salt=b"hush", salted_password=b"hush"
            )
        ]
    )
    answer = AlterUserScramCredentialsResponse(
        results=[AlterUserScramCredentialsResult(user="alice")]
    )
    (found,) = entries(change.of_scram(request, image), answer)
    assert found == Change("ALTER", "USER", "alice", 0, None, {"mechanism": 1, "iterations": 4096})
