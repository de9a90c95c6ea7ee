"""Groups and their offsets."""

from __future__ import annotations

from typing import Any

from penstock.protocol.entity import Entity
from penstock.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.protocol.messages.delete_groups import DeleteGroupsRequest
from penstock.protocol.messages.describe_groups import DescribeGroupsRequest
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
from penstock.protocol.messages.heartbeat import HeartbeatRequest
from penstock.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.protocol.messages.list_groups import ListGroupsRequest
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from penstock.protocol.messages.sync_group import SyncGroupRequest
from tests.authorization.cases import ABSENT, CONSUMERS, GROUP, TOPIC, UNKNOWN_ID, Scene, case

IDS_FROM = 10
MANY_GROUPS_FROM = 8


@case("commit offsets", 8)
def offset_commit(scene: Scene) -> Entity:
    kept = [OffsetCommitRequestPartition(partition_index=0, committed_offset=0)]
    if scene.version < IDS_FROM:
        topics = [OffsetCommitRequestTopic(name=one, partitions=kept) for one in (TOPIC, ABSENT)]
    else:
        ids = (scene.topic_id, UNKNOWN_ID)
        topics = [OffsetCommitRequestTopic(topic_id=one, partitions=kept) for one in ids]
    return OffsetCommitRequest(group_id=GROUP, topics=topics)


def _fetch(
    groups: list[tuple[str, list[OffsetFetchRequestTopics] | None]], version: int
) -> OffsetFetchRequest:
    if version >= MANY_GROUPS_FROM:
        asked = [OffsetFetchRequestGroup(group_id=one, topics=topics) for one, topics in groups]
        return OffsetFetchRequest(groups=asked)
    group_id, topics = groups[0]
    named = [
        OffsetFetchRequestTopic(name=one.name, partition_indexes=one.partition_indexes)
        for one in topics or ()
    ]
    return OffsetFetchRequest(group_id=group_id, topics=None if topics is None else named)


@case("fetch offsets", 9)
def offset_fetch(scene: Scene) -> Entity:
    if scene.version < IDS_FROM:
        topics = [
            OffsetFetchRequestTopics(name=one, partition_indexes=[0]) for one in (TOPIC, ABSENT)
        ]
    else:
        topics = [
            OffsetFetchRequestTopics(topic_id=one, partition_indexes=[0])
            for one in (scene.topic_id, UNKNOWN_ID)
        ]
    return _fetch([(GROUP, topics), ("other-group", topics)], scene.version)


@case("fetch all offsets", 9, range(2, 100))
def offset_fetch_all(scene: Scene) -> Entity:
    return _fetch([(GROUP, None)], scene.version)


@case("find the coordinator of a group", 10)
def find_group(scene: Scene) -> Entity:
    if scene.version >= 4:
        return FindCoordinatorRequest(coordinator_keys=[GROUP, "other-group"])
    return FindCoordinatorRequest(key=GROUP)


def _member(scene: Scene) -> dict[str, Any]:
    return {"group_id": GROUP, "member_id": "somebody", "generation_id": 1}


@case("join a group", 11)
def join_group(scene: Scene) -> Entity:
    return JoinGroupRequest(
        group_id=GROUP,
        member_id="somebody",
        session_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )


@case("heartbeat", 12)
def heartbeat(scene: Scene) -> Entity:
    return HeartbeatRequest(**_member(scene))


@case("leave a group", 13)
def leave_group(scene: Scene) -> Entity:
    if scene.version >= 3:
        return LeaveGroupRequest(group_id=GROUP, members=[MemberIdentity(member_id="somebody")])
    return LeaveGroupRequest(group_id=GROUP, member_id="somebody")


@case("sync a group", 14)
def sync_group(scene: Scene) -> Entity:
    if scene.version >= 5:
        words = {"protocol_type": "consumer", "protocol_name": "range"}
        return SyncGroupRequest(**_member(scene), **words)
    return SyncGroupRequest(**_member(scene))


@case("describe groups", 15)
def describe_groups(scene: Scene) -> Entity:
    return DescribeGroupsRequest(
        groups=[GROUP, "other-group"], include_authorized_operations=scene.version >= 3
    )


@case("list groups", 16)
def list_groups(scene: Scene) -> Entity:
    return ListGroupsRequest()


@case("delete groups", 42)
def delete_groups(scene: Scene) -> Entity:
    return DeleteGroupsRequest(groups_names=[ABSENT, "other-group"])


@case("delete offsets", 47)
def offset_delete(scene: Scene) -> Entity:
    topics = [
        OffsetDeleteRequestTopic(
            name=name, partitions=[OffsetDeleteRequestPartition(partition_index=0)]
        )
        for name in (ABSENT,)
    ]
    return OffsetDeleteRequest(group_id=GROUP, topics=topics)


@case("heartbeat of the consumer protocol", 68)
def consumer_heartbeat(scene: Scene) -> Entity:
    return ConsumerGroupHeartbeatRequest(
        group_id=CONSUMERS,
        member_id="somebody",
        member_epoch=5,
        rebalance_timeout_ms=10_000,
        subscribed_topic_names=[TOPIC],
        topic_partitions=[],
    )


@case("describe consumer groups", 69)
def consumer_describe(scene: Scene) -> Entity:
    return ConsumerGroupDescribeRequest(
        group_ids=[CONSUMERS, "other-group"], include_authorized_operations=True
    )
