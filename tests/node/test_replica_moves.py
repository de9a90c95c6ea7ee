"""Replicas that move between the directories of a node while it serves them."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from uuid import UUID

import pytest

from penstock.model.error import ErrorCode, StorageError
from penstock.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from penstock.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from penstock.storage import names
from tests.node.node_kit import DisksOfDirectories, RunningNode, running
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

RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
SLOW = {RATE: "1"}
"""The first chunk goes, and nothing behind it: a move that does not end."""


def homes(tmp_path: Path) -> list[Path]:
    return [tmp_path / name for name in "ab"]


def settings(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"log.dirs": ",".join(map(str, homes(tmp_path))), "log.segment.bytes": "1048576", **more}


def create(wire: Wire, topic: str = "t", partitions: int = 1) -> None:
    made = CreatableTopic(name=topic, num_partitions=partitions, replication_factor=1)
    assert wire.call(CreateTopicsRequest(topics=[made]), 7).topics[0].error_code == 0


def write(wire: Wire, *contents: bytes, topic: str = "t") -> int:
    return int(produced(wire.call(produce(topic, batch(*contents)), PRODUCE_VERSION)).error_code)


def fill(wire: Wire, count: int, first: int = 0) -> list[bytes]:
    """About 100 kB each."""
    sent = [b"%08d" % number * 12_500 for number in range(first, first + count)]
    for each in sent:
        assert write(wire, each) == 0
    return sent


def read_all(wire: Wire, end: int, first: int = 0) -> list[bytes | None]:
    found: list[bytes | None] = []
    while first + len(found) < end:
        (one,) = fetched(
            wire.call(fetch({"t": [part(0, first + len(found))]}), FETCH_VERSION)
        ).values()
        assert one.error_code == 0
        found += values(one)
    return found


def alter(wire: Wire, path: Path | str, topic: str = "t", index: int = 0) -> ErrorCode:
    wanted = AlterReplicaLogDir(
        path=str(path), topics=[AlterReplicaLogDirTopic(name=topic, partitions=[index])]
    )
    answer: AlterReplicaLogDirsResponse = wire.call(AlterReplicaLogDirsRequest(dirs=[wanted]), 2)
    return ErrorCode(answer.results[0].partitions[0].error_code)


def described(wire: Wire, topic: str = "t") -> dict[str, tuple[bool, int, int]]:
    """By directory: whether it is the future replica, its size and its lag."""
    answer = wire.call(DescribeLogDirsRequest(topics=None), 4)
    return {
        each.log_dir: (one.is_future_key, one.partition_size, one.offset_lag)
        for each in answer.results
        for named in each.topics
        if named.name == topic
        for one in named.partitions
    }


def is_moved(wire: Wire, to: Path) -> bool:
    found = described(wire)
    return list(found) == [str(to)] and not found[str(to)][0]


def home_of(tmp_path: Path, topic: str = "t") -> tuple[Path, Path]:
    """Where its partition is, and where it is not."""
    first, second = homes(tmp_path)
    return (first, second) if (first / f"{topic}-0").exists() else (second, first)


def copies(home: Path) -> list[Path]:
    return [each for each in home.iterdir() if names.parse_future_dir(each.name) is not None]


def told(node: RunningNode) -> bytes:
    image = node.node._image.topics.partition("t", 0)
    assert image is not None
    return image.directories[0]


def id_of(node: RunningNode, home: Path) -> bytes | None:
    dirs = node.node.log_dirs
    return next(dirs.id_of(each) for each in dirs.all if each.path == str(home))


def test_a_replica_moves_while_it_is_written_and_read(tmp_path: Path) -> None:
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        create(wire)
        sent = fill(wire, 60)
        source, target = home_of(tmp_path)
        stop = Event()

        def keep_writing() -> None:
            with Wire(node.address) as other:
                while not stop.is_set():
                    sent.extend(fill(other, 1, len(sent)))

        writer = Thread(target=keep_writing)
        writer.start()
        try:
            for _ in range(2):
                assert alter(wire, target) is ErrorCode.NONE
                assert alter(wire, target) is ErrorCode.NONE
                wait_until(lambda target=target: is_moved(wire, target))  # type: ignore[misc]
                wait_until(lambda target=target: told(node) == id_of(node, target))  # type: ignore[misc]
                assert not (source / "t-0").exists() and (target / "t-0").exists()
                assert not copies(target) and not copies(source)
                so_far = len(sent)
                wait_until(lambda so_far=so_far: len(sent) > so_far + 3)  # type: ignore[misc]
                source, target = target, source
        finally:
            stop.set()
            writer.join(60)
        assert read_all(wire, len(sent)) == sent
        assert not (source / "t-0" / names.COPY_COMPLETE).exists()
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        assert node.node.log_dirs.was_clean
        assert read_all(wire, len(sent)) == sent


def test_the_answers_of_kafka(tmp_path: Path) -> None:
    first, second = homes(tmp_path)
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        create(wire)
        create(wire, "x" * 214)
        source, _ = home_of(tmp_path)
        assert alter(wire, source) is ErrorCode.NONE
        assert not copies(first) and not copies(second)
        assert alter(wire, tmp_path / "c") is ErrorCode.LOG_DIR_NOT_FOUND
        assert alter(wire, f"{source}/") is ErrorCode.LOG_DIR_NOT_FOUND
        assert alter(wire, source, "x" * 214) is ErrorCode.INVALID_TOPIC_EXCEPTION
        assert alter(wire, source, index=1) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        # A topic that is not there yet; it will be made where it is wanted.
        for wanted in (second, first):
            topic = f"later-{wanted.name}"
            assert alter(wire, wanted, topic) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            create(wire, topic)
            assert home_of(tmp_path, topic)[0] == wanted


def test_a_move_is_seen_ended_and_turned_round(tmp_path: Path) -> None:
    with running(tmp_path, settings=settings(tmp_path, **SLOW)) as node, Wire(node.address) as wire:
        create(wire)
        sent = fill(wire, 20)
        source, target = home_of(tmp_path)
        assert alter(wire, target) is ErrorCode.NONE
        wait_until(lambda: described(wire)[str(target)][1] > 0)
        is_future, size, lag = described(wire)[str(target)]
        assert is_future and 0 < size < 2_000_000 and 0 < lag < 20
        assert described(wire)[str(source)][0] is False
        assert UUID(copies(target)[0].name.removesuffix("-future")[-32:])
        assert (copies(target)[0] / "partition.metadata").read_text() == (
            source / "t-0" / "partition.metadata"
        ).read_text()
        # Where it is: it need not go anywhere.
        assert alter(wire, source) is ErrorCode.NONE
        assert not copies(target) and is_moved(wire, source)
        # A topic that is deleted takes its copy along.
        assert alter(wire, target) is ErrorCode.NONE
        assert copies(target)
        gone = DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=10_000)
        assert wire.call(gone, 6).responses[0].error_code == 0
        wait_until(lambda: not copies(target))
        create(wire)
        assert write(wire, b"new") == 0
        assert read_all(wire, 1) == [b"new"] and len(sent) == 20


def test_a_node_that_is_started_again_goes_on(tmp_path: Path) -> None:
    slow = settings(tmp_path, **SLOW)
    with running(tmp_path, settings=slow) as node, Wire(node.address) as wire:
        create(wire)
        sent = fill(wire, 20)
        source, target = home_of(tmp_path)
        assert alter(wire, target) is ErrorCode.NONE
        wait_until(lambda: described(wire)[str(target)][1] > 0)
        before = copies(target)
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        wait_until(lambda: is_moved(wire, target))
        wait_until(lambda: not before[0].exists())
        wait_until(lambda: told(node) == id_of(node, target))
        assert read_all(wire, 20) == sent
        assert not (source / "t-0").exists()


def test_deleted_records_stay_deleted(tmp_path: Path) -> None:
    """Also those in the middle of a batch; the start is where it was after a crash, too."""
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        create(wire)
        assert write(wire, *(b"%d" % number for number in range(10))) == 0
        assert write(wire, b"10", b"11") == 0
        _, target = home_of(tmp_path)
        cut = DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name="t", partitions=[DeleteRecordsPartition(partition_index=0, offset=4)]
                )
            ],
            timeout_ms=10_000,
        )
        assert wire.call(cut, 2).topics[0].partitions[0].low_watermark == 4
        assert alter(wire, target) is ErrorCode.NONE
        wait_until(lambda: is_moved(wire, target))
        (one,) = fetched(wire.call(fetch({"t": [part(0, 4)]}), FETCH_VERSION)).values()
        assert one.log_start_offset == 4 and one.high_watermark == 12
        (low,) = fetched(wire.call(fetch({"t": [part(0, 3)]}), FETCH_VERSION)).values()
        assert low.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        assert "t 0 4\n" in (target / "log-start-offset-checkpoint").read_text()


@pytest.mark.parametrize("fails", ["source", "target"])
def test_a_disk_fails_in_a_move(tmp_path: Path, fails: str) -> None:
    disk = DisksOfDirectories()
    first, second = homes(tmp_path)
    with running(tmp_path, disk, settings(tmp_path, **SLOW)) as node, Wire(node.address) as wire:
        # The metadata log is in the first, and the node would end with it.
        source, target = (second, first) if fails == "source" else (first, second)
        assert alter(wire, source) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        create(wire)
        sent = fill(wire, 5)
        assert alter(wire, target) is ErrorCode.NONE
        wait_until(lambda: described(wire)[str(target)][1] > 0)
        disk.break_under(second)
        if fails == "source":
            assert write(wire, b"more") == ErrorCode.KAFKA_STORAGE_ERROR
        else:
            dirs = node.node.log_dirs
            node.ask(lambda: dirs.data[1].fail(StorageError("the disk is gone")))
            sent.append(b"more")
            assert write(wire, b"more") == 0
            assert read_all(wire, 6) == sent
        assert alter(wire, target) is ErrorCode.KAFKA_STORAGE_ERROR
        wait_until(lambda: not node.node._keeper.moves.count)
    with running(tmp_path, settings=settings(tmp_path)) as node, Wire(node.address) as wire:
        # The disk is back, and so is the wish.
        wait_until(lambda: is_moved(wire, target) or fails == "source")
        assert read_all(wire, len(sent)) == sent
