"""Offsets beyond what the transcripts tell: the two request forms, large sweeps and deletions."""

from __future__ import annotations

import pytest

from penstock.group import Caller, GroupConfig, fetch_response, fetched_groups
from penstock.group.offset.fetch import fetch_refused
from penstock.group.record import GroupRecord, group_metadata_record
from penstock.group.timer import RetentionTimer
from penstock.machine import Parked
from penstock.model.error import ErrorCode, InvariantError
from penstock.model.id import TopicPartition
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from penstock.protocol.messages.records.group_metadata import GroupMetadataKey, GroupMetadataValue
from penstock.protocol.messages.records.offset_commit import OffsetCommitKey, OffsetCommitValue
from tests.transcripts.group_world import GroupWorld

RETENTION_MS = 1_000


@pytest.fixture
def world() -> GroupWorld:
    return GroupWorld(
        GroupConfig(offsets_retention_ms=RETENTION_MS, offsets_retention_check_interval_ms=2_000)
    )


def commit(world: GroupWorld, group_id: str, topic: str, partitions: int) -> None:
    request = OffsetCommitRequest(
        group_id=group_id,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(partition_index=index, committed_offset=index)
                    for index in range(partitions)
                ],
            )
        ],
    )
    world.take(world.shard.offsets.decide_commit(request, Caller(9), world.now_ms))


def test_a_large_sweep_comes_in_stretches(world: GroupWorld) -> None:
    for number in range(10):
        commit(world, f"g{number}", "t", 500)
    sizes = []
    while (rung := world.ring(2_100)) is not None:
        assert rung[0] == RetentionTimer()
        sizes.append(len(rung[1].records))
    assert sum(sizes) == 10 * 501
    assert len(sizes) == 3
    assert max(sizes) <= 4 * 501
    assert len(world.shard.classic_groups) == 0


def test_a_failed_stretch_is_done_again(world: GroupWorld) -> None:
    commit(world, "g", "t", 3)
    world.now_ms = 5_000
    refused = world.shard.expire(RetentionTimer(), world.now_ms)
    again = world.shard.expire(RetentionTimer(), world.now_ms)
    assert again.records == refused.records
    assert len(again.records) == 4


def test_a_deleted_topic_is_cleared_in_steps(world: GroupWorld) -> None:
    commit(world, "g", "t", 1_500)
    commit(world, "g", "u", 1)
    more: object = True
    steps = 0
    while more:
        decision = world.shard.offsets.decide_topics_deleted({"t": b"\7" * 16})
        world.take(decision)
        more = decision.reply
        steps += 1
    assert steps == 2
    assert list(world.shard.store.of_group("g")) == [TopicPartition("u", 0)]


def test_a_new_value_replaces_the_old(world: GroupWorld) -> None:
    commit(world, "g", "t", 1)
    commit(world, "g", "t", 1)
    assert len(world.shard.store.of_group("g")) == 1


def fetched(world: GroupWorld, request: OffsetFetchRequest, version: int) -> object:
    groups = []
    for group in fetched_groups(request, version):
        decision = world.shard.offsets.decide_fetch(group, request.require_stable)
        assert not isinstance(decision.reply, Parked)
        groups.append(decision.reply)
    return fetch_response(request, groups, version)


def test_one_group_in_the_old_form(world: GroupWorld) -> None:
    commit(world, "g", "t", 2)
    topic = OffsetFetchRequestTopic(name="t", partition_indexes=[1, 5])
    response = fetched(world, OffsetFetchRequest(group_id="g", topics=[topic]), 7)
    (found,) = response.topics
    assert [(one.partition_index, one.committed_offset) for one in found.partitions] == [
        (1, 1),
        (5, -1),
    ]
    everything = fetched(world, OffsetFetchRequest(group_id="g", topics=None), 2)
    assert [len(one.partitions) for one in everything.topics] == [2]


def test_many_groups_in_the_new_form(world: GroupWorld) -> None:
    commit(world, "g", "t", 1)
    commit(world, "h", "t", 2)
    request = OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(group_id="g", topics=None),
            OffsetFetchRequestGroup(
                group_id="h", topics=[OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
            ),
            OffsetFetchRequestGroup(group_id="nobody", topics=None),
        ]
    )
    response = fetched(world, request, 8)
    assert [(one.group_id, len(one.topics)) for one in response.groups] == [
        ("g", 1),
        ("h", 1),
        ("nobody", 0),
    ]


def test_where_an_error_goes() -> None:
    topic = OffsetFetchRequestTopic(name="t", partition_indexes=[4])
    request = OffsetFetchRequest(group_id="g", topics=[topic])
    refused = [fetch_refused("g", ErrorCode.GROUP_AUTHORIZATION_FAILED)]
    oldest = fetch_response(request, refused, 1)
    assert oldest.topics[0].partitions[0].error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert fetch_response(request, refused, 2).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    newest = fetch_response(request, refused, 9)
    assert newest.groups[0].error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED


def test_mixed_up_records_stop_the_process(world: GroupWorld) -> None:
    group = group_metadata_record("g", GroupMetadataValue())
    with pytest.raises(InvariantError):
        world.shard.replay(GroupRecord(OffsetCommitKey(), group.value), 0)
    with pytest.raises(InvariantError):
        world.shard.replay(GroupRecord(GroupMetadataKey(), OffsetCommitValue()), 0)
    with pytest.raises(InvariantError):
        world.shard.expire("nonsense", 0)
