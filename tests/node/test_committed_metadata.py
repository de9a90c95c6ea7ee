"""Nobody sees metadata before it is committed, and whoever was answered sees it everywhere."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from penstock.model.error import ErrorCode
from penstock.protocol.entity import Entity
from penstock.protocol.frame import encode_request
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.protocol.messages.metadata import MetadataRequest
from penstock.storage.disk import RealDisk
from tests.node.node_kit import running
from tests.node.wire_kit import Wire

TOPIC = 2


def create(name: str) -> CreateTopicsRequest:
    topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
    return CreateTopicsRequest(topics=[topic], timeout_ms=10_000)


def topics(answer: Any) -> set[str]:
    return {topic.name for topic in answer.topics}


class SlowDisk(RealDisk):
    """Syncs wait for as long as somebody wants them to."""

    def __init__(self) -> None:
        self.may_sync = threading.Event()
        self.may_sync.set()
        self.waiting = threading.Event()
        self.fdatasync = self._fdatasync

    def _fdatasync(self, fd: int) -> None:
        if not self.may_sync.is_set():
            self.waiting.set()
            assert self.may_sync.wait(20)
        os.fdatasync(fd)


def test_between_append_and_commit_the_old_image_is_shown(tmp_path: Path) -> None:
    disk = SlowDisk()
    with (
        running(tmp_path / "data", disk) as node,
        Wire(node.address) as writer,
        Wire(node.address) as reader,
    ):
        assert writer.call(create("old"), 7).topics[0].error_code == 0
        disk.may_sync.clear()
        writer.send(create("new"), 7)
        assert disk.waiting.wait(10)
        assert topics(reader.call(MetadataRequest(topics=None), 12)) == {"old"}
        writable = reader.call(MetadataRequest(topics=None), 12).topics[0]
        assert [one.leader_id for one in writable.partitions] == [1, 1]
        assert not writer.has_answer(0.1)
        disk.may_sync.set()
        assert writer.receive().topics[0].error_code == 0
        assert topics(reader.call(MetadataRequest(topics=None), 12)) == {"old", "new"}


@pytest.fixture
def wire(penstock: Any) -> Any:
    with Wire(penstock.bootstrap_servers) as connection:
        yield connection


def send_in_one_piece(wire: Wire, *requests: tuple[Entity, int]) -> list[Any]:
    frames = bytearray()
    for request, version in requests:
        number = next(wire._numbers)
        wire._asked.append((number, request.API_KEY or 0, version))
        frames += encode_request(number, version, request, "wire")
    wire.sock.sendall(frames)
    return [wire.receive() for _ in requests]


def test_a_metadata_request_right_behind_a_change_sees_it(wire: Wire) -> None:
    for number in range(20):
        name = f"topic-{number}"
        made, found, gone, left = send_in_one_piece(
            wire,
            (create(name), 7),
            (MetadataRequest(topics=None), 12),
            (DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=10_000), 6),
            (MetadataRequest(topics=None), 12),
        )
        assert made.topics[0].error_code == 0 and name in topics(found)
        assert gone.responses[0].error_code == 0 and name not in topics(left)


def test_a_setting_is_read_as_it_was_set_just_before(wire: Wire) -> None:
    assert wire.call(create("a"), 7).topics[0].error_code == ErrorCode.NONE
    for value in ("1000", "2000", "3000"):
        resource = AlterConfigsResource(
            resource_type=TOPIC,
            resource_name="a",
            configs=[AlterableConfig(name="retention.ms", value=value)],
        )
        asked = DescribeConfigsResource(
            resource_type=TOPIC, resource_name="a", configuration_keys=["retention.ms"]
        )
        _, described = send_in_one_piece(
            wire,
            (IncrementalAlterConfigsRequest(resources=[resource]), 1),
            (DescribeConfigsRequest(resources=[asked]), 4),
        )
        assert described.results[0].configs[0].value == value
