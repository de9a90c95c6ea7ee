"""A node on several data directories: where partitions go, and what is left when a disk fails."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock.coordinator.share_form import Initialize
from penstock.handlers.share.partition import SharePartition
from penstock.model.error import ErrorCode, StorageError
from penstock.model.id import TopicPartition
from penstock.node.address import Address
from penstock.node.identity import IdentityError
from penstock.protocol.entity import Entity
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.protocol.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from penstock.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from penstock.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from penstock.protocol.messages.produce import PartitionProduceData
from penstock.share import ShareKey
from penstock.share.kept import UNKNOWN_OFFSET
from penstock.storage.disk import Buffer, RealDisk
from tests.node.node_kit import DisksOfDirectories, RunningNode, running
from tests.node.test_node_metrics import scrape, value
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

PARTITIONS = 6


def homes(tmp_path: Path) -> list[Path]:
    return [tmp_path / name for name in "abc"]


def settings(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"log.dirs": ",".join(map(str, homes(tmp_path))), **more}


def create(wire: Wire, topic: str = "t") -> None:
    made = CreatableTopic(name=topic, num_partitions=PARTITIONS, replication_factor=1)
    assert wire.call(CreateTopicsRequest(topics=[made]), 7).topics[0].error_code == 0


def write(wire: Wire, index: int, *contents: bytes, topic: str = "t") -> int:
    request = produce(topic, batch(*contents), partition=index)
    return int(produced(wire.call(request, PRODUCE_VERSION)).error_code)


def read(wire: Wire, index: int) -> list[bytes | None] | ErrorCode:
    (one,) = fetched(wire.call(fetch({"t": [part(index)]}), FETCH_VERSION)).values()
    return ErrorCode(one.error_code) if one.error_code else values(one)


def placed(home: Path) -> list[int]:
    return sorted(int(each.name.rpartition("-")[2]) for each in home.glob("t-*"))


def described(wire: Wire) -> dict[str, Any]:
    response: DescribeLogDirsResponse = wire.call(DescribeLogDirsRequest(topics=None), 4)
    return {each.log_dir: each for each in response.results}


def told(node: RunningNode) -> list[bytes]:
    """Where metadata has the replicas."""
    found = [node.node._image.topics.partition("t", index) for index in range(PARTITIONS)]
    return [each.directories[0] for each in found if each is not None]


def test_partitions_are_spread_found_again_and_told(tmp_path: Path) -> None:
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        create(wire)
        for index in range(PARTITIONS):
            assert write(wire, index, b"%d" % index) == 0
        assert [len(placed(home)) for home in homes(tmp_path)] == [2, 2, 2]
        dirs = node.node.log_dirs
        ids = {each.path: dirs.id_of(each) for each in dirs.all}
        wanted = [
            ids[str(home)]
            for index in range(PARTITIONS)
            for home in homes(tmp_path)
            if index in placed(home)
        ]
        assert len(set(wanted)) == 3
        wait_until(lambda: told(node) == wanted)
        found = described(wire)
        for home in homes(tmp_path):
            (topic,) = found[str(home)].topics
            assert [each.partition_index for each in topic.partitions] == placed(home)
            assert all(each.partition_size > 0 for each in topic.partitions)
            assert found[str(home)].total_bytes >= found[str(home)].usable_bytes > 0
    before = [placed(home) for home in homes(tmp_path)]
    for home in homes(tmp_path):
        assert (home / ".kafka_cleanshutdown").exists()
        assert (home / "recovery-point-offset-checkpoint").exists()
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        assert node.node.log_dirs.was_clean
        for index in range(PARTITIONS):
            assert read(wire, index) == [b"%d" % index]
        assert [placed(home) for home in homes(tmp_path)] == before


@pytest.mark.parametrize("how", ["sync", "restart"])
def test_a_failed_disk_takes_its_own_partitions_alone(tmp_path: Path, how: str) -> None:
    disk = DisksOfDirectories()
    metrics = Address("127.0.0.1", 0)
    sick = homes(tmp_path)[1]
    with running(tmp_path, disk, settings(tmp_path), metrics) as node, Wire(node.address) as wire:
        create(wire)
        for index in range(PARTITIONS):
            assert write(wire, index, b"kept") == 0
        lost = placed(sick)
        assert len(lost) == 2
        if how == "sync":
            disk.break_under(sick)
        else:
            node.stop()
            disk.break_under(sick)
            node = RunningNode(tmp_path, settings(tmp_path), disk, metrics)
            node.start()
            wire = Wire(node.address)
        for index in range(PARTITIONS):
            wanted = ErrorCode.KAFKA_STORAGE_ERROR if index in lost else ErrorCode.NONE
            assert write(wire, index, b"more") == wanted
            if index in lost:
                assert read(wire, index) == ErrorCode.KAFKA_STORAGE_ERROR
            else:
                assert read(wire, index) == [b"kept", b"more"]
        found = described(wire)
        assert {path for path, each in found.items() if each.error_code} == {str(sick)}
        assert value(scrape(node), "penstock_log_dir_offline") == 1
        # What is new has room in the others.
        create(wire, "u")
        for index in range(PARTITIONS):
            assert write(wire, index, b"new", topic="u") == 0
        assert not list(sick.glob("u-*"))
        assert not node.node._failures.ended_by
        if how == "restart":
            wire.__exit__()
            node.stop()
    # With the disk in order again everything is there.
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        for index in range(PARTITIONS):
            content = read(wire, index)
            assert isinstance(content, list)
            assert content[0] == b"kept" and (index in lost or content[1] == b"more")


class DiskThatFailsUnderOne(RealDisk):
    """EIO for what is written in one directory of a partition, until then and there alone."""

    def __init__(self) -> None:
        self.failing = ""
        self._paths: dict[int, str] = {}
        self.pwrite = self._pwrite
        self.open = self._open

    def _open(self, path: str, flags: int, mode: int = 0o644) -> int:
        fd = os.open(path, flags, mode)
        self._paths[fd] = path
        return fd

    def _pwrite(self, fd: int, data: Buffer, offset: int) -> int:
        if self.failing and self._paths.get(fd, "").startswith(self.failing):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return os.pwrite(fd, data, offset)


def test_a_produce_is_answered_whose_disk_fails_with_its_second_partition(tmp_path: Path) -> None:
    """What is written of it already waits for a flush that never comes."""
    disk = DiskThatFailsUnderOne()
    with (
        running(tmp_path, disk, settings(tmp_path)) as node,
        Wire(node.address, 10) as wire,
    ):
        create(wire)
        for index in range(PARTITIONS):
            assert write(wire, index, b"kept") == 0
        sick = homes(tmp_path)[1]
        first, second = placed(sick)
        disk.failing = f"{sick}/t-{second}/"
        request = produce("t", batch(b"more"), partition=first)
        request.topic_data[0].partition_data.append(
            PartitionProduceData(index=second, records=bytes(batch(b"more")))
        )
        (topic,) = wire.call(request, PRODUCE_VERSION).responses
        assert [each.error_code for each in topic.partition_responses] == [
            ErrorCode.KAFKA_STORAGE_ERROR,
            ErrorCode.KAFKA_STORAGE_ERROR,
        ]


def test_the_node_ends_with_the_metadata_logs_disk_or_the_last_one(tmp_path: Path) -> None:
    apart = settings(tmp_path)
    for broken in ([0], [1, 2, 0]):
        with running(tmp_path / "x", settings=apart) as node:
            for number in broken:
                assert node.node.ended_by is None
                directory = node.node.log_dirs.all[number]
                node.ask(partial(directory.fail, StorageError(f"disk {number}")))
            assert str(node.node.ended_by) == "disk 0"


def start_refused(tmp_path: Path) -> str:
    with (
        pytest.raises((IdentityError, StorageError)) as error,
        running(tmp_path, settings=settings(tmp_path)),
    ):
        pass
    assert "\n" not in str(error.value)
    return str(error.value)


def test_directories_that_do_not_belong_together(tmp_path: Path) -> None:
    first, second, third = homes(tmp_path)
    with running(tmp_path, settings=settings(tmp_path)):
        pass
    kept = (second / "meta.properties").read_text()
    marker = first / ".kafka_cleanshutdown"
    for changed, wanted in (
        (kept.replace("node.id=1", "node.id=7"), "belongs to node 7"),
        (kept.replace("cluster.id=", "cluster.id=x"), "belongs to cluster x"),
        ((third / "meta.properties").read_text(), "has the directory.id of"),
        ("version=1\n", "put a copy back"),
    ):
        (second / "meta.properties").write_text(changed)
        assert wanted in start_refused(tmp_path)
        assert marker.exists()
    (second / "meta.properties").write_text(kept)
    shutil.move(second, tmp_path / "away")
    assert f"{second} is not formatted" in start_refused(tmp_path)
    second.write_text("no directory")
    assert f"{second} is not a directory" in start_refused(tmp_path)
    second.unlink()
    shutil.move(tmp_path / "away", second)
    with running(tmp_path, settings=settings(tmp_path)) as node:
        assert node.node.log_dirs.was_clean


def test_a_directory_taken_out_of_the_settings_is_not_begun_anew(tmp_path: Path) -> None:
    """The only copy of its partitions is there: they answer that they are away."""
    first, second, third = homes(tmp_path)
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        create(wire)
        for index in range(PARTITIONS):
            assert write(wire, index, b"kept") == 0
        wait_until(lambda: all(each[:15] != bytes(15) for each in told(node)))
    away = placed(third)
    fewer = {"log.dirs": f"{first},{second}"}
    with running(tmp_path, settings=fewer) as node, Wire(node.address) as wire:
        for index in range(PARTITIONS):
            found = read(wire, index)
            assert found == [b"kept"] if index not in away else isinstance(found, ErrorCode)
        node.ask(lambda: None)
        assert TopicPartition("t", away[0]) not in node.node.log_dirs
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        for index in range(PARTITIONS):
            assert read(wire, index) == [b"kept"]


def of_all_offsets() -> ListOffsetsRequest:
    asked = [ListOffsetsPartition(partition_index=each, timestamp=-1) for each in range(PARTITIONS)]
    return ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=asked)])


def of_all_deleted() -> DeleteRecordsRequest:
    asked = [DeleteRecordsPartition(partition_index=each, offset=0) for each in range(PARTITIONS)]
    topic = DeleteRecordsTopic(name="t", partitions=asked)
    return DeleteRecordsRequest(topics=[topic], timeout_ms=5000)


def of_all_epochs() -> OffsetForLeaderEpochRequest:
    asked = [OffsetForLeaderPartition(partition=each, leader_epoch=0) for each in range(PARTITIONS)]
    topic = OffsetForLeaderTopic(topic="t", partitions=asked)
    return OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic])


def of_all_producers() -> DescribeProducersRequest:
    topic = TopicRequest(name="t", partition_indexes=list(range(PARTITIONS)))
    return DescribeProducersRequest(topics=[topic])


def started_again_before_it_breaks(tmp_path: Path, disk: DisksOfDirectories) -> list[int]:
    """Which partitions are on the disk that is to break."""
    with running(tmp_path, disk, settings(tmp_path)) as node, Wire(node.address) as wire:
        create(wire)
        for index in range(PARTITIONS):
            assert write(wire, index, b"kept") == 0
    return placed(homes(tmp_path)[1])


@pytest.mark.parametrize(
    ("request_of_all", "version"),
    [(of_all_offsets, 7), (of_all_deleted, 2), (of_all_epochs, 4), (of_all_producers, 0)],
)
def test_what_is_asked_of_a_log_whose_disk_fails_is_refused_for_its_partition_alone(
    tmp_path: Path, request_of_all: Callable[[], Entity], version: int
) -> None:
    disk = DisksOfDirectories()
    lost = started_again_before_it_breaks(tmp_path, disk)
    with running(tmp_path, disk, settings(tmp_path)) as node, Wire(node.address) as wire:
        disk.break_under(homes(tmp_path)[1])
        (topic,) = wire.call(request_of_all(), version).topics
        assert [each.error_code for each in topic.partitions] == [
            ErrorCode.KAFKA_STORAGE_ERROR if index in lost else ErrorCode.NONE
            for index in range(PARTITIONS)
        ]
        assert node.node.log_dirs.all[1].offline is not None


def test_a_transactional_produce_whose_disk_fails_is_answered(tmp_path: Path) -> None:
    """Before anything is appended, the log is asked whether it knows of the transaction."""
    disk = DisksOfDirectories()
    lost = started_again_before_it_breaks(tmp_path, disk)
    with running(tmp_path, disk, settings(tmp_path)) as node, Wire(node.address) as wire:
        disk.break_under(homes(tmp_path)[1])
        records = batch(
            b"more", producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
        )
        request = produce("t", records, partition=lost[0], transactional_id="tx")
        answer = produced(wire.call(request, PRODUCE_VERSION))
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_share_partition_whose_disk_fails_is_given_up(tmp_path: Path) -> None:
    """Who waits for it would else wait for ever."""
    disk = DisksOfDirectories()
    lost = started_again_before_it_breaks(tmp_path, disk)
    with running(tmp_path, disk, settings(tmp_path)) as node:
        broker = node.node._broker
        topic = broker.image.topics.get("t")
        assert topic is not None
        key = ShareKey("g", topic.id, lost[0])
        begun = broker.share.states.ask(key, Initialize(1, UNKNOWN_OFFSET))
        result = asyncio.run_coroutine_threadsafe(begun, node._loop).result(30)
        assert result.error is ErrorCode.NONE
        disk.break_under(homes(tmp_path)[1] / f"t-{lost[0]}")
        found: list[SharePartition] = []
        node.ask(lambda: found.append(broker.share.partitions.find(*key)))
        failure = wait_until(lambda: found[0].failure)
        assert failure.code in (
            ErrorCode.KAFKA_STORAGE_ERROR,
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
        )
