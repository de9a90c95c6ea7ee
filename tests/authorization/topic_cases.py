"""Topics, their partitions and records."""

from __future__ import annotations

from penstock.protocol.entity import Entity
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.describe_producers import DescribeProducersRequest
from penstock.protocol.messages.describe_producers import TopicRequest as ProducersTopic
from penstock.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from penstock.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from penstock.records.builder import build_batch
from penstock.records.record import Record
from tests.authorization.cases import ABSENT, MADE, OWN, TOPIC, UNKNOWN_ID, Scene, case

IDS_FROM = 13


def _produced(name: str, topic_id: bytes, version: int) -> TopicProduceData:
    batch = build_batch([Record(0, 1_700_000_000_000, b"k", b"v", [])])
    data = [PartitionProduceData(index=0, records=batch)]
    if version < IDS_FROM:
        return TopicProduceData(name=name, partition_data=data)
    return TopicProduceData(topic_id=topic_id, partition_data=data)


@case("produce", 0)
def produce(scene: Scene) -> Entity:
    topics = [
        _produced(TOPIC, scene.topic_id, scene.version),
        _produced(ABSENT, UNKNOWN_ID, scene.version),
    ]
    return ProduceRequest(acks=-1, timeout_ms=5000, topic_data=topics)


@case("produce without an answer", 0)
def produce_silently(scene: Scene) -> Entity:
    topics = [_produced(ABSENT, UNKNOWN_ID, scene.version)]
    return ProduceRequest(acks=0, timeout_ms=5000, topic_data=topics)


def _fetched(name: str, topic_id: bytes, version: int) -> FetchTopic:
    partitions = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)]
    if version < IDS_FROM:
        return FetchTopic(topic=name, partitions=partitions)
    return FetchTopic(topic_id=topic_id, partitions=partitions)


def _topics_fetched(scene: Scene) -> list[FetchTopic]:
    return [
        _fetched(TOPIC, scene.topic_id, scene.version),
        _fetched(ABSENT, UNKNOWN_ID, scene.version),
    ]


@case("fetch", 1)
def fetch(scene: Scene) -> Entity:
    return FetchRequest(max_wait_ms=0, min_bytes=0, topics=_topics_fetched(scene))


@case("fetch as a follower", 1, range(15))
def fetch_as_follower(scene: Scene) -> Entity:
    return FetchRequest(replica_id=7, max_wait_ms=0, min_bytes=0, topics=_topics_fetched(scene))


@case("fetch as a follower", 1, range(15, 100))
def fetch_as_later_follower(scene: Scene) -> Entity:
    state = ReplicaState(replica_id=7, replica_epoch=-1)
    topics = _topics_fetched(scene)
    return FetchRequest(replica_state=state, max_wait_ms=0, min_bytes=0, topics=topics)


@case("list offsets", 2)
def list_offsets(scene: Scene) -> Entity:
    topics = [
        ListOffsetsTopic(
            name=name, partitions=[ListOffsetsPartition(partition_index=0, timestamp=-2)]
        )
        for name in (TOPIC, ABSENT)
    ]
    return ListOffsetsRequest(replica_id=-1, topics=topics)


def _with_operations(scene: Scene, request: MetadataRequest) -> MetadataRequest:
    request.include_topic_authorized_operations = scene.version >= 8
    request.include_cluster_authorized_operations = 8 <= scene.version <= 10
    return request


@case("metadata", 3)
def metadata(scene: Scene) -> Entity:
    # The oldest clients cannot ask without having topics made.
    names = (TOPIC, ABSENT) if scene.version >= 4 else (TOPIC,)
    topics = [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=scene.version < 4)
    return _with_operations(scene, request)


@case("metadata that makes topics", 3, range(4, 100))
def metadata_making(scene: Scene) -> Entity:
    topics = [MetadataRequestTopic(name=f"{MADE}{scene.own}")]
    return _with_operations(scene, MetadataRequest(topics=topics))


@case("metadata of all", 3)
def metadata_of_all(scene: Scene) -> Entity:
    topics = None if scene.version else []
    return _with_operations(scene, MetadataRequest(topics=topics))


@case("metadata by id", 3, range(12, 100))
def metadata_by_id(scene: Scene) -> Entity:
    ids = [scene.topic_id, UNKNOWN_ID]
    topics = [MetadataRequestTopic(topic_id=one, name=None) for one in ids]
    return _with_operations(scene, MetadataRequest(topics=topics))


@case("create topics", 19)
def create_topics(scene: Scene) -> Entity:
    return CreateTopicsRequest(
        topics=[
            CreatableTopic(name=name, num_partitions=1, replication_factor=1)
            for name in (TOPIC, ABSENT)
        ],
        validate_only=True,
        timeout_ms=20_000,
    )


@case("delete topics", 20)
def delete_topics(scene: Scene) -> Entity:
    if scene.version < 6:
        return DeleteTopicsRequest(topic_names=[ABSENT], timeout_ms=20_000)
    states = [DeleteTopicState(name=ABSENT), DeleteTopicState(name=None, topic_id=UNKNOWN_ID)]
    return DeleteTopicsRequest(topics=states, timeout_ms=20_000)


@case("delete a topic that is there", 20)
def delete_own_topic(scene: Scene) -> Entity:
    name = f"{OWN}{scene.own}"
    if scene.version < 6:
        return DeleteTopicsRequest(topic_names=[name], timeout_ms=20_000)
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=20_000)


@case("delete records", 21)
def delete_records(scene: Scene) -> Entity:
    topics = [
        DeleteRecordsTopic(
            name=name, partitions=[DeleteRecordsPartition(partition_index=0, offset=0)]
        )
        for name in (TOPIC, ABSENT)
    ]
    return DeleteRecordsRequest(topics=topics, timeout_ms=5000)


@case("offset for leader epoch", 23)
def offset_for_leader_epoch(scene: Scene) -> Entity:
    topics = [
        OffsetForLeaderTopic(
            topic=name, partitions=[OffsetForLeaderPartition(partition=0, leader_epoch=0)]
        )
        for name in (TOPIC, ABSENT)
    ]
    replica = {"replica_id": -1} if scene.version >= 3 else {}
    return OffsetForLeaderEpochRequest(topics=topics, **replica)


@case("create partitions", 37)
def create_partitions(scene: Scene) -> Entity:
    topics = [
        CreatePartitionsTopic(name=name, count=1, assignments=None) for name in (TOPIC, ABSENT)
    ]
    return CreatePartitionsRequest(topics=topics, timeout_ms=20_000)


@case("describe producers", 61)
def describe_producers(scene: Scene) -> Entity:
    topics = [ProducersTopic(name=name, partition_indexes=[0]) for name in (TOPIC, ABSENT)]
    return DescribeProducersRequest(topics=topics)


@case("describe topic partitions", 75)
def describe_topic_partitions(scene: Scene) -> Entity:
    return DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=TOPIC), TopicRequest(name=ABSENT)]
    )


@case("describe partitions of all topics", 75)
def describe_all_partitions(scene: Scene) -> Entity:
    return DescribeTopicPartitionsRequest()
