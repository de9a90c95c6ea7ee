"""Share groups, and what brokers keep of them."""

from __future__ import annotations

from penstock.model.id import id_to_str
from penstock.protocol.entity import Entity
from penstock.protocol.messages import (
    alter_share_group_offsets,
    delete_share_group_offsets,
    delete_share_group_state,
    describe_share_group_offsets,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    share_acknowledge,
    share_fetch,
    write_share_group_state,
)
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from penstock.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.authorization.cases import ABSENT, SHARERS, TOPIC, UNKNOWN_ID, Scene, case

SHARE_KEYS_FROM = 6


@case("find the coordinator of a share partition", 10, range(SHARE_KEYS_FROM, 100))
def find_share(scene: Scene) -> Entity:
    key = f"{SHARERS}:{id_to_str(UNKNOWN_ID)}:0"
    return FindCoordinatorRequest(key_type=2, coordinator_keys=[key])


@case("heartbeat of a share group", 76)
def heartbeat(scene: Scene) -> Entity:
    return ShareGroupHeartbeatRequest(
        group_id=SHARERS, member_id="nobody", member_epoch=5, subscribed_topic_names=[TOPIC]
    )


@case("describe share groups", 77)
def describe(scene: Scene) -> Entity:
    return ShareGroupDescribeRequest(
        group_ids=[SHARERS, "other-group"], include_authorized_operations=True
    )


@case("share fetch", 78)
def fetch(scene: Scene) -> Entity:
    form = share_fetch
    one = form.FetchPartition(partition_index=0)
    topics = [form.FetchTopic(topic_id=scene.topic_id, partitions=[one])]
    return form.ShareFetchRequest(
        group_id=SHARERS,
        member_id=scene.own[:36],
        share_session_epoch=0,
        # Apache Kafka answers without partitions when it is not ready within that time.
        max_wait_ms=2000,
        max_records=1,
        topics=topics,
    )


@case("share acknowledge", 79)
def acknowledge(scene: Scene) -> Entity:
    form = share_acknowledge
    told = form.AcknowledgementBatch(first_offset=0, last_offset=0, acknowledge_types=[1])
    one = form.AcknowledgePartition(partition_index=0, acknowledgement_batches=[told])
    topic = form.AcknowledgeTopic(topic_id=scene.topic_id, partitions=[one])
    return form.ShareAcknowledgeRequest(
        group_id=SHARERS, member_id="without a session", share_session_epoch=1, topics=[topic]
    )


@case("initialize share state", 83)
def initialize(scene: Scene) -> Entity:
    form = initialize_share_group_state
    one = form.PartitionData(partition=0, state_epoch=0, start_offset=-1)
    topic = form.InitializeStateData(topic_id=UNKNOWN_ID, partitions=[one])
    return form.InitializeShareGroupStateRequest(group_id=SHARERS, topics=[topic])


@case("read share state", 84)
def read(scene: Scene) -> Entity:
    form = read_share_group_state
    topic = form.ReadStateData(topic_id=UNKNOWN_ID, partitions=[form.PartitionData(partition=0)])
    return form.ReadShareGroupStateRequest(group_id=SHARERS, topics=[topic])


@case("write share state", 85)
def write(scene: Scene) -> Entity:
    form = write_share_group_state
    topic = form.WriteStateData(topic_id=UNKNOWN_ID, partitions=[form.PartitionData(partition=0)])
    return form.WriteShareGroupStateRequest(group_id=SHARERS, topics=[topic])


@case("delete share state", 86)
def delete(scene: Scene) -> Entity:
    form = delete_share_group_state
    topic = form.DeleteStateData(topic_id=UNKNOWN_ID, partitions=[form.PartitionData(partition=0)])
    return form.DeleteShareGroupStateRequest(group_id=SHARERS, topics=[topic])


@case("read share state in short", 87)
def summary(scene: Scene) -> Entity:
    form = read_share_group_state_summary
    one = form.PartitionData(partition=0)
    topic = form.ReadStateSummaryData(topic_id=UNKNOWN_ID, partitions=[one])
    return form.ReadShareGroupStateSummaryRequest(group_id=SHARERS, topics=[topic])


@case("describe offsets of share groups", 90)
def describe_offsets(scene: Scene) -> Entity:
    form = describe_share_group_offsets
    topics = [
        form.DescribeShareGroupOffsetsRequestTopic(topic_name=one, partitions=[0])
        for one in (TOPIC, ABSENT)
    ]
    return form.DescribeShareGroupOffsetsRequest(
        groups=[
            form.DescribeShareGroupOffsetsRequestGroup(group_id=one, topics=topics)
            for one in (SHARERS, "other-group")
        ]
    )


@case("describe all offsets of a share group", 90)
def describe_all_offsets(scene: Scene) -> Entity:
    form = describe_share_group_offsets
    group = form.DescribeShareGroupOffsetsRequestGroup(group_id=SHARERS, topics=None)
    return form.DescribeShareGroupOffsetsRequest(groups=[group])


@case("alter offsets of a share group", 91)
def alter_offsets(scene: Scene) -> Entity:
    form = alter_share_group_offsets
    one = form.AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=0)
    topics = [
        form.AlterShareGroupOffsetsRequestTopic(topic_name=name, partitions=[one])
        for name in (TOPIC, ABSENT)
    ]
    return form.AlterShareGroupOffsetsRequest(group_id=SHARERS, topics=topics)


@case("delete offsets of a share group", 92)
def delete_offsets(scene: Scene) -> Entity:
    form = delete_share_group_offsets
    topics = [form.DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in (TOPIC, ABSENT)]
    return form.DeleteShareGroupOffsetsRequest(group_id=SHARERS, topics=topics)
