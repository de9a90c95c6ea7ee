"""A disk runs full under a node: producers wait, readers go on, and it recovers by itself."""

from __future__ import annotations

from pathlib import Path

from penstock.model.error import RETRIABLE, ErrorCode
from penstock.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.protocol.messages.init_producer_id import InitProducerIdRequest
from penstock.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.node.commit_kit import TOPIC, commit, commit_error, committed, create, wait_zero
from tests.node.node_kit import FailingDisk, running
from tests.node.wire_kit import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Wire,
    batch,
    fetch,
    fetched,
    part,
    produce,
    produced,
    values,
)
from tests.patience import wait_until


def read_all(wire: Wire, topic: str = TOPIC) -> list[bytes | None]:
    found: list[bytes | None] = []
    while True:
        (one,) = fetched(
            wire.call(fetch({topic: [part(offset=len(found))]}), FETCH_VERSION)
        ).values()
        assert one.error_code == 0
        more = values(one)
        if not more:
            return found
        found += more


def test_producers_are_told_readers_go_on_and_space_heals_it(tmp_path: Path) -> None:
    disk = FailingDisk()
    kept: list[bytes] = []
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        assert wire.call(create(TOPIC), 7).topics[0].error_code == 0
        for number in range(20):
            answer = produced(wire.call(produce(TOPIC, batch(b"%d" % number)), PRODUCE_VERSION))
            assert answer.error_code == 0
            kept.append(b"%d" % number)
        # The last batch fits in part only: what of it was written must not be found later.
        disk.fill(free_bytes=30)
        for number in range(3):
            answer = produced(wire.call(produce(TOPIC, batch(b"lost" * 9)), PRODUCE_VERSION))
            assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR in RETRIABLE
            assert "no space left" in answer.error_message
            assert read_all(wire) == kept, number
        disk.free()
        for number in range(20, 30):
            answer = produced(wire.call(produce(TOPIC, batch(b"%d" % number)), PRODUCE_VERSION))
            assert (answer.error_code, answer.base_offset) == (0, number)
            kept.append(b"%d" % number)
        assert read_all(wire) == kept
        node.abandon()
    with running(tmp_path / "data") as node, Wire(node.address) as wire:
        assert read_all(wire) == kept


def test_a_topic_whose_directory_does_not_fit_works_once_it_does(tmp_path: Path) -> None:
    disk = FailingDisk()
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        assert wire.call(create(TOPIC), 7).topics[0].error_code == 0
        disk.fill()
        answer = produced(wire.call(produce(TOPIC, batch(b"x")), PRODUCE_VERSION))
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert "no space left" in answer.error_message
        (one,) = fetched(wire.call(fetch({TOPIC: [part()]}), FETCH_VERSION)).values()
        assert one.error_code in (0, ErrorCode.KAFKA_STORAGE_ERROR)
        disk.free()
        answer = produced(wire.call(produce(TOPIC, batch(b"x")), PRODUCE_VERSION))
        assert (answer.error_code, answer.base_offset) == (0, 0)
        assert read_all(wire) == [b"x"]


def test_admin_calls_say_why_and_work_again(tmp_path: Path) -> None:
    disk = FailingDisk()
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        assert wire.call(create(TOPIC), 7).topics[0].error_code == 0
        disk.fill()
        answer = wire.call(create("other"), 7).topics[0]
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert "no space left" in answer.error_message
        more = CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name=TOPIC, count=2, assignments=None)]
        )
        answer = wire.call(more, 3).results[0]
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        # A producer id needs a new block of them from the controller.
        answer = wire.call(InitProducerIdRequest(transactional_id=None), 4)
        assert answer.error_code in RETRIABLE
        found = wire.call(MetadataRequest(topics=[MetadataRequestTopic(name="auto")]), 12)
        assert found.topics[0].error_code in RETRIABLE
        found = wire.call(MetadataRequest(topics=None), 12)
        assert [topic.name for topic in found.topics] == [TOPIC]
        disk.free()
        assert wire.call(create("other"), 7).topics[0].error_code == 0
        assert wire.call(more, 3).results[0].error_code == 0
        assert wire.call(shorten(TOPIC), 1).responses[0].error_code == 0
        assert wire.call(delete(TOPIC), 6).responses[0].error_code == 0
        assert wire.call(InitProducerIdRequest(transactional_id=None), 4).error_code == 0


def delete(*names: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=name) for name in names])


def shorten(topic: str) -> IncrementalAlterConfigsRequest:
    configs = [AlterableConfig(name="retention.ms", value="5")]
    return IncrementalAlterConfigsRequest(
        resources=[AlterConfigsResource(resource_type=2, resource_name=topic, configs=configs)]
    )


def test_topics_are_deleted_from_a_full_disk(tmp_path: Path) -> None:
    """By a reserve that only what frees space may use, and that is taken up again later."""
    disk = FailingDisk()
    names = [TOPIC, *(f"t{number}" for number in range(20))]
    settings = {"log.segment.delete.delay.ms": "0"}
    with running(tmp_path / "data", disk, settings) as node, Wire(node.address) as wire:
        for name in names:
            assert wire.call(create(name), 7).topics[0].error_code == 0
            data = produce(name, batch(b"x" * 1000))
            assert produced(wire.call(data, PRODUCE_VERSION)).error_code == 0
        wait_zero(lambda: commit_error(wire.call(commit(5), 8)))
        reserve = node.node._metadata.reserve
        wait_until(lambda: reserve.is_whole)
        disk.fill()
        answer = wire.call(create("other"), 7).topics[0]
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert wire.call(shorten("t0"), 1).responses[0].error_code == 0
        for name in names:
            disk.fill()  # others have taken what was left of the last piece
            assert wire.call(delete(name), 6).responses[0].error_code == 0
        found = wire.call(MetadataRequest(topics=None), 12)
        assert [topic.name for topic in found.topics if not topic.is_internal] == []
        assert not reserve.is_whole
        disk.free()
        wait_until(lambda: reserve.is_whole)
        assert wire.call(create("other"), 7).topics[0].error_code == 0
        # The offsets of a deleted topic go too, once there is room to say so.
        wait_until(lambda: committed(wire) == -1)
        node.abandon()
    with running(tmp_path / "data") as node, Wire(node.address) as wire:
        found = wire.call(MetadataRequest(topics=None), 12)
        assert [topic.name for topic in found.topics if not topic.is_internal] == ["other"]


def test_groups_keep_their_offsets_and_commit_again(tmp_path: Path) -> None:
    disk = FailingDisk()
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        assert wire.call(create(TOPIC), 7).topics[0].error_code == 0
        wait_zero(lambda: commit_error(wire.call(commit(5), 8)))
        disk.fill()
        assert commit_error(wire.call(commit(6), 8)) in RETRIABLE
        assert committed(wire) == 5
        disk.free()
        wait_zero(lambda: commit_error(wire.call(commit(7), 8)))
        assert committed(wire) == 7
        node.abandon()
    with running(tmp_path / "data") as node, Wire(node.address) as wire:
        assert committed(wire) == 7


def test_a_node_on_a_full_disk_stops_cleanly_enough(tmp_path: Path) -> None:
    disk = FailingDisk()
    with running(tmp_path / "data", disk) as node, Wire(node.address) as wire:
        assert wire.call(create(TOPIC), 7).topics[0].error_code == 0
        assert produced(wire.call(produce(TOPIC, batch(b"x")), PRODUCE_VERSION)).error_code == 0
        disk.fill()
        node.stop()
    with running(tmp_path / "data") as node, Wire(node.address) as wire:
        assert read_all(wire) == [b"x"]
