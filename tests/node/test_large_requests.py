"""Requests over many elements: answered whole and in order, one at a time, or refused."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.delete_groups import DeleteGroupsRequest
from penstock.protocol.messages.describe_groups import DescribeGroupsRequest
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.node.wire_kit import PRODUCE_VERSION, Wire, batch, produce, produced

UNKNOWN = 3


def metadata(count: int) -> MetadataRequest:
    topics = [MetadataRequestTopic(name="t")]
    topics += [MetadataRequestTopic(name=f"missing-{n}") for n in range(count)]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False)


def test_what_is_sent_behind_a_large_request_is_answered_behind_it(penstock: Any) -> None:
    penstock.create_topic("t")
    with Wire(penstock.bootstrap_servers, 30) as wire:
        for number in range(3):
            wire.send(produce("t", batch(b"%d" % number)), PRODUCE_VERSION)
            wire.send(metadata(5000), 9)
            wire.send(ApiVersionsRequest(), 0)
        for number in range(3):
            assert produced(wire.receive()).base_offset == number
            answer = wire.receive()
            assert [topic.name for topic in answer.topics[1:]] == [
                f"missing-{n}" for n in range(5000)
            ]
            assert answer.topics[0].error_code == 0 and len(answer.topics[0].partitions) == 1
            assert {topic.error_code for topic in answer.topics[1:]} == {UNKNOWN}
            assert answer.brokers[0].port == int(penstock.bootstrap_servers.rpartition(":")[2])
            assert wire.receive().error_code == 0


@pytest.mark.parametrize("partitions", [10, 2001])
def test_all_topics_of_few_and_of_many_partitions(penstock: Any, partitions: int) -> None:
    names = [f"t{number}" for number in range(4)]
    for name in names:
        penstock.create_topic(name, partitions)
    with Wire(penstock.bootstrap_servers, 30) as wire:
        wire.send(MetadataRequest(topics=None, include_topic_authorized_operations=True), 12)
        wire.send(ApiVersionsRequest(), 0)
        answer = wire.receive()
        assert wire.receive().error_code == 0
    assert [topic.name for topic in answer.topics] == names
    for topic in answer.topics:
        assert [one.partition_index for one in topic.partitions] == list(range(partitions))
        assert topic.topic_authorized_operations > 0


def test_many_clients_with_large_requests_all_get_their_own_answer(penstock: Any) -> None:
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(penstock.bootstrap_servers, 30)) for _ in range(20)]
        for number, wire in enumerate(wires):
            groups = [f"g{number}-{n}" for n in range(2000)]
            wire.send(DescribeGroupsRequest(groups=groups), 5)
        # One of those who wait goes away, and one of those who are served may be it.
        wires.pop(0).sock.close()
        wires.pop(7).sock.close()
        for wire in wires:
            answer = wire.receive()
            first = answer.groups[0].group_id
            assert [group.group_id for group in answer.groups] == [
                first[:-1] + str(n) for n in range(2000)
            ]


def test_offsets_of_many_partitions(penstock: Any) -> None:
    penstock.create_topic("t", 3)
    with Wire(penstock.bootstrap_servers, 30) as wire:
        commits = [
            OffsetCommitRequestPartition(partition_index=n, committed_offset=40 + n)
            for n in range(5000)
        ]
        topics = [OffsetCommitRequestTopic(name="t", partitions=commits)]
        answer = wire.call(OffsetCommitRequest(group_id="g", topics=topics), 8)
        codes = {
            one.partition_index: one.error_code
            for topic in answer.topics
            for one in topic.partitions
        }
        assert [codes[n] for n in range(4)] == [0, 0, 0, UNKNOWN]
        assert len(codes) == 5000

        asked = [OffsetFetchRequestTopics(name="t", partition_indexes=list(range(30_000)))]
        groups = [OffsetFetchRequestGroup(group_id="g", topics=asked)]
        (group,) = wire.call(OffsetFetchRequest(groups=groups), 8).groups
        offsets = [one.committed_offset for topic in group.topics for one in topic.partitions]
        assert offsets == [40, 41, 42] + [-1] * 29_997

        asked_offsets = [
            ListOffsetsPartition(partition_index=n, timestamp=-1) for n in range(10_000)
        ]
        request = ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=asked_offsets)])
        found = [
            (one.partition_index, one.error_code)
            for topic in wire.call(request, 7).topics
            for one in topic.partitions
        ]
        assert found == [(n, 0 if n < 3 else UNKNOWN) for n in range(10_000)]


def test_groups_named_twice_are_deleted_once(penstock: Any) -> None:
    names = [f"group-{n % 1500}" for n in range(3000)]
    with Wire(penstock.bootstrap_servers, 30) as wire:
        answer = wire.call(DeleteGroupsRequest(groups_names=names), 2)
        assert [one.group_id for one in answer.results] == names[:1500]


@pytest.mark.penstock(settings={"penstock.request.elements.max": 3000})
def test_more_elements_than_the_setting_close_the_connection(penstock: Any) -> None:
    with Wire(penstock.bootstrap_servers) as wire:
        wire.call(DescribeGroupsRequest(groups=["g"] * 3000), 5)
        wire.send(DescribeGroupsRequest(groups=["g"] * 3001), 5)
        assert wire.is_closed()
    with Wire(penstock.bootstrap_servers) as wire:
        assert wire.call(ApiVersionsRequest(), 0).error_code == 0
    assert penstock.log.count("DescribeGroupsRequest v5 has more than 3000 elements") == 1
    assert "Traceback" not in penstock.log


def test_a_client_that_leaves_while_it_waits_for_its_turn_is_not_served(penstock: Any) -> None:
    with Wire(penstock.bootstrap_servers, 30) as wire:
        leaving = [Wire(penstock.bootstrap_servers) for _ in range(50)]
        for each in leaving:
            each.send(DescribeGroupsRequest(groups=["g"] * 100_000), 5)
            each.sock.close()
        # Each of them would take half a second.
        assert wire.call(metadata(5000), 9).topics[0].name == "t"
