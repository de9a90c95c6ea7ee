"""Requests that cost far more than their bytes."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from penstock.protocol.entity import Entity
from penstock.protocol.frame import encode_request
from penstock.protocol.messages.api_versions import ApiVersionsRequest
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from penstock.protocol.messages.describe_groups import DescribeGroupsRequest
from penstock.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.protocol.messages.find_coordinator import FindCoordinatorRequest
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
from penstock.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.hostile.target import MB, Target
from tests.node.wire_kit import Wire

MANY = 2_000_000
ALLOWED = 100_000
"""What a large installation may ask for at once."""


def send_refused(wire: Wire, data: bytes) -> None:
    """The other side may hang up before it has read everything."""
    try:
        wire.sock.sendall(data)
        assert wire.is_closed()
    except ConnectionError:
        pass


def answer_or_end(wire: Wire, data: bytes) -> None:
    """A broker may answer or hang up, but not leave the matter open."""
    try:
        wire.sock.sendall(data)
        wire.receive_frame()
    except ConnectionError:
        pass


def empty_names(count: int) -> bytes:
    """An encoder would take longer for it than the broker may."""
    frame = encode_request(1, 5, DescribeGroupsRequest(groups=[""] * 3), "hostile")
    body = frame[4:].replace(b"\x04\x01\x01\x01", varint(count + 1) + b"\x01" * count)
    return len(body).to_bytes(4, "big") + body


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def test_two_million_empty_names(target: Target) -> None:
    with (
        target.watched("DescribeGroups of 2,000,000 empty names (2 MB)", memory_mb_max=50),
        target.wire() as wire,
    ):
        answer_or_end(wire, empty_names(MANY))
    if target.is_penstock:
        assert target.log.count("DescribeGroupsRequest v5 has more than 120000 elements") == 1


def test_twenty_million_empty_names(target: Target) -> None:
    if not target.is_penstock:
        pytest.skip("it takes Apache Kafka minutes")
    with (
        target.watched("DescribeGroups of 20,000,000 empty names (20 MB)", memory_mb_max=150),
        target.wire() as wire,
    ):
        send_refused(wire, empty_names(10 * MANY))


def test_metadata_of_forty_megabytes(target: Target) -> None:
    name = b"\x65" + b"n" * 100
    topic = bytes(16) + name + b"\0"
    count = 40_000_000 // len(topic)
    frame = encode_request(1, 12, MetadataRequest(topics=[]), "hostile")
    start = frame.index(b"\x01", 4 + 10 + len("hostile"))
    body = frame[4:start] + varint(count + 1) + topic * count + frame[start + 1 :]
    with (
        target.watched("Metadata of 340,000 topics (40 MB)", memory_mb_max=150),
        target.wire() as wire,
    ):
        answer_or_end(wire, len(body).to_bytes(4, "big") + body)


def list_offsets() -> Entity:
    asked = [ListOffsetsPartition(partition_index=n, timestamp=-1) for n in range(ALLOWED)]
    return ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=asked)])


def offset_fetch() -> Entity:
    topic = OffsetFetchRequestTopics(name="t", partition_indexes=list(range(ALLOWED)))
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=[topic])])


LARGE: dict[str, tuple[Callable[[], Entity], int]] = {
    "DescribeGroups": (
        lambda: DescribeGroupsRequest(groups=[f"g{n}" for n in range(ALLOWED)]),
        5,
    ),
    "FindCoordinator": (
        lambda: FindCoordinatorRequest(coordinator_keys=[f"g{n}" for n in range(ALLOWED)]),
        4,
    ),
    "ListOffsets": (list_offsets, 7),
    "Metadata": (
        lambda: MetadataRequest(
            topics=[MetadataRequestTopic(name=f"n{n}") for n in range(ALLOWED)],
            allow_auto_topic_creation=False,
        ),
        12,
    ),
    "OffsetFetch": (offset_fetch, 8),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_but_allowed(target: Target, name: str) -> None:
    build, version = LARGE[name]
    data = encode_request(1, version, build(), "large")
    target.create_topic("t")
    with (
        target.watched(f"{name} of 100,000 elements, answered", memory_mb_max=100),
        target.wire() as wire,
    ):
        wire.sock.sendall(data)
        assert len(wire.receive_frame()) > ALLOWED


def test_ten_of_them_at_once(target: Target) -> None:
    """What large requests cost does not add up."""
    build, version = LARGE["Metadata"]
    data = encode_request(1, version, build(), "large")
    with (
        target.watched("ten times Metadata of 100,000 topics at once", memory_mb_max=150),
        ExitStack() as stack,
    ):
        wires = [stack.enter_context(target.wire(60)) for _ in range(10)]
        for wire in wires:
            wire.sock.sendall(data)
        for wire in wires:
            assert len(wire.receive_frame()) > ALLOWED


def commit(count: int) -> Entity:
    """Half of the partitions are there, half are not."""
    partitions = [
        OffsetCommitRequestPartition(partition_index=n if n % 2 else 0, committed_offset=1)
        for n in range(count)
    ]
    topics = [OffsetCommitRequestTopic(name="t", partitions=partitions)]
    return OffsetCommitRequest(group_id="g", topics=topics)


def configs(count: int) -> Entity:
    """The same long answer, again and again."""
    resource = DescribeConfigsResource(resource_type=4, resource_name="1", configuration_keys=None)
    return DescribeConfigsRequest(resources=[resource] * count, include_documentation=True)


def fetch_all(count: int) -> Entity:
    partitions = [
        FetchPartition(partition=n, fetch_offset=0, partition_max_bytes=100) for n in range(count)
    ]
    return FetchRequest(
        max_wait_ms=0, session_epoch=-1, topics=[FetchTopic(topic="t", partitions=partitions)]
    )


def produce_nothing(count: int) -> Entity:
    data = [PartitionProduceData(index=n, records=b"") for n in range(count)]
    topics = [TopicProduceData(name="t", partition_data=data)]
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics)


def create(count: int) -> Entity:
    topics = [
        CreatableTopic(name=f"c{n}", num_partitions=1, replication_factor=1) for n in range(count)
    ]
    return CreateTopicsRequest(topics=topics, timeout_ms=1000, validate_only=True)


@pytest.mark.parametrize(
    ("case", "build", "count", "version"),
    [
        ("OffsetCommit of 19,000 partitions, half of them missing", commit, 19_000, 8),
        ("DescribeConfigs of the same broker 5,000 times", configs, 5000, 4),
        ("Fetch of 39,000 partitions", fetch_all, 39_000, 12),
        ("Produce to 11,000 partitions", produce_nothing, 11_000, 12),
        ("CreateTopics of 9,000 topics, validated only", create, 9000, 7),
    ],
)
def test_many_at_once(
    target: Target, case: str, build: Callable[[int], Entity], count: int, version: int
) -> None:
    data = encode_request(1, version, build(count), "many")
    target.create_topic("t")
    with target.watched(case, memory_mb_max=150), target.wire(60) as wire:
        answer_or_end(wire, data)


def test_small_requests_sent_ahead(target: Target) -> None:
    """A megabyte of them fits in one read."""
    data = encode_request(1, 0, ApiVersionsRequest(), "") * 40_000
    with (
        target.watched("40,000 small requests sent ahead", memory_mb_max=50),
        target.wire() as wire,
    ):
        wire.sock.setblocking(False)
        until, sent = time.monotonic() + 2, 0
        while sent < len(data) and time.monotonic() < until:
            try:
                sent += wire.sock.send(data[sent : sent + 65536])
            except BlockingIOError:
                time.sleep(0.001)
            try:
                wire.sock.recv(1 << 20)
            except BlockingIOError:
                pass


def test_a_million_tagged_fields(target: Target) -> None:
    frame = encode_request(1, 12, MetadataRequest(topics=[]), "tags")
    body = frame[4:-1] + varint(MANY) + b"\x7f\x00" * MANY
    with (
        target.watched("2,000,000 unknown tagged fields", memory_mb_max=50),
        target.wire() as wire,
    ):
        answer_or_end(wire, len(body).to_bytes(4, "big") + body)


@pytest.mark.penstock(settings={"penstock.memory.request.bytes": 4 * MB})
def test_large_answers_that_nobody_reads(target: Target) -> None:
    """Others wait for room for theirs, but not for long: who does not read loses them."""
    deaf = encode_request(1, 4, configs(300), "deaf")
    build, version = LARGE["Metadata"]
    large = encode_request(1, version, build(), "large")
    with (
        target.watched("a client who does not read 10 MB", memory_mb_max=150),
        ExitStack() as stack,
    ):
        wire = stack.enter_context(target.wire())
        wire.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.sock.sendall(deaf)
        honest = stack.enter_context(target.wire(60))
        honest.sock.sendall(large)
        assert len(honest.receive_frame()) > ALLOWED
    if target.is_penstock:
        assert "does not read its answers" in target.log


def test_answers_that_nobody_reads(target: Target) -> None:
    """Each asks for megabytes, many times, and reads none of it."""
    topics = [DescribeConfigsResource(resource_type=4, resource_name="1", configuration_keys=None)]
    request = DescribeConfigsRequest(resources=topics, include_documentation=True)
    data = encode_request(1, 4, request, "deaf") * 200
    with (
        target.watched("50 clients who read none of 200 long answers", memory_mb_max=150),
        ExitStack() as stack,
    ):
        for _ in range(50):
            wire = stack.enter_context(target.wire())
            wire.sock.setblocking(False)
            try:
                wire.sock.send(data)
            except BlockingIOError:
                pass
        time.sleep(2)
