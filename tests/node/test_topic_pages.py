"""DescribeTopicPartitions page by page, with cursors that lead nowhere among them: as Apache Kafka
answers, with and without an authorizer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    RequestCursor,
    TopicRequest,
)
from tests.node.node_kit import running
from tests.node.wire_kit import Wire

GUARDED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
Told = list[tuple[str, ErrorCode, list[int]]]
Place = tuple[str, int]


@pytest.fixture(params=[{}, GUARDED], ids=["open", "guarded"], scope="module")
def wire(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Wire]:
    home: Path = tmp_path_factory.mktemp("pages")
    with running(home, settings=request.param) as node, Wire(node.address) as wire:
        made = [
            CreatableTopic(name=name, num_partitions=count, replication_factor=1)
            for name, count in (("a", 2), ("b", 3), ("c", 1))
        ]
        answer = wire.call(CreateTopicsRequest(topics=made), 7)
        assert [each.error_code for each in answer.topics] == [0, 0, 0]
        yield wire


def describe(
    wire: Wire, names: str, cursor: Place | None = None, limit: int = 100
) -> tuple[Told, Place | None]:
    at = None if cursor is None else RequestCursor(topic_name=cursor[0], partition_index=cursor[1])
    topics = [TopicRequest(name=name) for name in names]
    answer: DescribeTopicPartitionsResponse = wire.call(
        DescribeTopicPartitionsRequest(topics=topics, response_partition_limit=limit, cursor=at),
        0,
    )
    told = [
        (
            topic.name or "",
            ErrorCode(topic.error_code),
            [each.partition_index for each in topic.partitions],
        )
        for topic in answer.topics
    ]
    following = answer.next_cursor
    place = None if following is None else (following.topic_name, following.partition_index)
    return told, place


@pytest.mark.parametrize("names", ["", "abc"])
def test_pages_follow_each_other(wire: Wire, names: str) -> None:
    fine = ErrorCode.NONE
    first, cursor = describe(wire, names, limit=3)
    assert (first, cursor) == ([("a", fine, [0, 1]), ("b", fine, [0])], ("b", 1))
    second, cursor = describe(wire, names, cursor, limit=2)
    assert (second, cursor) == ([("b", fine, [1, 2])], ("c", 0))
    assert describe(wire, names, cursor, limit=2) == ([("c", fine, [0])], None)


def test_a_topic_that_is_not_there_waits_for_its_page(wire: Wire) -> None:
    first, cursor = describe(wire, "ax", limit=2)
    assert (first, cursor) == ([("a", ErrorCode.NONE, [0, 1])], ("x", 0))
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert describe(wire, "ax", cursor, limit=2) == ([("x", unknown, [])], None)


@pytest.mark.parametrize("cursor", [("b", -1), ("ab", 0), ("d", 0)])
def test_a_cursor_that_leads_nowhere_is_refused_for_every_topic(wire: Wire, cursor: Place) -> None:
    refused = [("a", ErrorCode.INVALID_REQUEST, []), ("b", ErrorCode.INVALID_REQUEST, [])]
    assert describe(wire, "ab", cursor) == (refused, None)


def test_of_all_topics_a_cursor_may_name_one_that_is_gone(wire: Wire) -> None:
    later = [("b", ErrorCode.NONE, [0, 1, 2]), ("c", ErrorCode.NONE, [0])]
    assert describe(wire, "", ("ab", 1)) == (later, None)
    # There is no topic to tell it of, on Apache Kafka either.
    assert describe(wire, "", ("b", -1)) == ([], None)
    assert describe(wire, "", ("c", 7)) == ([("c", ErrorCode.NONE, [])], None)
